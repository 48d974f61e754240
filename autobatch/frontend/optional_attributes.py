"""Attributes that are None for some members: what is read or set is a variable, which may be (``passes/nones.py``).

return self.last        if attribute_is_none(self, "last"): value = None
                        else: value = attribute_if_any(self, "last")
                        return value
self.last = x           if x is None: self = setattr_(self, "last", None)
                        else: self = setattr_(self, "last", x)
"""

from __future__ import annotations

import gast

from autobatch import context
from autobatch.frontend.scope import UNKNOWN
from autobatch.frontend.special_methods import SpecialMethods
from autobatch.frontend.syntax import as_load, assign, constant, is_support, load, support
from autobatch.frontend.trees import walk

_MAY_BE_NONE = (gast.Name, gast.Attribute, gast.Subscript, gast.Call, gast.IfExp, gast.BoolOp)


class OptionalAttributes(SpecialMethods):
    def on_Attribute(self, node: gast.Attribute) -> gast.AST:
        if not self.is_optional(node) or self.methods(node.attr, of_property=True, at=node):
            return super().on_Attribute(node)
        owner = self.expression(node.value)
        owner = owner if self.is_variable(owner) else self.temporary(owner, "object")
        name = constant(node.attr, node)
        test = self.temporary(support("attribute_is_none", [owner, name], node), "cond")
        value = self.fresh("value")
        found = assign(value, support("attribute_if_any", [as_load(owner), name], node), node)
        self.emit(gast.If(test=test, body=[assign(value, constant(None, node), node)], orelse=[found]), node)
        return load(value, node)

    def is_optional(self, node: gast.AST) -> bool:
        if not isinstance(node, gast.Attribute) or node.attr not in context.optional_attributes():
            return False
        return self.static_value(node) is UNKNOWN

    def may_run_early(self, node: gast.AST) -> bool:
        return super().may_run_early(node) and not any(map(self.is_optional, walk(node)))

    def sets_optional(self, node: gast.AST) -> bool:
        """Whether ``setattr_(p, name, value)`` sets what may be None to what may be None."""
        match node:
            case gast.Call(
                func=gast.Attribute(attr="setattr_") as function, args=[_, gast.Constant(value=name), value]
            ):
                is_optional = is_support(function) and name in context.optional_attributes()
                return is_optional and isinstance(value, _MAY_BE_NONE)
        return False

    def set_optional(self, target: gast.Name, node: gast.Call) -> None:
        owner, name, value = node.args
        value = self.expression(value)
        value = value if self.is_variable(value) else self.temporary(value, "value")
        test = self.temporary(support("is_", [value, constant(None, node)], node), "cond")
        arms = [
            [assign(target.id, support("setattr_", [as_load(owner), name, part], node), node)]
            for part in (constant(None, node), as_load(value))
        ]
        self.emit(gast.If(test=test, body=arms[0], orelse=arms[1]), node)
