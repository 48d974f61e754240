"""Splits each variable into its webs: sets of assignments that some read cannot tell apart.

A name that is used again for something else (``x = tf.cast(x, tf.float32)``) becomes two variables, each with
a type of its own, and neither lives longer than it must.
"""

from __future__ import annotations

from dataclasses import replace

from autobatch import ir
from autobatch.ir.flow import reachable, reaching

_Web = tuple[str, int, int]  # variable, and block and operation of one of its definitions


class _UnionFind:
    def __init__(self) -> None:
        self.parent: dict[_Web, _Web] = {}

    def find(self, web: _Web) -> _Web:
        parent = self.parent.setdefault(web, web)
        if parent != web:
            parent = self.parent[web] = self.find(parent)
        return parent

    def union(self, a: _Web, b: _Web) -> None:
        first, second = sorted((self.find(a), self.find(b)))
        self.parent[second] = first


def split_webs(program: ir.Program) -> ir.Program:
    """Renames variables so that each has one web; the first web of a name keeps it."""
    return replace(program, functions=tuple(map(_split, program.functions)))


def _split(function: ir.Function) -> ir.Function:
    before, live, union = reaching(function), reachable(function.blocks), _UnionFind()
    inputs = set(function.inputs)

    def web(variable: str, definitions: frozenset) -> _Web:
        """The web that a read belongs to; a path that leaves the variable unset does not count."""
        real = [d for d in sorted(definitions) if d != (0, -1) or variable in inputs] or [(0, -1)]
        for d in real[1:]:
            union.union((variable, *real[0]), (variable, *d))
        return (variable, *real[0])

    use: dict[tuple[int, int], dict[str, _Web]] = {}  # by block and operation; -1 for the terminator
    for i in sorted(live):
        now = dict(before[i])
        for k, op in enumerate(function.blocks[i].ops):
            use[i, k] = {v: web(v, now[v]) for v in ir.reads(op)}
            now |= {v: frozenset({(i, k)}) for v in ir.writes(op)}
        terminator = function.blocks[i].terminator
        wanted = function.outputs if isinstance(terminator, ir.Return) else ()
        wanted = (terminator.condition,) if isinstance(terminator, ir.Branch) else wanted
        use[i, -1] = {v: web(v, now[v]) for v in wanted}
    exits = [i for i in sorted(live) if isinstance(function.blocks[i].terminator, ir.Return)]
    for v in function.outputs:  # what the returns return is one variable
        for i in exits[1:]:
            union.union(use[exits[0], -1][v], use[i, -1][v])

    names = _Names(union, inputs)
    for v in function.inputs:
        names.of((v, 0, -1))
    outputs = tuple(names.of(use[exits[0], -1][v]) for v in function.outputs) if exits else function.outputs
    blocks = []
    for i, block in enumerate(function.blocks):
        if i not in live:
            blocks.append(ir.Block((), ir.Return()))
            continue
        ops = [_renamed(op, use[i, k], (i, k), names) for k, op in enumerate(block.ops)]
        terminator = block.terminator
        if isinstance(terminator, ir.Branch):
            terminator = replace(terminator, condition=names.of(use[i, -1][terminator.condition]))
        blocks.append(ir.Block(tuple(ops), terminator))
    return replace(function, blocks=tuple(blocks), outputs=outputs)


class _Names:
    def __init__(self, union: _UnionFind, inputs: set[str]):
        self.union, self.names, self.count = union, dict[_Web, str](), dict[str, int]()

    def of(self, web: _Web) -> str:
        root = self.union.find(web)
        if root not in self.names:
            k = self.count[root[0]] = self.count.get(root[0], -1) + 1
            self.names[root] = f"{root[0]}.{k}" if k else root[0]
        return self.names[root]


def _renamed(op: ir.LocalOp, uses: dict[str, _Web], at: tuple[int, int], names: _Names) -> ir.LocalOp:
    inputs = tuple(names.of(uses[v]) for v in op.inputs)
    return replace(op, inputs=inputs, outputs=tuple(names.of((v, *at)) for v in op.outputs))
