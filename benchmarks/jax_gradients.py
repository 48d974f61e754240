"""Gradients of loops in JAX: all lanes for as many turns as the last needs, or as a bound says, and back.

Each function takes the arguments of the autobatched program and returns what calls it, and what calls it and its
gradient.  JAX, Equinox and Diffrax are imported when one is called, as they are not needed for anything else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from examples.comets import ERROR, STAGES

Go = Callable[[], Any]
Pair = tuple[Go, Go]


def _compiled(one: Callable[..., Any], in_axes: tuple, args: tuple[tf.Tensor, ...], of: int) -> Pair:
    """``one``: of one member; ``of``: which argument gets the gradient of the sum of all results."""
    import jax

    with jax.enable_x64():
        batch, arrays = jax.vmap(one, in_axes), [jax.numpy.array(np.asarray(arg)) for arg in args]
        call, gradient = jax.jit(batch), jax.jit(jax.value_and_grad(lambda *args: batch(*args).sum(), of))

    def run(compiled: Any) -> Any:
        with jax.enable_x64():
            return jax.tree.map(np.asarray, compiled(*arrays))

    return lambda: run(call), lambda: run(gradient)[1]


def newton(x: tf.Tensor, turns: tf.Tensor) -> Pair:
    import jax

    most = int(tf.reduce_max(turns))

    def one(x: Any, turns: Any) -> Any:
        def turn(y: Any, k: Any) -> Any:
            return jax.numpy.where(k < turns, 0.5 * (y + x / y), y), None

        return jax.lax.scan(turn, x, jax.numpy.arange(most))[0]

    return _compiled(one, (0, 0), (x, turns), 0)


def _slope(_: Any, state: Any, law: Any) -> Any:
    import jax.numpy as jnp

    pull = jnp.exp(law[0]) * jnp.sum(state[:2] ** 2) ** (-(law[1] + 1) / 2)
    return jnp.concatenate([state[2:], -pull * state[:2] - 0.1 * law[2] * state[2:]])


def _comets(loop: Callable[[Callable, Callable, Any], Any], *args: tf.Tensor) -> Pair:
    """``loop``: of (condition, body, begin), as ``jax.lax.while_loop``."""
    import jax.numpy as jnp

    def one(state: Any, end: Any, law: Any) -> Any:
        def turn(carry: Any) -> Any:
            state, time, step = carry
            step = jnp.minimum(step, end - time)
            slopes, new = [_slope(time, state, law)], state
            for row in STAGES:
                new = state + step * sum(weight * k for weight, k in zip(row, slopes, strict=True))
                slopes.append(_slope(time, new, law))
            error = 1e5 * jnp.max(jnp.abs(step * sum(weight * k for weight, k in zip(ERROR, slopes, strict=True))))
            good = error < 1
            time, state = jnp.where(good, time + step, time), jnp.where(good, new, state)
            return state, time, step * jnp.clip(0.9 * (error + 1e-9) ** -0.2, 0.2, 5.0)

        return loop(lambda carry: carry[1] < end, turn, (state, 0.0 * end, 0.01 + 0.0 * end))[0]

    return _compiled(one, (0, 0, None), args, 2)


def comets_scan(*args: tf.Tensor) -> Pair:
    """160 turns, of which 153 are needed."""
    import jax

    def loop(condition: Callable, body: Callable, begin: Any) -> Any:
        def turn(carry: Any, _: None) -> Any:
            on = condition(carry)
            return jax.tree.map(lambda new, old: jax.numpy.where(on, new, old), body(carry), carry), None

        return jax.lax.scan(turn, begin, None, 160)[0]

    return _comets(loop, *args)


def comets_equinox(*args: tf.Tensor) -> Pair:
    import equinox.internal as eqxi

    def loop(condition: Callable, body: Callable, begin: Any) -> Any:
        return eqxi.while_loop(condition, body, begin, max_steps=4096, kind="checkpointed")

    return _comets(loop, *args)


def comets_diffrax(*args: tf.Tensor) -> Pair:
    """With its own Dormand-Prince and step control, at the same tolerance."""
    import diffrax
    import jax.numpy as jnp

    control = {"norm": lambda error: jnp.max(jnp.abs(error)), "safety": 0.9, "factormin": 0.2, "factormax": 5.0}

    def one(state: Any, end: Any, law: Any) -> Any:
        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(_slope), diffrax.Dopri5(), 0.0, end, jnp.minimum(0.01, end), state, args=law,
            stepsize_controller=diffrax.PIDController(rtol=0.0, atol=1e-5, **control),
            adjoint=diffrax.RecursiveCheckpointAdjoint(), saveat=diffrax.SaveAt(t1=True), max_steps=4096,
        )  # fmt: skip
        return solution.ys[0]

    return _compiled(one, (0, 0, None), args, 2)
