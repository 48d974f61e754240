"""Pictures of programs: control-flow graphs in Graphviz' language, and drawn by it."""

from __future__ import annotations

import html
from collections.abc import Iterator

from autobatch import errors, ir

CALLS = "#e5e0f6"  # behind what calls and returns
SAVES, RESTORES = "#fde3c4", "#d3eaf7"  # behind pushes, and pops
GREY = "#6b6f76"


def to_dot(program: ir.Program | ir.StackProgram) -> str:
    """The control-flow graphs, a cluster for each function (or one for a merged stack program).

    Above what a line of the source became stands the line.
    """
    if isinstance(program, ir.Program):
        clusters = [(f.name, f"{f.name}({', '.join(f.inputs)})", f.blocks) for f in program.functions]
    else:
        clusters = [("program", f"program({', '.join(program.inputs)})", program.blocks)]
    lines = ["digraph {", '  node [shape=box, fontname="monospace", fontsize=10, margin="0.08,0.05"];']
    lines += ['  edge [fontname="monospace", fontsize=9, color="#6b6f76"];', '  graph [fontname="monospace"];']
    for k, (name, title, blocks) in enumerate(clusters):
        lines += [f"  subgraph cluster_{k} {{", f'    label={_quoted(title)}; color="#c9ccd1";']
        lines += [f"    {_node(name, i)} [label=<{_label(i, block)}>];" for i, block in enumerate(blocks)]
        lines.append("  }")
        lines += [f"  {edge}" for i, block in enumerate(blocks) for edge in _edges(name, i, block.terminator)]
    return "\n".join([*lines, "}"])


def to_svg(program: ir.Program | ir.StackProgram) -> str:
    """The picture that Graphviz makes of ``to_dot``.

    Raises MissingPackageError if pygraphviz is not installed.
    """
    try:
        import pygraphviz
    except ImportError:
        raise errors.MissingPackageError(
            "to_svg needs Graphviz.", help='pip install "autobatch[pictures]"; to_dot() needs nothing.'
        ) from None
    drawn = pygraphviz.AGraph(string=to_dot(program)).draw(format="svg", prog="dot")
    assert drawn is not None
    return drawn.decode()


def _node(name: str, block: int) -> str:
    return _quoted(f"{name} {block}")


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _label(i: int, block: ir.Block) -> str:
    rows = [f"<tr><td align='left'><b>block {i}</b></td></tr>", *_operations(block), _terminator(block.terminator)]
    return f"<table border='0' cellborder='0' cellspacing='0' cellpadding='1'>{''.join(rows)}</table>"


def _operations(block: ir.Block) -> Iterator[str]:
    above = None
    for op in block.ops:
        place = (op.location.file, op.location.line)
        if place != above:
            above = place
            yield _row(f"{place[1]}: {op.location.source.strip()}", color=GREY)
        match op:
            case ir.Push():
                yield _row(f"  {op}", SAVES)
            case ir.Pop():
                yield _row(f"  {op}", RESTORES)
            case ir.Call():
                yield _row(f"  {op}", CALLS)
            case _:
                yield _row(f"  {op}")


def _terminator(terminator: ir.Terminator) -> str:
    marked = isinstance(terminator, ir.PushJump) or ir.may_return(terminator)
    return _row(str(terminator), CALLS if marked else "")


def _row(text: str, background: str = "", color: str = "") -> str:
    shown = html.escape(text).replace("  ", "&#160;&#160;")
    shown = f"<font color='{color}'>{shown}</font>" if color else shown
    return f"<tr><td align='left'{f' bgcolor={background!r}' if background else ''}>{shown}</td></tr>"


def _edges(name: str, i: int, terminator: ir.Terminator) -> list[str]:
    match terminator:
        case ir.Jump(target):
            targets = {target: ""}
        case ir.Branch(_, true, false):
            targets = {target: label for target, label in ((true, "true"), (false, "false")) if target != ir.RETURN}
        case ir.PushJump(_, return_to) as call:
            targets = dict.fromkeys(call.targets, "call") | {return_to: "return"}
        case _:
            return []
    style = {"call": ", style=dashed", "return": ", style=dotted"}
    return [
        f"{_node(name, i)} -> {_node(name, target)}"
        + (f" [label={_quoted(label)}{style.get(label, '')}];" if label else ";")
        for target, label in targets.items()
    ]
