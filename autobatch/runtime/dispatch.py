"""How the chosen block is run: strategies with the same results and different costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import tensorflow as tf

from autobatch.runtime.machine import Machine, State
from autobatch.runtime.partial import RunBlock
from autobatch.runtime.schedule import Choice


def guarded(machine: Machine, run_block: RunBlock, choose: Choice, state: State, shared: Sequence[tf.Tensor]) -> State:
    """Each block in a ``tf.while_loop`` that runs while its block is the chosen one, all of them in a chain.

    XLA updates what a While carries in place, and each guard carries only what its block changes.  (Through a
    Conditional it copies the whole state.)  A block that is chosen again at once stays in its guard.
    """
    changes = [machine.changes(i) for i in range(machine.halt)]

    def guard(i: int, chosen: tf.Tensor, state: State) -> tuple[tf.Tensor, State]:
        def run(chosen: tf.Tensor, changed: State) -> tuple[tf.Tensor, State]:
            del chosen
            new = changed | run_block(i, state | changed, shared)
            return choose(new["pc"]), new

        changed = {key: state[key] for key in changes[i]}
        chosen, changed = tf.while_loop(
            lambda chosen, changed: tf.equal(chosen, i) & machine.may_go_on(changed),
            run,
            (chosen, changed),
            parallel_iterations=1,
        )
        return chosen, state | changed

    def chain(chosen: tf.Tensor, state: State) -> tuple[tf.Tensor, State]:
        for i in range(machine.halt):
            chosen, state = guard(i, chosen, state)
        return chosen, state

    return _until_done(machine, choose, chain, state)


def switch_case(
    machine: Machine, run_block: RunBlock, choose: Choice, state: State, shared: Sequence[tf.Tensor]
) -> State:
    """The paper's figure 5: ``tf.switch_case`` over all blocks."""

    def step(chosen: tf.Tensor, state: State) -> tuple[tf.Tensor, State]:
        branches = [lambda i=i: state | run_block(i, state, shared) for i in range(machine.halt)]
        state = tf.switch_case(chosen, branches)
        return choose(state["pc"]), state

    return _until_done(machine, choose, step, state)


def _until_done(machine: Machine, choose: Choice, step: Callable, state: State) -> State:
    _, state = tf.while_loop(
        lambda chosen, state: (chosen < machine.halt) & machine.may_go_on(state),
        step,
        (choose(state["pc"]), state),
        parallel_iterations=1,
    )
    return state


STRATEGIES = {"guarded": guarded, "switch_case": switch_case, "auto": guarded}
