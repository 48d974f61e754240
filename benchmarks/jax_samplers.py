"""The No-U-Turn Samplers of NumPyro and BlackJAX, vectorized over chains, for machines with JAX and without TensorFlow.

Each: (log density [d] -> [], start [chains, d], step size, transitions, greatest depth of trees) -> run;
run() -> (draws [transitions, chains, d], leapfrogs [transitions, chains]), on the device.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def numpyro(
    log_prob: Callable, start: np.ndarray, step_size: float, transitions: int, max_tree_depth: int
) -> Callable[[], tuple]:
    import jax
    import jax.numpy as jnp
    from numpyro.infer.hmc import hmc

    init, step = hmc(lambda q: -log_prob(q), algo="NUTS")
    options = {"adapt_step_size": False, "adapt_mass_matrix": False, "max_tree_depth": max_tree_depth}
    keys = jax.random.split(jax.random.PRNGKey(0), len(start))
    state = jax.vmap(lambda q, key: init(q, 0, step_size=step_size, rng_key=key, **options))(jnp.array(start), keys)

    @jax.jit
    def compiled(state: Any) -> Any:
        def next_state(state: Any, _: None) -> Any:
            state = jax.vmap(step)(state)
            return state, (state.z, state.num_steps)

        return jax.lax.scan(next_state, state, None, transitions)[1]

    return lambda: compiled(state)


def blackjax(
    log_prob: Callable, start: np.ndarray, step_size: float, transitions: int, max_tree_depth: int
) -> Callable[[], tuple]:
    import blackjax as library
    import jax
    import jax.numpy as jnp

    chains, dimensions = start.shape
    kernel = library.nuts(log_prob, step_size, jnp.ones(dimensions), max_num_doublings=max_tree_depth)

    @jax.jit
    def compiled(start: Any) -> Any:
        def next_state(state: Any, key: Any) -> Any:
            state, info = jax.vmap(kernel.step)(jax.random.split(key, chains), state)
            return state, (state.position, info.num_integration_steps)

        keys = jax.random.split(jax.random.PRNGKey(0), transitions)
        return jax.lax.scan(next_state, jax.vmap(kernel.init)(start), keys)[1]

    return lambda: compiled(jnp.array(start))
