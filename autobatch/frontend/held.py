"""What exceptions hold, where some clause reads it: ``raise E(x)`` makes the object too, which the clause gets.

    raise Short(x)      ->    held = Short(x)            in a variable by the name of its class, which callers get too
                              raise Short(x)
    except Short as e:        except Short: e = held

An exception of Python's that an operation may raise as well is of a class of our own below it where it is raised by
``raise``: what that of an operation holds is not kept.
"""

from __future__ import annotations

import functools
import re
from types import FunctionType

import gast

from autobatch import ir
from autobatch.context import is_users
from autobatch.frontend.syntax import support
from autobatch.frontend.trees import copy_of

# What operations raise for members.
RAISED = (ZeroDivisionError, OverflowError, IndexError, KeyError, ValueError, AssertionError, StopIteration)


def variable(kind: type) -> str:
    """Which holds what is raised of the class."""
    return ir.HELD + re.sub(r"\W", "_", f"{kind.__module__}_{kind.__qualname__}")


@functools.cache
def by_statement(kind: type) -> type:
    """The class of what ``raise`` raises of ``kind``."""
    if kind not in RAISED:
        return kind
    return type(kind.__name__, (kind,), {"__module__": kind.__module__, "__qualname__": kind.__qualname__})


def own_init(kind: type) -> FunctionType | None:
    """The ``__init__`` of the user's."""
    init = kind.__init__  # type: ignore[misc]
    return init if isinstance(init, FunctionType) and is_users(init.__code__) else None


def without_texts(call: gast.Call) -> list[gast.AST]:
    """The arguments of an exception; what texts say is not kept."""
    return [support("untold", [], each) if is_text(each) else copy_of(each) for each in call.args]


def says(node: gast.AST, name: str) -> bool:
    """Whether this asks for the text of the exception of this name."""
    match node:
        case gast.FormattedValue(value=value):
            found = [value]
        case gast.Call(func=gast.Name(id="str" | "repr" | "format" | "print") | gast.Attribute(), args=args):
            found = args
        case gast.BinOp(op=gast.Mod(), left=gast.Constant(value=str()), right=right):
            found = [right, *getattr(right, "elts", [])]
        case _:
            return False
    return any(isinstance(each, gast.Name) and each.id == name for each in found)


def is_text(node: gast.AST) -> bool:
    """Whether this makes a text, as far as is plain to see."""
    match node:
        case gast.JoinedStr() | gast.Constant(value=str()):
            return True
        case gast.BinOp(op=gast.Mod() | gast.Add(), left=left, right=right):
            return is_text(left) or is_text(right)
        case gast.Call(func=gast.Name(id="str" | "repr" | "format")):
            return True
        case gast.Call(func=gast.Attribute(value=owner, attr="format" | "join")):
            return is_text(owner)
    return False
