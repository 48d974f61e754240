"""What machines cost on accelerators: a model of a machine's pass, by which ``dispatch="auto"`` chooses there.

On a GPU it is not arithmetic that takes the time, but to start kernels, and above all to ask: each turn of a loop, and
each branch, that depends on what the device has computed makes the host wait for it.  How good the model is:
docs/accelerators.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf
from tensorflow.python.eager import context as eager_context

from autobatch import errors
from autobatch.ir.leaves import Leaf, leaf_type
from autobatch.machine import sizes
from autobatch.machine.blocks import Machine

ROUNDS = 16  # of the dispatch of that name, between two times that the device is asked whether all lanes are done
MANY = (
    8  # runs of blocks in a turn of its loop, where blocks are few: on a GPU to begin one takes as long as ten kernels
)
# Kernels that XLA makes of a block: among others in a round; in a loop or branch of its own; and one for each product.
MASKED, ASKED = 2.5, 8.5
OFTEN = 1 / 8  # of the lanes wait for a dear block, on average: if more do, it runs in each round
OFTEN_IN_A_TURN = 1 - (1 - OFTEN) ** ROUNDS  # so many wait for it then after ROUNDS without it
POPULATED = 0.45  # of what blocks do in rounds, how much is left where one runs only if many lanes wait: NUTS's share


@dataclass(frozen=True)
class Device:
    """Seconds for: a kernel that is started, a question, a byte that is moved, and the unit of ``passes/costs.py``."""

    kernel: float
    question: float
    byte: float
    unit: float


# The H100's are measured (benchmarks/results/h100_constants.json; a kernel is one of 47 in a round of NUTS).  The TPU's
# are not: bytes and arithmetic are those of its data sheet (819 GB/s, 197 TFLOP/s), and a kernel, and a question, which
# no host waits for, are taken to cost a microsecond.
DEVICES = {
    "h100": Device(kernel=1.3e-6, question=17.7e-6, byte=1 / 2.3e12, unit=8 / 22e12),
    "tpu-v5e": Device(kernel=1e-6, question=1e-6, byte=1 / 819e9, unit=8 / 197e12),
}


@dataclass(frozen=True)
class Pass:
    """What it takes to run each block once; ``seconds`` in all."""

    kernels: float
    questions: float
    bytes: int
    seconds: float


@dataclass(frozen=True)
class Cost:
    """What a machine is expected to cost on a device, by dispatch; ``dispatch``: that of "auto"."""

    device: str
    lanes: int
    passes: Mapping[str, Pass]
    dispatch: str

    def __str__(self) -> str:
        lines = [f"a pass over all blocks, {self.lanes} lanes, {self.device}: expected"]
        for name, each in self.passes.items():
            chosen = "  <- auto" if name == self.dispatch else ""
            lines.append(
                f"  {name:12}{1e6 * each.seconds:10,.0f} us  {each.kernels:5.0f} kernels  "
                f"{each.questions:6.2f} questions  {each.bytes / 2**20:8,.1f} MiB{chosen}"
            )
        return "\n".join(lines)


def cost(machine: Machine, name: str) -> Cost:
    """Raises SettingError for a device that has no model."""
    if name not in DEVICES:
        raise errors.SettingError(f"There is no model of {name!r}; there are {', '.join(map(repr, DEVICES))}.")
    device, blocks = DEVICES[name], range(machine.halt)
    moved, products = _bytes(machine, blocks), sum(machine.stored.products[i] for i in blocks)
    computing = _computing(machine, blocks, device)

    def a_pass(kernels: float, questions: float) -> Pass:
        return Pass(kernels, questions, moved, kernels * device.kernel + questions * device.question + computing)

    passes = {
        "rounds": a_pass(MASKED * len(blocks) + products, 1 / ROUNDS),
        "guarded": a_pass(ASKED * len(blocks) + products, 2 * len(blocks) + 1),
    }
    return Cost(name, sizes.lanes(machine), passes, _best(passes, computing))


def _best(passes: Mapping[str, Pass], computing: float) -> str:
    """Guards let a block wait until many lanes do, so that each runs less often."""
    spared = (1 - POPULATED) * computing
    asked = POPULATED * (passes["guarded"].seconds - computing)
    return "rounds" if passes["rounds"].seconds - computing + spared < asked else "guarded"


def dear(machine: Machine, blocks: Sequence[int]) -> int | None:
    """The one of these blocks, if there is one, that takes longer in a round than the others together."""
    device = DEVICES[here() or "h100"]
    seconds = {
        i: (MASKED + machine.stored.products[i]) * device.kernel + _computing(machine, [i], device) for i in blocks
    }
    longest = max(seconds, key=seconds.__getitem__, default=None)
    others = sum(seconds[i] for i in blocks if i != longest)
    return longest if longest is not None and 0 < others < seconds[longest] else None


def _bytes(machine: Machine, blocks: Sequence[int]) -> int:
    """What all lanes read and write in these."""
    stored = [machine.stored.blocks[i] for i in blocks]
    return sizes.lanes(machine) * sum(
        _size(leaf, machine) for block in stored for leaf in (*block.reads, *block.writes)
    )


def _size(leaf: Leaf, machine: Machine) -> int:
    type_ = leaf_type(leaf, machine.typed.types)
    return math.prod(type_.shape) * type_.dtype.size


def _computing(machine: Machine, blocks: Sequence[int], device: Device) -> float:
    """Seconds for the arithmetic of these, or for what it moves."""
    work = sizes.lanes(machine) * sum(machine.stored.costs[i] for i in blocks)
    return max(_bytes(machine, blocks) * device.byte, work * device.unit)


def here() -> str | None:
    """The device that TensorFlow works on by default, if it has a model."""
    current: Any = eager_context.context()
    return "h100" if tf.config.list_logical_devices("GPU") and "CPU" not in (current.device_name or "") else None
