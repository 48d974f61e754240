"""A program's text as functions, batched and plain, and how their results are compared."""

from __future__ import annotations

import itertools
import linecache
import sys
import types
from typing import Any

import numpy as np
import tensorflow as tf

import autobatch as ab
from autobatch.errors import AutobatchError, MemberError

AGREED, REFUSED = "agreed", "refused"  # or "refused (kind)"
INTERPRETED = {"backend": "local_static", "jit_compile": False}
PLAIN = types.SimpleNamespace(autobatch=lambda f: f, unroll=list)  # autobatch, for Python
_number = itertools.count()
sys.modules["random_program"] = types.ModuleType("random_program")  # in which dataclasses look


def batched(text: str, **scope: Any) -> dict[str, Any]:
    """The program's globals, whose functions' source can be read as a file's can."""
    name = f"<random program {next(_number)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope = {"ab": ab, "tf": tf, "np": np, "__name__": "random_program", **scope}
    exec(compile(text, name, "exec"), scope)
    return scope


def plain(text: str, **scope: Any) -> dict[str, Any]:
    """The program's globals as plain Python makes them."""
    scope = {"ab": PLAIN, "tf": tf, "np": np, "__name__": "random_program", **scope}
    exec(text, scope)
    return scope


def outcome(function: Any, *args: Any) -> Any:
    """What plain Python returns, or the exception that it raises."""
    try:
        with np.errstate(all="ignore"):
            return function(*args)
    except Exception as error:
        return error


def compare(
    function: Any, args: tuple, expected: list, may_fail: Any = lambda z: False, may_be: Any = lambda z: ()
) -> str:
    """Whether the batch agrees with each member's outcome, or was refused by an error of the library's own class.

    may_fail, may_be: whether a member may fail, and what its result may be else.
    """
    try:
        results, failed = function(*args), ()
    except MemberError as error:
        results, failed = error.results, error.members
    except AutobatchError as error:
        return f"{REFUSED} ({error.kind})"
    except Exception as error:  # which Python raises of known values, for all
        if all(isinstance(value, Exception) for value in expected) and type(error) in map(type, expected):
            return AGREED
        raise
    for z, value in enumerate(expected):
        if z in failed:
            assert isinstance(value, Exception) or may_fail(z), f"member {z} fails; Python: {value}"
        else:
            one = of_member(results, z)
            right = is_one(one, value) or any(is_one(one, each) for each in may_be(z))
            assert right, f"member {z}: {one}; Python: {value!r}"
    return AGREED


def against_python(text: str, args: tuple) -> str:
    """Compares what the program's ``f`` gives for a batch of numbers with plain Python, exceptions included."""
    f = plain(text)["f"]
    expected = [outcome(f, *(arg[z].item() for arg in args)) for z in range(len(args[0]))]
    return compare(batched(text)["f"].options(**INTERPRETED), args, expected)


def is_one(found: Any, expected: Any) -> bool:
    return not isinstance(expected, Exception) and same(found, expected)


def of_member(results: Any, z: int) -> Any:
    """One member's part of a batched result."""
    return tf.nest.map_structure(lambda leaf: _row(leaf, z), results)


def _row(leaf: Any, z: int) -> Any:
    if not isinstance(leaf, tf.RaggedTensor):
        return np.asarray(leaf)[z]
    return leaf[z].to_list() if isinstance(leaf[z], tf.RaggedTensor) else [*leaf[z].numpy()]


def same(found: Any, expected: Any) -> bool:
    """Whether values are equal, floats nearly; widths may differ, and an int be a float, as another member's is one."""
    if isinstance(expected, list) and isinstance(found, tuple):  # a list of tuples comes as a tuple of ragged tensors
        found = list(zip(*found, strict=True))
    if isinstance(expected, list | tuple):
        return len(found) == len(expected) and all(map(same, found, expected))
    if isinstance(expected, str):
        return found == expected.encode()
    found, expected = np.asarray(found), np.asarray(expected)
    if found.shape != expected.shape:
        return False
    if "f" in (found.dtype.kind, expected.dtype.kind):
        return np.allclose(found.astype(float), expected.astype(float), rtol=2e-5, atol=1e-6, equal_nan=True)
    return found.dtype.kind in "iub" and np.array_equal(found.astype(object) + 0, expected.astype(object) + 0)
