"""Gives each assignment of a variable a version of its own, and the places where several meet another, as in SSA form.

    block 0: w = 'a'                        block 0: w.v2 = 'a'
             branch c 1 2                            w.v1 = w.v2
    block 1: w = w + 'b'            ->               branch c 1 2
             jump 2                         block 1: w.v3 = w.v2 + 'b'
    block 2: return w                                w.v1 = w.v3
                                                     jump 2
                                            block 2: w = w.v1
                                                     return

What reads ``w`` reads then only what gets there, and not what it makes itself: a text that grows from step to step is
another one at each.  After Cytron, Ferrante, Rosen, Wegman and Zadeck, "Efficiently computing static single assignment
form and the control dependence graph" (1991), with a version at each block where paths meet.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from autobatch import ir
from autobatch.ir.flow import liveness, predecessors, reachable

_VERSION = re.compile(r"\.v\d+")


def with_versions(program: ir.Program, name: str, variables: Collection[str]) -> ir.Program:
    """The program with versions of these variables of a function; itself if that is not to be had."""
    function = program[name]
    for variable in variables:
        if _may_have(function, variable):
            function = _Versions(function, variable).function_with()
    if function is program[name]:
        return program
    return replace(program, functions=tuple(function if f.name == name else f for f in program.functions))


def _may_have(found: ir.Function, variable: str) -> bool:
    written = sum(variable in ir.writes(op) for block in found.blocks for op in block.ops)
    enters = variable in found.inputs and (variable in found.outputs or any(predecessors(found.blocks)[0]))
    return written > 1 and not enters and not _VERSION.search(variable)


class _Versions:
    def __init__(self, function: ir.Function, variable: str):
        self.function, self.variable, self.count = function, variable, 0
        self.live = reachable(function.blocks)
        self.parents = [[p for p in each if p in self.live] for each in predecessors(function.blocks)]
        live_in, _ = liveness(function)
        joins = {i for i, each in enumerate(self.parents) if len(each) > 1 and variable in live_in[i]}
        self.at_join = {i: self.fresh() for i in sorted(joins & self.live)}
        self.blocks = list(function.blocks)
        self.at_end: dict[int, str | None] = {}

    def fresh(self) -> str:
        self.count += 1
        return f"{self.variable}.v{self.count}"

    def function_with(self) -> ir.Function:
        for i in sorted(self.live):
            self.end_of(i)
        for i in sorted(self.live):
            block, now = self.blocks[i], self.at_end[i]
            end = block.terminator
            copies = [self.copy(self.at_join[j], now, i) for j in ir.successors(end) if j in self.at_join and now]
            if isinstance(end, ir.Return) and self.variable in self.function.outputs and now != self.variable:
                copies += [self.copy(self.variable, now, i)] if now else []
            if isinstance(end, ir.Branch) and end.condition == self.variable:
                end = replace(end, condition=now or end.condition)
            self.blocks[i] = replace(block, ops=(*block.ops, *dict.fromkeys(copies)), terminator=end)
        return replace(self.function, blocks=tuple(self.blocks))

    def copy(self, target: str, source: str | None, i: int) -> ir.Primitive:
        ops = self.function.blocks[i].ops
        location = ops[-1].location if ops else self.function.location
        return ir.Primitive((target,), ir.COPY, (source or self.variable,), location)

    def end_of(self, i: int) -> str | None:
        """Renames a block's operations; the version at its end, None where there is none yet."""
        if i in self.at_end:
            return self.at_end[i]
        if i in self.at_join:
            now: str | None = self.at_join[i]
        elif self.parents[i]:
            self.at_end[i] = None  # of a block that is its own only parent
            now = self.end_of(self.parents[i][0])
        else:
            now = self.variable if self.variable in self.function.inputs else None
        ops = []
        for op in self.blocks[i].ops:
            read = tuple(now or v if v == self.variable else v for v in op.inputs)
            if self.variable in op.outputs:
                now = self.fresh()
            made = tuple(now or v if v == self.variable else v for v in op.outputs)
            ops.append(replace(op, inputs=read, outputs=made))
        self.blocks[i], self.at_end[i] = replace(self.blocks[i], ops=tuple(ops)), now
        return now
