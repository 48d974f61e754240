"""Pictures of programs: control-flow graphs in Graphviz' language."""

from __future__ import annotations

from autobatch import ir


def to_dot(program: ir.Program | ir.StackProgram) -> str:
    """The control-flow graphs, a cluster for each function (or one for a merged stack program)."""
    if isinstance(program, ir.Program):
        clusters = [(f.name, f"{f.name}({', '.join(f.inputs)})", f.blocks) for f in program.functions]
    else:
        clusters = [("program", f"program({', '.join(program.inputs)})", program.blocks)]
    lines = ["digraph {", '  node [shape=box, fontname="monospace"];']
    for k, (name, title, blocks) in enumerate(clusters):
        lines += [f"  subgraph cluster_{k} {{", f"    label={_quoted(title)};"]
        lines += [f"    {_node(name, i)} [label={_label(i, block)}];" for i, block in enumerate(blocks)]
        lines.append("  }")
        lines += [f"  {edge}" for i, block in enumerate(blocks) for edge in _edges(name, i, block.terminator)]
    return "\n".join([*lines, "}"])


def _node(name: str, block: int) -> str:
    return _quoted(f"{name} {block}")


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\l")
    return f'"{escaped}"'


def _label(i: int, block: ir.Block) -> str:
    return _quoted("\n".join([f"block {i}", *map(str, block.ops), str(block.terminator), ""]))


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
    return [
        f"{_node(name, i)} -> {_node(name, target)}" + (f" [label={_quoted(label)}];" if label else ";")
        for target, label in targets.items()
    ]
