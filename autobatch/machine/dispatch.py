"""How the chosen block is run: strategies with the same results and different costs; and the loop around them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

import tensorflow as tf

from autobatch import ir
from autobatch.ir.leaves import leaf_type
from autobatch.machine import devices
from autobatch.machine.blocks import Machine, State, apart
from autobatch.machine.devices import MANY, OFTEN, OFTEN_IN_A_TURN, ROUNDS
from autobatch.machine.loop import while_loop
from autobatch.machine.partial import RunBlock
from autobatch.machine.schedule import Choice
from autobatch.machine.xla import MOST_IN_ONE, not_in_one

Step = Callable[[tf.Tensor, State], tuple[tf.Tensor, State]]  # (chosen block, state) -> what comes then


class Dispatched(Protocol):
    """What a strategy asks of a machine: this one's way to run blocks, or the adjoint machine's."""

    @property
    def program(self) -> ir.StackProgram: ...
    @property
    def halt(self) -> int: ...
    @property
    def order(self) -> list[int]: ...
    @property
    def safe(self) -> bool: ...
    def changes(self, i: int) -> tuple[str, ...]: ...
    def may_go_on(self, state: State) -> tf.Tensor | bool: ...


def guarded(
    machine: Dispatched, run_block: RunBlock, choose: Choice, shared: Sequence[tf.Tensor], most: int | None = None
) -> Step:
    """Each block in a ``tf.while_loop`` that runs while its block is the chosen one, all of them in a chain.

    XLA updates what a While carries in place, and each guard carries only what its block changes.  (Through a
    Conditional it copies the whole state.)  A block that is chosen again at once stays in its guard, for at ``most``
    so many runs if the machine is looked at.
    """
    changes = [machine.changes(i) for i in range(machine.halt)]

    def guard(i: int, chosen: tf.Tensor, state: State) -> tuple[tf.Tensor, State]:
        def run(chosen: tf.Tensor, changed: State) -> tuple[tf.Tensor, State]:
            del chosen
            new = changed | run_block(i, state | changed, shared)
            return choose(new["pc"]), new

        def is_chosen(chosen: tf.Tensor, changed: State) -> tf.Tensor:
            return tf.equal(chosen, i) & machine.may_go_on(changed)

        changed = {key: state[key] for key in changes[i]}
        if most is not None and i in ir.successors(machine.program.blocks[i].terminator):
            _, chosen, changed = while_loop(
                machine,
                lambda runs, *now: (runs < most) & is_chosen(*now),
                lambda runs, *now: (runs + 1, *run(*now)),
                (0, chosen, changed),
            )
        else:
            chosen, changed = while_loop(machine, is_chosen, run, (chosen, changed))
        return chosen, state | changed

    def chain(chosen: tf.Tensor, state: State) -> tuple[tf.Tensor, State]:
        for i in machine.order:
            chosen, state = guard(i, chosen, state)
        return (chosen if len(machine.order) <= MOST_IN_ONE else not_in_one(chosen)), state

    return chain


def switch_case(
    machine: Machine, run_block: RunBlock, choose: Choice, shared: Sequence[tf.Tensor], most: int | None = None
) -> Step:
    """The paper's figure 5: ``tf.switch_case`` over all blocks."""
    del most

    def step(chosen: tf.Tensor, state: State) -> tuple[tf.Tensor, State]:
        branches = [lambda i=i: state | run_block(i, state, shared) for i in range(machine.halt)]
        state = tf.switch_case(chosen, branches)
        return choose(state["pc"]), state

    return step


def sweep(
    machine: Machine, run_block: RunBlock, choose: Choice, shared: Sequence[tf.Tensor], most: int | None = None
) -> Step:
    """Each block once, if a lane waits there; nothing is chosen, and ``choose`` only tells when all lanes are done."""
    del most

    def guard(i: int, state: State) -> State:
        def run(_: tf.Tensor, changed: State) -> tuple[tf.Tensor, State]:
            return tf.constant(False), changed | run_block(i, state | changed, shared)

        changed = {key: state[key] for key in machine.changes(i)}
        waits = tf.reduce_any(tf.equal(state["pc"], i)) & machine.may_go_on(changed)
        _, changed = while_loop(machine, lambda go, _: go, run, (waits, changed))
        return state | changed

    def step(chosen: tf.Tensor, state: State) -> tuple[tf.Tensor, State]:
        del chosen
        for i in machine.order:
            state = guard(i, state)
        return choose(state["pc"]), state

    return step


def rounds(
    machine: Machine, run_block: RunBlock, choose: Choice, shared: Sequence[tf.Tensor], most: int | None = None
) -> Step:
    """Each block once in each of ROUNDS rounds, masked, whether or not a lane waits there.

    For devices on which the host waits each time that the device alone knows what comes next: within the rounds
    nothing is asked, and what blocks compute may become one kernel.  Blocks that are never come back to run before.
    A dear block (``devices.dear``) runs once after all rounds, if there is who waits for it, as long as few do.
    """
    del run_block
    machine = replace(machine, guards=False)
    reached = {target for block in machine.program.blocks for target in _targets(block.terminator)}
    first = [i for i in machine.order if i not in reached]
    again = [i for i in machine.order if i in reached]
    dear = devices.dear(machine, again)

    def run(blocks: Sequence[int], state: State) -> State:
        for i in blocks:
            new = machine.run_block(i, state, shared)
            if machine.max_steps is not None:  # of which those count that a lane waits for
                new["steps"] = state["steps"] + tf.cast(tf.reduce_any(tf.equal(state["pc"], i)), tf.int32)
            if _hands_on_rows(machine, i) and not machine.safe:
                new["pc"] = apart(new["pc"])
            state = state | new
        return state

    def in_rounds(blocks: Sequence[int], state: State) -> State:
        together = 2 ** int(math.log2(max(1, min(ROUNDS, MANY / max(1, len(blocks))))))
        return while_loop(
            machine,
            lambda k, _: k < ROUNDS // together,
            lambda k, state: (k + 1, run(together * blocks, state)),
            (0, state),
        )[1]

    def wait(block: int, share: float, state: State) -> tf.Tensor:
        """Whether more than this share of the lanes that are not done wait for the block."""
        masks = tf.equal(state["pc"], block), state["pc"] < machine.halt
        there, live = (tf.reduce_sum(tf.cast(mask, tf.float32)) for mask in masks)
        return (there > share * live) & machine.may_go_on(state)

    def with_dear(block: int, state: State) -> State:
        """In rounds that begin with the block while many wait for it; then in rounds without it, and with it once."""
        place = again.index(block)
        others = again[place + 1 :] + again[:place]
        _, state = while_loop(
            machine,
            lambda turns, state: (turns < (FOREVER if most is None else REPEATS)) & wait(block, OFTEN, state),
            lambda turns, state: (turns + 1, in_rounds([block, *others], state)),
            (0, state),
        )
        state = in_rounds(others, state)
        few = wait(block, 0, state) & ~wait(block, OFTEN_IN_A_TURN, state)
        return while_loop(
            machine,
            lambda go, _: go,
            lambda _, state: (tf.constant(False), run([block], state)),
            (few, state),
        )[1]

    def step(chosen: tf.Tensor, state: State) -> tuple[tf.Tensor, State]:
        del chosen
        state = run(first, state)
        state = in_rounds(again, state) if dear is None else with_dear(dear, state)
        return choose(state["pc"]), state

    return step


def _hands_on_rows(machine: Machine, i: int) -> bool:
    """Whether block ``i`` calls, with more than numbers: merged with what is called, its kernels would copy them."""
    writes = machine.stored.blocks[i].writes
    return isinstance(machine.program.blocks[i].terminator, ir.PushJump) and any(
        leaf_type(leaf, machine.typed.types).shape for leaf in writes
    )


def _targets(terminator: ir.Terminator) -> tuple[int, ...]:
    """The blocks that may run next, also of another function."""
    called = terminator.targets if isinstance(terminator, ir.PushJump) else ()
    return (*ir.successors(terminator), *called)


def auto(
    machine: Machine, run_block: RunBlock, choose: Choice, shared: Sequence[tf.Tensor], most: int | None = None
) -> Step:
    """On an accelerator what is expected to be fastest there (``devices.py``), else guarded.

    But where a number of steps is to tell who never ends, nobody is to wait for them: a sweep, or rounds.
    """
    device = devices.here()
    if device is not None and (machine.max_steps is not None or devices.cost(machine, device).dispatch == "rounds"):
        strategy = rounds
    else:
        strategy = guarded if machine.max_steps is None else sweep
    return strategy(machine, run_block, choose, shared, most)


DISPATCHES = {"guarded": guarded, "switch_case": switch_case, "sweep": sweep, "rounds": rounds, "auto": auto}


def until_done(machine: Dispatched, step: Step, choose: Choice, state: State) -> State:
    """Steps until no lane can move."""
    if _is_empty(state):
        return state
    _, state = while_loop(
        machine,
        lambda chosen, state: (chosen < machine.halt) & machine.may_go_on(state),
        step,
        (choose(state["pc"]), state),
    )
    return state


def _is_empty(state: State) -> bool:
    """Whether it is known that there are no lanes; of a loop for nobody XLA may make code that crashes."""
    return state["pc"].shape.num_elements() == 0


LOOK = 4  # passes between two looks at how many lanes are not done; each is looked at where runs are counted
REPEATS = 16  # runs of a loop's block, in each of them; likewise
FAIR = 64  # passes from one time that a block has its turn, whatever the schedule, to the next
FOREVER = 2**31 - 1  # looks


class Limit(NamedTuple):
    """When the machine stops before its end.

    After ``looks``, or after ``patience`` of them at which at most ``floor`` lanes are not done.
    """

    floor: tf.Tensor | int = 0
    patience: tf.Tensor | int = FOREVER
    looks: tf.Tensor | int = FOREVER


class Looks(NamedTuple):
    """How often the machine was looked at, and how often with no more lanes than the limit's floor."""

    all: tf.Tensor
    late: tf.Tensor


def until_few(machine: Machine, step: Step, choose: Choice, state: State, limit: Limit) -> tuple[State, Looks]:
    """Steps until no lane can move, or the limit is reached."""
    none = Looks(tf.constant(0), tf.constant(0))
    if _is_empty(state):
        return state, none
    look = 1 if machine.counts else LOOK
    fair = FAIR // look

    def are_few(state: State) -> tf.Tensor:
        pc = state["pc"]
        return tf.reduce_sum(tf.cast((pc < machine.halt) | (pc > machine.stopped), tf.int32)) <= limit.floor

    def in_turn(pc: tf.Tensor, turn: tf.Tensor) -> tf.Tensor:
        """So that who is in a loop without end does not keep the others from ending."""
        first = turn % max(machine.halt, 1)
        late = tf.reduce_min(tf.where(pc >= first, pc, machine.halt))
        return tf.where(late < machine.halt, late, tf.reduce_min(pc))

    def goes_on(chosen: tf.Tensor, state: State, few: tf.Tensor, looks: Looks) -> tf.Tensor:
        is_due = (few & (looks.late >= limit.patience)) | (looks.all >= limit.looks)
        return (chosen < machine.halt) & machine.may_go_on(state) & ~is_due

    def passes(chosen: tf.Tensor, state: State, few: tf.Tensor, looks: Looks) -> tuple:
        chosen = tf.where(tf.equal(looks.all % fair, fair - 1), in_turn(state["pc"], looks.all // fair), chosen)
        _, chosen, state = while_loop(
            machine,
            lambda k, chosen, state: (k < look) & (chosen < machine.halt) & machine.may_go_on(state),
            lambda k, chosen, state: (k + 1, *step(chosen, state)),
            (0, chosen, state),
        )
        return chosen, state, are_few(state), Looks(looks.all + 1, looks.late + tf.cast(few, tf.int32))

    start = (choose(state["pc"]), state, are_few(state), none)
    _, state, _, looks = while_loop(machine, goes_on, passes, start)
    return state, looks
