"""Programs without recursion in JAX: written with its loops for one member, ``jax.vmap`` over all, compiled.

Each function takes the arguments of the autobatched program and returns what runs them.  JAX is imported when one is
called, as it is not needed for anything else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from benchmarks.rarely import MATRIX, RARITY, ROUNDS, TURNS

Go = Callable[[], Any]


def _batched(one: Callable[..., Any], args: tuple[tf.Tensor, ...], x64: bool = False) -> Go:
    import jax

    with jax.enable_x64(x64):
        arrays, compiled = [jax.numpy.array(np.asarray(arg)) for arg in args], jax.jit(jax.vmap(one))

    def run() -> Any:
        with jax.enable_x64(x64):
            return jax.tree.map(np.asarray, compiled(*arrays))

    return run


def collatz(n: tf.Tensor) -> Go:
    import jax
    import jax.numpy as jnp

    def one(n: Any) -> Any:
        def body(carry: Any) -> Any:
            n, steps = carry
            return jnp.where(n % 2 == 0, n // 2, 3 * n + 1), steps + 1

        return jax.lax.while_loop(lambda carry: carry[0] != 1, body, (n, 0))[1]

    return _batched(one, (n,), x64=True)


def oscillator(stiffness: tf.Tensor, tolerance: tf.Tensor) -> Go:
    import jax
    import jax.numpy as jnp

    def one(stiffness: Any, tolerance: Any) -> Any:
        def body(carry: Any) -> Any:
            y, v, t, h, steps = carry
            k = stiffness * (1.0 - y**2) * v - y
            y_next, v_next = y + h * v, v + h * k
            k_next = stiffness * (1.0 - y_next**2) * v_next - y_next
            error = 0.5 * h * jnp.maximum(jnp.abs(v_next - v), jnp.abs(k_next - k))
            good = error < tolerance
            y = jnp.where(good, y + 0.5 * h * (v + v_next), y)
            v, t = jnp.where(good, v + 0.5 * h * (k + k_next), v), jnp.where(good, t + h, t)
            factor = jnp.minimum(2.0, jnp.maximum(0.2, 0.9 * jnp.sqrt(tolerance / (error + 1e-12))))
            return y, v, t, jnp.minimum(h * factor, 10.0 - t + 1e-6), steps + 1

        y, _, _, _, steps = jax.lax.while_loop(lambda carry: carry[2] < 10.0, body, (2.0, 0.0, 0.0, 0.01, 0))
        return y, steps

    return _batched(one, (stiffness, tolerance))


def rarely(word: tf.Tensor) -> Go:
    import jax
    import jax.numpy as jnp

    weights = jnp.array(MATRIX)

    def one(word: Any) -> Any:
        def turn(_: Any, carry: Any) -> Any:
            word, v = carry
            word = (word * 75 + 74) % 65537
            costly = lambda v: jax.lax.fori_loop(0, ROUNDS, lambda _, v: jnp.tanh(weights @ v), v)
            return word, jax.lax.cond(word % RARITY == 0, costly, lambda v: v + 0.01, v)

        return jnp.sum(jax.lax.fori_loop(0, TURNS, turn, (word, jnp.ones(len(MATRIX))))[1])

    return _batched(one, (word,))


def epidemic(key: tf.Tensor, infection: tf.Tensor) -> Go:
    import jax
    import jax.numpy as jnp

    def one(key: Any, infection: Any) -> Any:
        def body(carry: Any) -> Any:
            susceptible, infected, time, event = carry
            wait, which = jax.random.uniform(jax.random.fold_in(key, event), (2,))
            rate_in = infection * susceptible * infected / 1000
            rate = rate_in + infected
            caught = which * rate < rate_in
            susceptible = jnp.where(caught, susceptible - 1, susceptible)
            infected = jnp.where(caught, infected + 1, infected - 1)
            return susceptible, infected, time - jnp.log(1.0 - wait) / rate, event + 1

        susceptible, _, time, _ = jax.lax.while_loop(lambda carry: carry[1] > 0, body, (990, 10, 0.0, 0))
        return susceptible, time

    return _batched(one, (key, infection))


def escape(re: tf.Tensor, im: tf.Tensor) -> Go:
    import jax

    def one(re: Any, im: Any) -> Any:
        def body(carry: Any) -> Any:
            x, y, steps = carry
            return x * x - y * y + re, 2.0 * x * y + im, steps + 1

        inside = lambda carry: (carry[0] * carry[0] + carry[1] * carry[1] <= 4.0) & (carry[2] < 500)
        return jax.lax.while_loop(inside, body, (0.0, 0.0, 0))[2]

    return _batched(one, (re, im))


def euclid(a: tf.Tensor, b: tf.Tensor) -> Go:
    import jax

    def one(a: Any, b: Any) -> Any:
        return jax.lax.while_loop(lambda carry: carry[1] != 0, lambda carry: (carry[1], carry[0] % carry[1]), (a, b))[0]

    return _batched(one, (a, b), x64=True)
