"""Structures that ``tf.nest`` takes apart: the user's dataclasses, and the rows of a ragged argument."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, TypeVar

import tensorflow as tf

from autobatch import errors

T = TypeVar("T")


def struct(cls: T) -> T:
    """Makes a dataclass a structure of tensors, as tuples and dicts are: for variables, arguments, results.

        @ab.struct
        @dataclass(frozen=True)
        class Particle:
            position: tf.Tensor
            velocity: tf.Tensor

    ``tf.nest`` and ``tf.function`` take it apart too.  Putting it together again runs neither ``__init__`` nor
    ``__post_init__``.

    Raises TypeError if the class is not a dataclass.
    """
    if not (isinstance(cls, type) and dataclasses.is_dataclass(cls)):
        raise TypeError(f"ab.struct is for dataclasses: put it above @dataclass, not on {cls!r}")
    names = [field.name for field in dataclasses.fields(cls)]

    def flatten(self: Any) -> tuple[tuple, tuple]:
        if len(dataclasses.fields(self)) != len(names):
            raise errors.TypeMismatchError(
                f"`{type(self).__name__}` has other fields than `{cls.__name__}`, which @ab.struct knows.",
                help=f"put @ab.struct above `{type(self).__name__}` too.",
                kind="struct-subclass",
            )
        return (), tuple(getattr(self, name) for name in names)

    def unflatten(kind: type, metadata: tuple, components: tuple) -> Any:
        made = object.__new__(kind)
        for name, component in zip(names, components, strict=True):
            object.__setattr__(made, name, component)
        return made

    cls.__tf_flatten__ = flatten  # type: ignore[attr-defined]
    cls.__tf_unflatten__ = classmethod(unflatten)  # type: ignore[attr-defined]
    return cls  # type: ignore[return-value]


@struct
@dataclasses.dataclass(frozen=True, eq=False)
class Rows:
    """One member of a ``tf.RaggedTensor``: rows of one shape, as many as the member has.

    Attributes:
      padded: [most rows, ...]; what comes after the member's own rows means nothing.
      length: a Python int that differs between members.
    """

    padded: Any
    length: Any

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise errors.TypeMismatchError(
            "A ragged argument, whose number of rows differs between members, cannot be used as one tensor.",
            help="loop over its rows (for row in x), index it (x[i]), take its len(x); or pass a padded tensor.",
            kind="ragged-as-tensor",
        )

    @property
    def dtype(self) -> tf.DType:
        return self.padded.dtype

    shape = property(_refuse)


for _operator in (
    "add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "floordiv", "rfloordiv", "mod", "rmod", "pow",
    "rpow", "matmul", "rmatmul", "neg", "abs", "lt", "le", "gt", "ge", "eq", "ne", "bool", "iter", "contains", "and",
    "or",
):  # fmt: skip
    setattr(Rows, f"__{_operator}__", Rows._refuse)


tf.register_tensor_conversion_function(Rows, Rows._refuse)


def map_nodes(kind: type, change: Callable[[Any], Any], value: Any) -> Any:
    """The structure with each part of this class changed."""
    match value:
        case _ if isinstance(value, kind):
            return change(value)
        case dict():
            return {key: map_nodes(kind, change, part) for key, part in value.items()}
        case list() | tuple():
            parts = [map_nodes(kind, change, part) for part in value]
            return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)  # type: ignore[arg-type]
        case _ if tf.nest.is_nested(value) and hasattr(value, "__tf_flatten__"):
            metadata, components = value.__tf_flatten__()
            return type(value).__tf_unflatten__(metadata, tuple(map_nodes(kind, change, part) for part in components))
        case _:
            return value
