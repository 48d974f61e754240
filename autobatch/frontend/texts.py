"""Texts with members' values in them, which are put together once it is known which members to show."""

from __future__ import annotations

import builtins
import re
import string

import gast

from autobatch.frontend.expressions import Expressions
from autobatch.frontend.syntax import Statements, thunk

_OLD_STYLE = re.compile(r"%([-+ 0#]*\d*)(\.\d+)?([sdiufFeEgGxXr%])")


def escaped(text: str) -> str:
    """The text as ``str.format`` takes it."""
    return text.replace("{", "{{").replace("}", "}}")


class Texts(Expressions):
    """A text becomes one for ``str.format``, and the values for its fields."""

    def text(self, node: gast.AST, values: list[gast.AST]) -> str:
        """The expression as a text for ``str.format``; the values for its fields are added to ``values``."""
        match node:
            case gast.Constant(value=str(said)):
                return escaped(said)
            case gast.JoinedStr():
                return "".join(self.text(part, values) for part in node.values)
            case gast.FormattedValue():
                conversion = f"!{chr(node.conversion)}" if node.conversion >= 0 else ""
                spec = "" if node.format_spec is None else self.text(node.format_spec, values)
                return self.field(node.value, values, conversion, spec and f":{spec}")
            case gast.BinOp(op=gast.Add()) if self.is_text(node.left) or self.is_text(node.right):
                return self.text(node.left, values) + self.text(node.right, values)
            case gast.BinOp(op=gast.Mod(), left=gast.Constant(value=str(template))):
                right = node.right.elts if isinstance(node.right, gast.Tuple) else [node.right]
                return self.old_style(template, list(right), values) or self.field(node, values)
            case gast.Call(func=gast.Attribute(value=gast.Constant(value=str(template)), attr="format")):
                return self.formatted(template, node, values) or self.field(node, values)
            case gast.Call(args=[value], keywords=[]) if self.static_value(node.func) is builtins.str:
                return self.field(value, values)
            case _:
                return self.field(node, values)

    def field(self, node: gast.AST, values: list[gast.AST], conversion: str = "", spec: str = "") -> str:
        values.append(node)
        return f"{{{len(values) - 1}{conversion}{spec}}}"

    def is_text(self, node: gast.AST) -> bool:
        """Whether this is a text for sure."""
        match node:
            case gast.Constant(value=str()) | gast.JoinedStr():
                return True
            case gast.BinOp(op=gast.Add()):
                return self.is_text(node.left) or self.is_text(node.right)
            case gast.BinOp(op=gast.Mod()):
                return self.is_text(node.left)
            case gast.Call(func=gast.Attribute(value=gast.Constant(value=str()), attr="format")):
                return True
            case gast.Call():
                return self.static_value(node.func) in (builtins.str, builtins.repr)
            case _:
                return False

    def old_style(self, template: str, arguments: list[gast.AST], values: list[gast.AST]) -> str:
        """``template % arguments``; empty if it is not simple."""
        found = list(_OLD_STYLE.finditer(template))
        if template.count("%") != sum(match[0].count("%") for match in found):
            return ""
        if sum(match[3] != "%" for match in found) != len(arguments):
            return ""
        text, at = "", 0
        for match in found:
            text, at = text + escaped(template[at : match.start()]), match.end()
            width, precision, kind = match.groups()
            if kind == "%":
                text += "%"
                continue
            plain = kind in "sdiur"
            spec = width if plain else f"{width}{precision or ''}{kind}"
            text += self.field(arguments.pop(0), values, "!r" if kind == "r" else "", spec and f":{spec}")
        return text + escaped(template[at:])

    def formatted(self, template: str, call: gast.Call, values: list[gast.AST]) -> str:
        """``template.format(...)``; empty if it is not simple."""
        given = {str(k): argument for k, argument in enumerate(call.args)}
        given |= {keyword.arg: keyword.value for keyword in call.keywords}
        text, count = "", 0
        for said, name, spec, conversion in string.Formatter().parse(template):
            text += escaped(said)
            if name is None:
                continue
            name, count = name or str(count), count + (not name)
            if name not in given or "{" in (spec or ""):
                return ""
            text += self.field(
                given[name], values, (conversion and f"!{conversion}") or "", (spec and f":{spec}") or ""
            )
        return text

    def shown(self, values: Statements, at: gast.AST) -> gast.AST:
        """A function of no arguments that makes a tuple of the values."""
        return self.in_scope(thunk(gast.copy_location(gast.Tuple(elts=values, ctx=gast.Load()), at)))
