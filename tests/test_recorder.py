"""What the viewer is given: played back, it is what the machine does."""

import numpy as np
import pytest
import tensorflow as tf

import autobatch as ab
from autobatch.machine.recorder import FAILED
from examples.fibonacci import fibonacci
from tests.programs import PROGRAMS

ENOUGH = 4000  # steps


def play(recording):
    """Registers, saved frames by variable and lane, program counters: as the steps leave them."""
    tops = {name: values.copy() for name, values in recording.start.items()}
    frames = {name: [{} for _ in range(recording.lanes)] for name in recording.stacked}
    pc, depth = np.zeros(recording.lanes, int), np.zeros(recording.lanes, int)
    for step in recording.steps:
        for k, lane in enumerate(step.lanes):
            assert pc[lane] == step.block
            for name in step.popped:
                del frames[name][lane][depth[lane]]
            for name, values in step.pushed.items():
                frames[name][lane][depth[lane]] = values[k]
            for name, values in step.written.items():
                tops[name][lane] = values[k]
        pc[step.lanes], depth[step.lanes] = step.pc, step.depth
    return tops, frames, pc, depth


@pytest.mark.parametrize("name", sorted(PROGRAMS)[::4])
def test_a_recording_ends_with_the_results(name):
    function, args = PROGRAMS[name]
    recording = function.options(jit_compile=False).lower(*args).record(1000, ENOUGH)
    assert recording.ended == "done"
    _, frames, pc, depth = play(recording)
    assert (pc >= recording.halt).all()
    assert not depth.any()
    expected = tf.nest.flatten(function.options(backend="unbatched")(*args))
    leaves = list(recording.results.values())
    if len(leaves) == len(expected):  # not so of ragged rows, and of what is no tensor
        for leaf, want in zip(leaves, expected, strict=True):
            np.testing.assert_allclose(leaf, want, rtol=1e-5)


def test_what_runs_once_after_the_loop():
    @ab.autobatch
    def halved(x):
        while x > 1.0:
            x = x / 2.0
        return 2.0 * x + 1.0

    recording = halved.lower(np.float32([1, 2, 3])).record(3, ENOUGH)
    assert [*map(float, *recording.results.values())] == [3.0, 3.0, 2.5]


def test_stacks():
    """Of one lane: what the calls of fibonacci(3) save, and what is restored."""
    recording = fibonacci.lower(np.array([3], np.int32)).record(1, ENOUGH)
    tops, frames, _, _ = play(recording)
    assert tops["result"].tolist() == [3]
    assert frames == {"call": [{}], "n": [{}]}
    pushed = [(name, int(v[0])) for step in recording.steps for name, v in step.pushed.items()]
    assert pushed == [("n", 3), ("call", 1), ("n", 2), ("call", 1)]
    assert [step.depth.tolist() for step in recording.steps] == [[0], [1], [0], [1], [2], [1], [2], [1], [0], [0]]


def test_only_the_first_members_and_steps():
    recording = fibonacci.lower(np.array([9, 9, 9, 9], np.int32)).record(2, 10)
    assert (recording.lanes, len(recording.steps), recording.ended) == (2, 10, "steps")


@ab.autobatch
def sum_to(n):
    return 0 if n == 0 else n + sum_to(n - 1)


def test_stacks_that_grow_and_stacks_that_may_not():
    n = np.array([100, 3], np.int32)
    deep = sum_to.lower(n).record(2, ENOUGH)
    assert deep.ended == "done"
    assert deep.results["result"].tolist() == [5050, 6]
    assert all(len(step.lanes) for step in sum_to.lower(n[:1]).record(1, ENOUGH).steps), "it waited, and did nothing"
    full = sum_to.options(max_depth=5).lower(n).record(2, ENOUGH)
    assert full.ended == "full"
    assert play(full)[3].tolist() == [5, 0]


def test_a_member_that_fails():
    @ab.autobatch
    def positive(x):
        assert x > 0, "not positive"
        return x

    recording = positive.lower(tf.constant([1.0, -1.0])).record(2, ENOUGH)
    assert recording.ended == "done"
    assert (play(recording)[2] == FAILED).tolist() == [False, True]
