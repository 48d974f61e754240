"""``docs/errors.md``: what each kind of message says, the smallest program that gets it, what to write instead."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autobatch import errors

ROOT = Path(__file__).parent.parent / "autobatch"
INTRODUCTION = """# Errors

Every message of this library ends with a short name in brackets. Here is a section for each: a smallest program that
gets it, and what the message says, with what to write instead. (`make golden` writes this page from the tests.)

All are subclasses of `autobatch.errors.AutobatchError`, and have it as `error.kind`. Tracebacks show your own
frames and the call that failed; `AUTOBATCH_TRACEBACK=full` in the environment shows the library's and TensorFlow's too,
with the errors that an error came from."""


def classes() -> dict[str, type[errors.AutobatchError]]:
    """By the short name of the messages that have none of their own."""
    found = (value for value in vars(errors).values() if isinstance(value, type))
    return {errors.usual_kind(c): c for c in found if issubclass(c, errors.AutobatchError)}


def said_in_the_code() -> dict[str, tuple[str, str]]:
    """For each short name the message and the help, as far as they are the same for all programs."""
    found: dict[str, tuple[str, str]] = {}
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            name = ast.unparse(node.func).split(".")[-1] if isinstance(node, ast.Call) else ""
            if not name.endswith(("Error", "refuse", "_Refused", "refusal")):
                continue
            given = {keyword.arg: keyword.value for keyword in node.keywords}
            match name:
                case "_Refused":
                    what, help, kind = node.args
                case "refusal" if len(node.args) == 4:
                    _, what, help, kind = node.args
                case "refuse" | "refusal":
                    (_, what, help, *_), kind = node.args, given.get("kind")
                case _:
                    what, kind = node.args[0] if node.args else None, given.get("kind")
                    help = given.get("help", node.args[2] if len(node.args) > 2 else None)
            if isinstance(kind, ast.Constant):
                start = "" if name.endswith("Error") else "autobatch does not support "
                end = "" if name.endswith("Error") else "."
                found.setdefault(kind.value, (start + _text(what) + end, _text(help)))
    return found


def _text(node: ast.AST | None) -> str:
    match node:
        case ast.Constant(value):
            return str(value)
        case ast.JoinedStr(parts):
            return re.sub("…+", "…", "".join(_text(part) if isinstance(part, ast.Constant) else "…" for part in parts))
        case _:
            return ""


def page(caught: Mapping[Any, errors.AutobatchError]) -> str:
    """The page, from functions and the errors that they get."""
    first: dict[str, Any] = {}
    for function, error in caught.items():
        if "," not in error.kind:
            first.setdefault(error.kind, function)
    said = said_in_the_code()
    parts = [INTRODUCTION, "## Of the language"]
    for kind in sorted((first.keys() | said.keys()) - classes().keys()):
        if kind in first:
            error = caught[first[kind]]
            source = re.sub(r" *# (here|noqa.*)", "", textwrap.dedent(inspect.getsource(first[kind]))).rstrip()
            parts.append(f"### {kind}\n\n`{type(error).__name__}`\n\n```py\n{source}\n```")
            parts.append(_message(error.message, error.help))
        else:
            parts += [f"### {kind}", _message(*said[kind])]
    parts.append("## Of calls, members and settings")
    for kind, one in sorted(classes().items()):
        parts.append(f"### {kind}\n\n`{one.__name__}`: {' '.join(inspect.getdoc(one).split(chr(10) * 2)[0].split())}")
    return "\n\n".join(parts)


def _message(message: str, help: str) -> str:
    lines = [message, *([f"help: {help}"] if help else [])]
    wrapped = [textwrap.fill(line, 72, break_long_words=False, break_on_hyphens=False) for line in lines]
    return "\n".join(["```text", *wrapped, "```"])
