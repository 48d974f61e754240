"""The kernel: right moments, the same draws everywhere, and TFP's wrappers around it."""

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp

import autobatch as ab
from autobatch.errors import LogDensityError, SettingError, StartError
from autobatch.mcmc import kernel as kernels
from tests.backends import BACKENDS

SCALES = tf.constant([1.0, 2.0, 0.5])


def log_prob(x, y):
    """x [..., 3] with deviations SCALES, y [..., 2, 2] standard normal."""
    return -0.5 * tf.reduce_sum((x / SCALES) ** 2, -1) - 0.5 * tf.reduce_sum(y**2, [-1, -2])


def start(*batch):
    return [tf.zeros([*batch, 3]), tf.zeros([*batch, 2, 2])]


def chain(kernel, state, draws=400, burn_in=200, jit_compile=True, trace_fn=None, seed=(3, 4)):
    @tf.function(autograph=False, jit_compile=jit_compile)
    def run():
        return tfp.mcmc.sample_chain(
            draws, state, kernel=kernel, num_burnin_steps=burn_in, trace_fn=trace_fn, seed=seed
        )

    return run()


def check_moments(states):
    x, y = (np.asarray(part) for part in states)
    np.testing.assert_allclose(x.std((0, 1)), SCALES, rtol=0.1)
    np.testing.assert_allclose(y.std((0, 1)), np.ones([2, 2]), rtol=0.1)
    np.testing.assert_allclose(x.mean((0, 1)), np.zeros(3), atol=0.25)


@pytest.mark.parametrize(("variant", "jit_compile"), [("multinomial", True), ("slice", False)])
def test_sample_chain(variant, jit_compile):
    kernel = ab.mcmc.NoUTurnSampler(log_prob, 0.4, variant=variant)
    check_moments(chain(kernel, start(16), jit_compile=jit_compile))


def test_results_have_the_structure_of_the_bootstrap():
    """sample_chain carries them through a while loop."""
    state = [tf.zeros([4, 2], tf.float64), tf.zeros([4], tf.float64)]
    kernel = ab.mcmc.NoUTurnSampler(lambda x, y: -tf.reduce_sum(x**2, -1) - y**2, [0.1, 0.2])
    before = kernel.bootstrap_results(state)
    new, after = kernel.one_step(state, before, seed=(0, 1))
    tf.nest.assert_same_structure((state, before), (new, after), expand_composites=True)
    for one, other in zip(*(tf.nest.flatten(r, expand_composites=True) for r in (before, after)), strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)


def test_one_tensor_may_stand_for_two_parts():
    x = tf.ones([2, 3])
    kernel = ab.mcmc.NoUTurnSampler(lambda x, y: -tf.reduce_sum(x**2 + 2 * y**2, -1), 0.1)
    one, other = kernel.bootstrap_results([x, x]).grads_target_log_prob
    np.testing.assert_array_equal(one, -2 * x)
    np.testing.assert_array_equal(other, -4 * x)


def test_the_results_tell_of_the_state():
    kernel = ab.mcmc.NoUTurnSampler(log_prob, 0.4)
    state, results = kernel.one_step(start(4), kernel.bootstrap_results(start(4)), seed=7)
    np.testing.assert_allclose(results.target_log_prob, log_prob(*state), rtol=1e-5)
    np.testing.assert_allclose(results.grads_target_log_prob[0], -state[0] / SCALES**2, rtol=1e-5)
    assert (results.leapfrogs_taken.numpy() >= 1).all()
    assert (results.leapfrogs_taken.numpy() < 2 ** results.tree_depth.numpy()).all()
    assert (results.log_accept_ratio.numpy() <= 0).all()
    assert (results.energy.numpy() <= results.target_log_prob.numpy()).all()
    assert not results.has_divergence.numpy().any()


def test_a_chain_is_the_same_in_every_batch():
    kernel = ab.mcmc.NoUTurnSampler(log_prob, 0.4)

    def steps(state):
        results, states = kernel.bootstrap_results(state), []
        for seed in range(20):
            state, results = kernel.one_step(state, results, seed=seed)
            states.append(state)
        return [np.stack(parts) for parts in zip(*states, strict=True)]

    for some, few in zip(steps(start(4)), steps(start(3)), strict=True):
        np.testing.assert_allclose(some[:, :3], few, rtol=1e-4, atol=1e-5)


def test_a_step_is_the_same_compiled_or_not():
    """(sample_chain derives the steps' seeds, and does so differently under XLA.)"""
    kernel = ab.mcmc.NoUTurnSampler(log_prob, 0.4)
    results = kernel.bootstrap_results(start(4))
    eager, _ = kernel.one_step(start(4), results, seed=(3, 4))
    step = tf.function(lambda: kernel.one_step(start(4), results, seed=(3, 4)), jit_compile=True)
    for one, other in zip(step()[0], eager, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def any_batch(q):
    return -0.5 * tf.reduce_sum(q**2 * [1.0, 0.25, 4.0, 1.0], -1), -q * [1.0, 0.25, 4.0, 1.0]


SAMPLERS = {variant: make(ab.primitive(any_batch, batched=True), 5) for variant, make in kernels.VARIANTS.items()}


@pytest.mark.parametrize(
    ("variant", "options"),
    [
        *(("multinomial", options) for options in BACKENDS.values()),
        ("multinomial", {"backend": "unbatched"}),
        ("slice", {"backend": "unbatched"}),
    ],
)
def test_a_transition_is_the_same_on_every_backend(variant, options):
    """Step for step: the unbatched backend runs the sampler's source as plain Python."""
    sampler = SAMPLERS[variant]  # one for all, which is compiled once
    q = tf.constant(np.random.default_rng(0).normal(size=[3, 4]), tf.float32)
    state = kernels.State(q, *any_batch(q))
    expected = None
    for choice in ({}, options):
        run = kernels.several_transitions.options(in_axes=(0, None, None, 0), **choice)
        got = run(sampler, 3, state, 0.4, tf.ones([4]), ab.random.split(ab.random.key(5), 3))
        expected = got if expected is None else expected
    assert (got[1][0].numpy() == expected[1][0].numpy()).all()
    for one, other in zip(tf.nest.flatten(got), tf.nest.flatten(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


def test_several_batch_axes_and_a_step_size_for_each_chain():
    def density(x):
        return -0.5 * tf.reduce_sum((x / SCALES) ** 2, -1) * tf.constant([[1.0], [4.0]])  # [2, k]

    steps = tf.constant([[0.5], [0.25]])[:, :, tf.newaxis]
    kernel = ab.mcmc.NoUTurnSampler(density, steps)
    states = chain(kernel, tf.zeros([2, 8, 3]), draws=500, jit_compile=False)
    assert states.shape == [500, 2, 8, 3]
    np.testing.assert_allclose(np.std(states[:, 0], (0, 1)), SCALES, rtol=0.1)
    np.testing.assert_allclose(np.std(states[:, 1], (0, 1)), SCALES / 2, rtol=0.1)


def test_one_chain_without_a_batch_axis():
    states = chain(ab.mcmc.NoUTurnSampler(log_prob, 0.4), start(), draws=1500, jit_compile=False)
    check_moments([part[:, tf.newaxis] for part in states])


def test_the_number_of_chains_may_be_unknown_when_it_is_traced():
    batch = 2, None
    kernel = ab.mcmc.NoUTurnSampler(log_prob, [0.3, 0.2])
    kernel = tfp.mcmc.DualAveragingStepSizeAdaptation(kernel, num_adaptation_steps=4)

    def run(x, y):
        return tfp.mcmc.sample_chain(6, [x, y], kernel=kernel, seed=(3, 4), trace_fn=None)

    specs = [tf.TensorSpec([*batch, 3]), tf.TensorSpec([*batch, 2, 2])]
    any_number = tf.function(run, specs, autograph=False, jit_compile=True)
    known = tf.function(run, autograph=False, jit_compile=True)
    state = start(*(size or 5 for size in batch))
    for found, expected in zip(any_number(*state), known(*state), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
    assert [part.shape for part in any_number(*start(*(size or 1 for size in batch)))] == [
        [6, *(size or 1 for size in batch), *event] for event in ([3], [2, 2])
    ]
    assert any_number.experimental_get_tracing_count() == 1


def test_an_event_of_unknown_shape_is_refused():
    kernel = ab.mcmc.NoUTurnSampler(lambda x: -0.5 * tf.reduce_sum(x**2, -1), 0.1)
    for shape in ([4, None], [None, None]):
        with pytest.raises(SettingError, match="more than the length of one batch axis is not known"):
            tf.function(kernel.bootstrap_results, [tf.TensorSpec(shape)], autograph=False).get_concrete_function()


def test_step_sizes_for_each_part_and_each_coordinate():
    kernel = ab.mcmc.NoUTurnSampler(log_prob, [0.7 * SCALES, 0.7])
    states, results = chain(kernel, start(8), trace_fn=lambda _, results: results, jit_compile=False)
    check_moments(states)
    assert results.leapfrogs_taken.numpy().mean() < 7  # all coordinates are of one scale to it


def test_leapfrogs_per_leaf_and_trajectories_per_step():
    plain = ab.mcmc.NoUTurnSampler(log_prob, 0.1, leapfrogs_per_leaf=4)
    states, results = chain(plain, start(8), trace_fn=lambda _, r: r.leapfrogs_taken, jit_compile=False)
    check_moments(states)
    assert (results.numpy() % 4 == 0).all()
    several = ab.mcmc.NoUTurnSampler(log_prob, 0.4, trajectories_per_step=5)
    state, after = several.one_step(start(3), several.bootstrap_results(start(3)), seed=(1, 2))
    assert (after.leapfrogs_taken.numpy() >= 2 ** after.tree_depth.numpy() / 2 + 4).all()
    assert tf.nest.map_structure(lambda part: part.shape, state) == [[3, 3], [3, 2, 2]]


def test_dual_averaging():
    kernel = tfp.mcmc.DualAveragingStepSizeAdaptation(ab.mcmc.NoUTurnSampler(log_prob, 0.01), 150)
    states, (step, ratio) = chain(
        kernel, start(16), trace_fn=lambda _, r: (r.new_step_size, r.inner_results.log_accept_ratio)
    )
    check_moments(states)
    assert step[-1] > 0.2
    assert 0.65 < np.exp(ratio).mean() < 0.95


def test_simple_step_size_adaptation():
    kernel = tfp.mcmc.SimpleStepSizeAdaptation(ab.mcmc.NoUTurnSampler(log_prob, 0.05), 150)
    states, step = chain(kernel, start(16), trace_fn=lambda _, r: r.new_step_size, jit_compile=False)
    check_moments(states)
    assert step[-1] > 0.2


def test_transformed_transition_kernel():
    """A log-normal, sampled by its logarithm."""
    kernel = tfp.mcmc.TransformedTransitionKernel(
        ab.mcmc.NoUTurnSampler(tfp.distributions.LogNormal(1.0, 0.5).log_prob, 0.5), tfp.bijectors.Exp()
    )
    adapted = tfp.mcmc.DualAveragingStepSizeAdaptation(kernel, 150)
    states = chain(adapted, tf.ones([16]), draws=600, jit_compile=False)
    np.testing.assert_allclose(np.log(states).mean(), 1.0, atol=0.05)
    np.testing.assert_allclose(np.log(states).std(), 0.5, rtol=0.1)


def running_variance():
    make = tfp.experimental.stats.RunningVariance.from_stats
    return [make(10.0, tf.zeros(shape), tf.ones(shape)) for shape in ([3], [2, 2])]


def test_windowed_adaptation():
    """The wrappers of tfp.experimental.mcmc.windowed_adaptive_nuts, around this kernel."""
    from tensorflow_probability.python.experimental.mcmc.windowed_sampling import WindowedAdaptation

    kernel = tfp.mcmc.DualAveragingStepSizeAdaptation(ab.mcmc.NoUTurnSampler(log_prob, 0.1), 200)
    kernel = tfp.experimental.mcmc.DiagonalMassMatrixAdaptation(kernel, running_variance(), num_estimation_steps=200)
    check_moments(chain(WindowedAdaptation(kernel, num_adaptation_steps=200), start(16)))


def test_a_log_density_that_closes_over_symbolic_tensors():
    @tf.function(autograph=False, jit_compile=True)
    def run(scales):
        kernel = ab.mcmc.NoUTurnSampler(lambda x: -0.5 * tf.reduce_sum((x / scales) ** 2, -1), 0.4)
        return tfp.mcmc.sample_chain(300, tf.zeros([16, 3]), kernel=kernel, trace_fn=None, seed=(1, 2))

    np.testing.assert_allclose(np.std(run(SCALES), (0, 1)), SCALES, rtol=0.1)
    np.testing.assert_allclose(np.std(run(2 * SCALES), (0, 1)), 2 * SCALES, rtol=0.1)


def test_a_changed_global_is_seen():
    state = tf.ones([2, 3])

    def energy():
        kernel = ab.mcmc.NoUTurnSampler(uses_a_global, 0.4)
        return kernel.one_step(state, kernel.bootstrap_results(state), seed=1)[1].target_log_prob.numpy()

    global FACTOR
    FACTOR = 1.0
    first = energy()
    FACTOR = 100.0
    assert (energy() != first).all()


FACTOR = 1.0


def uses_a_global(x):
    return -FACTOR * tf.reduce_sum(x**2, -1)


def test_divergences_are_flagged():
    kernel = ab.mcmc.NoUTurnSampler(lambda x: -0.5 * tf.reduce_sum((1e3 * x) ** 2, -1), 10.0)
    state, results = kernel.one_step(tf.ones([4, 2]), kernel.bootstrap_results(tf.ones([4, 2])), seed=1)
    assert results.has_divergence.numpy().all()
    assert (state.numpy() == 1).all()
    assert not results.is_accepted.numpy().any()


def test_a_density_that_is_nowhere_finite_on_the_way_stays_put():
    def density(x):
        return tf.where(tf.abs(x) < 1.0, 0.0 * x, tf.constant(float("nan")))

    kernel = ab.mcmc.NoUTurnSampler(density, 0.5)
    states = chain(kernel, tf.zeros([8]), draws=200, burn_in=0, jit_compile=False)
    assert np.abs(states).max() < 1
    assert np.std(states) > 0.2


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"step_size": -0.1}, SettingError, "step size must be positive"),
        ({"step_size": float("nan")}, SettingError, "step size must be positive"),
        ({"step_size": [0.1, tf.constant(0.0)]}, SettingError, "step size must be positive"),
        ({"step_size": [0.1, 0.1, 0.1]}, SettingError, "3 step sizes for 2 parts"),
        (
            {"step_size": tf.fill([8], 0.1)},
            SettingError,
            r"\[8\] does not broadcast with part 0 of the state, \[4, 3\]",
        ),
        ({"max_tree_depth": 0}, SettingError, "max_tree_depth must be an int of at least 1"),
        ({"leapfrogs_per_leaf": 1.5}, SettingError, "leapfrogs_per_leaf must be an int"),
        ({"trajectories_per_step": 0}, SettingError, "trajectories_per_step must be"),
        ({"max_energy_difference": -1.0}, SettingError, "max_energy_difference must be positive"),
        ({"variant": "hmc"}, SettingError, "'multinomial' or 'slice', not 'hmc'"),
        (
            {"target_log_prob_fn": lambda x, y: x},
            LogDensityError,
            r"shape \[4, 3\] for a state of shape \[4, 3\], \[4, 2",
        ),
        ({"target_log_prob_fn": lambda x, y: -tf.reduce_sum(x**2, -1)}, LogDensityError, "no gradient .* part 1"),
        ({"target_log_prob_fn": lambda x, y: tf.constant(np.zeros(4, np.float32))}, LogDensityError, "part 0"),
    ],
)
def test_bad_settings(change, error, words):
    with pytest.raises(error, match=words):
        ab.mcmc.NoUTurnSampler(**{"target_log_prob_fn": log_prob, "step_size": 0.1} | change).bootstrap_results(
            start(4)
        )


def test_a_start_where_the_density_is_not_finite_names_the_chains():
    kernel = ab.mcmc.NoUTurnSampler(lambda x: tf.reduce_sum(tf.math.log(x), -1), 0.1)
    with pytest.raises(StartError, match=r"2 of 4 chains start \(it is nan in the first\): chains 1, 3\.") as caught:
        kernel.bootstrap_results(tf.constant([[1.0], [-1.0], [2.0], [-3.0]]))
    assert caught.value.members == (1, 3)
    with pytest.raises(StartError, match=r"chains \(1, 0\)"):
        ab.mcmc.NoUTurnSampler(lambda x: tf.math.log(x), 0.1).bootstrap_results(tf.constant([[1.0], [-1.0]]))


def test_a_missing_or_strange_seed():
    kernel = ab.mcmc.NoUTurnSampler(log_prob, 0.1)
    results = kernel.bootstrap_results(start(2))
    with pytest.raises(SettingError, match="There is no seed"):
        kernel.one_step(start(2), results)
    with pytest.raises(SettingError, match="There is no seed"):
        tfp.mcmc.sample_chain(2, start(2), kernel=kernel, trace_fn=None)
    with pytest.raises(SettingError, match="an int or a pair of ints, not float32"):
        kernel.one_step(start(2), results, seed=0.5)


def test_states_that_it_cannot_take():
    kernel = ab.mcmc.NoUTurnSampler(log_prob, 0.1)
    with pytest.raises(SettingError, match="a tensor or a list of tensors.*not a dict"):
        kernel.bootstrap_results({"x": tf.zeros([2, 3])})
    with pytest.raises(SettingError, match="all be float32 or all float64; these are float32, float64"):
        ab.mcmc.NoUTurnSampler(lambda x, y: -(x**2), 0.1).bootstrap_results([tf.zeros([2]), tf.zeros([2], tf.float64)])


def test_copies_and_parameters():
    kernel = ab.mcmc.NoUTurnSampler(log_prob, 0.1, variant="slice")
    other = kernel.copy(step_size=0.2)
    assert (other.step_size, other.parameters["variant"], kernel.step_size) == (0.2, "slice", 0.1)
    assert kernel.is_calibrated
