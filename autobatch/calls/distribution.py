"""``strategy=``: a batch over the replicas of a ``tf.distribute.Strategy``, each with a machine of its own.

A replica works on its members without a word to the others: it deepens its own stacks, and ends in its own time.  Only
what the replicas of other processes have found is sent, all of it at once, at the end.
"""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from autobatch import errors
from autobatch.backends.failures import with_others
from autobatch.backends.program_counter import ProgramCounter
from autobatch.calls.arguments import Arguments
from autobatch.calls.specialisation import Specialisation, check_attended, check_untaped
from autobatch.machine.engine import Outcome
from autobatch.options import Options
from autobatch.tracing.explain import operation_failure


class Replica(NamedTuple):
    """One of this process, and the members it takes."""

    number: int  # among those of all processes
    device: str
    start: int
    stop: int


class Failure(NamedTuple):
    """Of a replica: which, and what happened to it."""

    device: str
    message: str


def run(program: Specialisation, taken: Arguments, options: Options) -> Any:
    """What a call returns; all processes of the strategy get the whole of it.

    Raises: ReplicaError, with the results of the replicas that did not fail.
    """
    check_attended("A call with a strategy", "machine, which each replica needs", options)
    check_untaped("a call with a strategy", program, taken, options.without("strategy"))
    if options.deadline is not None:
        raise errors.SettingError("A call with a strategy has no deadline.", help="max_steps holds for each replica.")
    strategy, alone = options.strategy, options.without("strategy")
    assert strategy is not None
    if strategy is tf.distribute.get_strategy() and not tf.distribute.has_strategy():
        raise errors.SettingError("The default strategy has no replicas.", help="leave strategy= out.")
    count = strategy.num_replicas_in_sync
    machine = program.executable(taken.size, alone)
    assert isinstance(machine, ProgramCounter)
    if count > 1 and machine.machine(0, 1).knows_positions:
        raise errors.SettingError("A primitive with a size takes the whole batch, of which a replica has a part.")
    bounds = [taken.size * k // count for k in range(count + 1)]
    mine = [Replica(k, device, bounds[k], bounds[k + 1]) for k, device in _own(strategy)]
    with ThreadPoolExecutor(len(mine)) as threads:
        found = dict(threads.map(lambda replica: _work(replica, program, taken, alone), mine))
    lost = Failure("another process", "nothing came from it")
    if len(mine) < count:
        try:
            found = _exchanged(strategy, found)
        except tf.errors.OpError as error:
            lost = Failure("another process", error.message)
    whole = [found.get(k, lost) for k in range(count)]
    outcome, failed = _joined(whole, np.diff(bounds).tolist())

    def execute() -> list:
        if failed:
            members = tuple(m for k in failed for m in range(bounds[k], bounds[k + 1]))
            error = _replica_error(failed, count, members)
            if outcome is not None:
                bad = np.flatnonzero((outcome.pc.numpy() != machine.stopped) | (outcome.fault.numpy() > 0))
                error = with_others(error, [*members, *bad.tolist()])
                error.results = outcome.results
            raise error
        assert outcome is not None
        return machine.results(outcome, taken.shared)

    return program.put_together(taken, execute)


def _own(strategy: tf.distribute.Strategy) -> list[tuple[int, str]]:
    """Number and device of the replicas of this process."""
    numbers = strategy.experimental_distribute_values_from_function(
        lambda value: tf.constant(value.replica_id_in_sync_group)
    )
    numbers = map(int, strategy.experimental_local_results(numbers))
    return list(zip(numbers, strategy.extended.worker_devices, strict=True))


def _work(
    replica: Replica, program: Specialisation, taken: Arguments, options: Options
) -> tuple[int, Outcome | Failure]:
    """What has become of the replica's members, in NumPy's arrays."""
    size = replica.stop - replica.start
    with tf.device(replica.device):
        machine = program.executable(size, options, replica.device)
        assert isinstance(machine, ProgramCounter)
        arguments = [[leaf[replica.start : replica.stop] for leaf in stored] for stored in program.arguments(taken)]
        try:
            outcome = machine.outcome(arguments, taken.shared)
            return replica.number, tf.nest.map_structure(np.asarray, outcome)
        except tf.errors.OpError as error:
            return replica.number, Failure(replica.device, error.message)


def _exchanged(strategy: tf.distribute.Strategy, found: dict[int, Any]) -> dict[int, Any]:
    """What all processes have found, from what this one has: pickled, as 32-bit numbers, their count before them."""
    content = pickle.dumps(found, protocol=5)
    numbers = np.frombuffer(content + bytes(-len(content) % 4), np.int32)
    pieces = iter([np.concatenate([np.array([len(numbers)], np.int32), numbers])])
    values = strategy.experimental_distribute_values_from_function(
        lambda value: tf.constant(next(pieces, np.empty(0, np.int32)))
    )
    gathered, everything = strategy.gather(values, axis=0).numpy(), {}
    while len(gathered):
        end = 1 + gathered[0]
        everything |= pickle.loads(gathered[1:end].tobytes())
        gathered = gathered[end:]
    return everything


def _joined(whole: list[Outcome | Failure], sizes: list[int]) -> tuple[Outcome | None, dict[int, Failure]]:
    """The outcome of all members, None if all replicas failed, and those that did, whose members' rows mean nothing."""
    failed = {k: one for k, one in enumerate(whole) if isinstance(one, Failure)}
    good = [one for one in whole if isinstance(one, Outcome)]
    if not good:
        return None, failed

    def rows(one: Outcome | Failure, size: int) -> Outcome:
        if isinstance(one, Outcome):
            return one
        return tf.nest.map_structure(lambda leaf: np.zeros((size, *leaf.shape[1:]), leaf.dtype), good[0])

    outcomes = [rows(one, size) for one, size in zip(whole, sizes, strict=True)]
    return tf.nest.map_structure(lambda *leaves: tf.concat(leaves, axis=0), *outcomes), failed


def _replica_error(failed: dict[int, Failure], count: int, members: tuple[int, ...]) -> errors.ReplicaError:
    said = "".join(
        f"\n  replica {k} ({failure.device}): {operation_failure(failure.message)}" for k, failure in failed.items()
    )
    help = "give a tf.Variable as an argument, with in_axes=None for it." if "access resource" in said else ""
    return errors.ReplicaError(f"{len(failed)} of {count} replicas failed:{said}", help=help, members=members)
