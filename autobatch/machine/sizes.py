"""How large a machine is, by which it is chosen how it works."""

from __future__ import annotations

import math
from collections.abc import Iterable

from autobatch import ir
from autobatch.ir.leaves import Leaf, leaf_type, leaves_of
from autobatch.machine.blocks import Machine

USUAL = 256  # lanes of a machine of which they are not known


def lanes(machine: Machine) -> int:
    """How many it has, or a guess."""
    return machine.size if isinstance(machine.size, int) else USUAL


def lane_bytes(machine: Machine) -> int:
    """How much of the state is one lane's, but for what it touches by single items."""
    types, stored = machine.typed.types, machine.stored
    ops = (op for block in machine.program.blocks for op in block.ops if isinstance(op, ir.Update))
    written = (op.outputs[0] for op in ops if op.function.kind == "write")
    by_item = {stored.registers.get(leaf) for v in written for leaf in leaves_of(v, types)}
    registers = [leaf for leaf in machine.registers if leaf not in by_item]
    return _bytes(machine, registers) + (machine.depth + 1) * _bytes(machine, stored.stacked)


def member_bytes(machine: Machine) -> int:
    """What a member is given and what it returns."""
    variables = (*machine.program.inputs, *machine.program.outputs)
    return _bytes(machine, [leaf for v in variables for leaf in leaves_of(v, machine.typed.types)])


def _bytes(machine: Machine, leaves: Iterable[Leaf]) -> int:
    types = (leaf_type(leaf, machine.typed.types) for leaf in leaves)
    return sum(math.prod(type_.shape) * type_.dtype.size for type_ in types)
