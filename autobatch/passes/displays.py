"""A tuple's display that goes to several variables at once, as copies and the rest.

a, b, c = (x, n + 1, None)   ->   b.made = n + 1
                                  c.made = None
                                  a, b, c = x, b.made, c.made
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from autobatch import ir


def with_copies(program: ir.Program) -> ir.Program:
    """The program in which what a display only hands on is copied."""
    functions = []
    for f in program.functions:
        blocks = [replace(b, ops=tuple(part for op in b.ops for part in _parts(op))) for b in f.blocks]
        functions.append(replace(f, blocks=tuple(blocks)))
    return replace(program, functions=tuple(functions))


def _parts(op: ir.LocalOp) -> list[ir.LocalOp]:
    if not isinstance(op, ir.Primitive) or len({*op.outputs}) < 2 or len({*op.outputs}) < len(op.outputs):
        return [op]
    items = _items(op.function.template)
    if op.function.kind != "member" or len(items) != len(op.outputs) or not any(map(_is_copy, items)):
        return [op]
    sources, before = [], list[ir.LocalOp]()
    for k, (output, item) in enumerate(zip(op.outputs, items, strict=True)):
        if _is_copy(item):
            sources.append(op.inputs[int(item[1:-1])])
        else:
            sources.append(f"{output}.made")
            before.append(_made(op, k, item, sources[-1]))
    return [*before, replace(op, function=ir.copies(len(sources)), inputs=tuple(sources))]


def _made(op: ir.Primitive, k: int, item: str, output: str) -> ir.Primitive:
    """One item of the display by itself."""
    used = [int(each) for each in dict.fromkeys(re.findall(r"«(\d+)»", item))]
    template = re.sub(r"«(\d+)»", lambda found: f"«{used.index(int(found[1]))}»", item)
    function = replace(op.function, template=template, call=_item(op.function.call, k, used, len(op.inputs)))
    return replace(op, outputs=(output,), function=function, inputs=tuple(op.inputs[each] for each in used))


def _item(call: Callable, k: int, used: Sequence[int], count: int) -> Callable:
    def item(*given: Any) -> Any:
        inputs: list[Any] = [None] * count
        for each, value in zip(used, given, strict=True):
            inputs[each] = value
        return call(*inputs)[k]

    return item


def _is_copy(item: str) -> bool:
    return re.fullmatch(r"«\d+»", item) is not None


@functools.cache
def _items(template: str) -> tuple[str, ...]:
    """The items of a display in their own text; none, if it is no display."""
    text = template.replace("«", "ab__").replace("»", "__ab")
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError:  # a template need not be Python's
        return ()
    items = tree.elts if isinstance(tree, ast.Tuple) else []
    if any(isinstance(each, ast.Starred) for each in items):
        return ()
    return tuple(re.sub(r"ab__(\d+)__ab", "«\\1»", ast.get_source_segment(text, each) or "") for each in items)
