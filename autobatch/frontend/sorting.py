"""``sorted``, ``sort``, ``min`` and ``max`` by a key: the keys are a list that a comprehension makes.

sorted(points, key=lambda p: p[0])        points = list(points); keys = [p[0] for p in points]
                                          sorted_by(points, keys)
"""

from __future__ import annotations

import builtins

import gast

from autobatch.frontend.reductions import Reductions
from autobatch.frontend.syntax import constant, load, parameter_names, renamed, store, support
from autobatch.language import operators

_OPERATORS = {builtins.sorted: "sorted_by", builtins.min: "min_by", builtins.max: "max_by"}


class Sorting(Reductions):
    def on_Call(self, node: gast.Call) -> gast.AST:
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        function = self.static_value(node.func)
        key = given.pop("key", None)
        if key is None or getattr(key, "value", key) is None or not self.has_local(node):
            return super().on_Call(node)
        if function is operators.sort:
            values, *_ = node.args
            call = support("sort_by", [values, self.keys(key, values, node), *given.values()], node)
            return super().on_Call(call)
        known = next((each for each in _OPERATORS if each is function), None)
        if known is None or len(node.args) != 1 or not given.keys() <= {"reverse"}:
            return super().on_Call(node)
        callee = self.callee(key)
        if known is not builtins.sorted and callee is not None and callee.captured:
            values, keys = self.values_and_keys(key, node.args[0], node)
        else:
            listed = gast.Call(func=support("list_", [], node).func, args=node.args, keywords=[])
            values = self.temporary(self.expression(gast.copy_location(listed, node)), "values")
            keys = self.keys(key, values, node)
        return support(_OPERATORS[known], [values, keys, *map(self.expression, given.values())], node)

    def values_and_keys(self, key: gast.AST, values: gast.AST, at: gast.Call) -> list[gast.AST]:
        """Variables that hold the values, each as it is when it is asked for its key, and these keys."""
        name, pair = self.fresh("item"), self.fresh("pair")
        item = load(name, at)
        call = gast.copy_location(gast.Call(func=key, args=[item], keywords=[]), key)
        both = gast.copy_location(gast.Tuple(elts=[item, call], ctx=gast.Load()), key)
        pairs = self.temporary(self.expression(_listed(both, name, values, key)), "pairs")
        sides = [gast.Subscript(value=load(pair, at), slice=constant(k, at), ctx=gast.Load()) for k in range(2)]
        made = [_listed(gast.copy_location(side, key), pair, pairs, key) for side in sides]
        return [self.temporary(self.expression(side), "side") for side in made]

    def keys(self, key: gast.AST, values: gast.AST, at: gast.Call) -> gast.AST:
        """A variable that holds the key of each value."""
        item = self.fresh("item")
        if isinstance(key, gast.Lambda) and len(parameter_names(key.args)) == 1:
            each = renamed(key.body, {parameter_names(key.args)[0]: item})
        else:
            each = gast.copy_location(gast.Call(func=key, args=[load(item, at)], keywords=[]), key)
        return self.temporary(self.expression(_listed(each, item, values, key)), "keys")


def _listed(element: gast.AST, item: str, values: gast.AST, at: gast.AST) -> gast.AST:
    """``[element for item in values]``"""
    generator = gast.comprehension(target=store(item, at), iter=values, ifs=[], is_async=0)
    return gast.copy_location(gast.ListComp(elt=element, generators=[generator]), at)
