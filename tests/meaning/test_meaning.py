"""Each program of the families against plain Python, interpreted and compiled."""

import importlib.util
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

import autobatch as ab
from autobatch.errors import AutobatchError, MemberError
from tests.fuzz.running import batched, of_member

FAMILIES = (
    "numbers", "objects", "calls", "exceptions", "attempts", "helpers", "rounding", "reductions", "lists", "list_names",
    "sets", "nones", "generators", "instances", "augmented", "order", "heaps", "dicts", "in_turn", "turns", "sequences",
    "one_by_one", "acting", "met", "states", "chosen", "asked", "starred", "matched", "lambdas",
    "special_methods", "raised_again", "known_keys", "held", "types_of_calls", "optional_attributes", "kinds", "memos",
)  # fmt: skip
MODES = {"local_static": {"backend": "local_static", "jit_compile": False}, "program_counter": {}}


def loaded(family, plain):
    """The family's file as a module; plain: one in which the decorator does nothing."""
    path = Path(__file__).with_name(f"{family}.py")
    spec = importlib.util.spec_from_file_location(f"meaning_{family}{chr(95) * plain}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    real = ab.autobatch
    if plain:
        ab.autobatch = lambda function=None, **_: function or (lambda f: f)
    try:
        spec.loader.exec_module(module)
    finally:
        ab.autobatch = real
    return vars(module)


BATCHED = {family: loaded(family, plain=False) for family in FAMILIES}
PLAIN = {family: loaded(family, plain=True) for family in FAMILIES}
NAMES = [(family, name) for family in FAMILIES for name, f in BATCHED[family].items() if hasattr(f, "meant")]
# XLA's numbers are not TensorFlow's, and what changes in place lives elsewhere there.
COMPILED = [(family, name) for family, name in NAMES if not BATCHED[family][name].meant.refused]
# Of each three, `make check` runs the first.
RUNS = [
    pytest.param(*pair, "local_static", id="-".join(pair), marks=[pytest.mark.thorough] * (k % 3 > 0))
    for k, pair in enumerate(NAMES)
] + [
    pytest.param(*pair, "program_counter", id=f"{'-'.join(pair)}-compiled", marks=pytest.mark.compiles)
    for pair in COMPILED[::24]
]


def python_value(value):
    """One member's argument: a Python int or bool, a NumPy float, or an array of its own."""
    if np.ndim(value):
        return np.array(value)
    return np.float64(value) if value.dtype.kind == "f" else value.item()


def outcome(function, args, z):
    try:
        with np.errstate(all="ignore"):
            return function(*(python_value(arg[z]) for arg in args))
    except Exception as error:
        return error


@pytest.mark.parametrize(("family", "name", "mode"), RUNS)
def test_program(family, name, mode):
    function, plain = BATCHED[family][name], PLAIN[family][name]
    case = function.meant
    batched = ab.autobatch(function).options(**MODES[mode])
    args = [tf.constant(arg) for arg in case.args]
    if case.refused is not None:
        with pytest.raises(AutobatchError) as caught:
            batched(*args)
        assert caught.value.kind == case.refused
        return
    try:
        result, failed = batched(*args), ()
    except MemberError as error:
        result, failed = error.results, error.members
    for z in range(len(case.args[0])):
        expected = outcome(plain, case.args, z)
        if isinstance(expected, Exception) or z in case.fails:
            assert z in failed, (z, expected, result)
        else:
            assert z not in failed, (z, expected)
            assert_equal(of_member(result, z), expected)


def assert_equal(found, expected):
    if isinstance(expected, list) and isinstance(found, tuple):  # a list of tuples comes as a tuple of ragged tensors
        found = list(zip(*found, strict=True))
    if isinstance(expected, list | tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_equal(one, other)
        return
    if isinstance(expected, str | bytes):
        assert (found.decode() if isinstance(expected, str) else found) == expected
        return
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    assert found.dtype.kind in "iubf", (found, expected)  # an int is a float where another member has one
    if "f" in (found.dtype.kind, expected.dtype.kind):
        np.testing.assert_allclose(found.astype(float), expected.astype(float), rtol=1e-6)
    else:
        np.testing.assert_array_equal(found.astype(object) + 0, expected.astype(object) + 0)


RAISED = [
    (ValueError, "f'{n} is odd'"),
    (OSError, "'odd'"),
    (KeyError, "n"),
    (UnicodeError, "''"),
    (ArithmeticError, "1, n"),
]


@pytest.mark.parametrize(("kind", "arguments"), RAISED)
def test_a_raised_error_is_of_its_class(kind, arguments):
    scope = batched(f"def f(n):\n    if n % 2 == 1:\n        raise {kind.__name__}({arguments})\n    return n\n")
    with pytest.raises(kind) as caught:
        ab.autobatch(scope["f"], **MODES["local_static"])(np.array([2, 3, 4, 5]))
    error = caught.value
    assert isinstance(error, MemberError)
    assert error.members == (1, 3)
    assert np.asarray(error.results)[[0, 2]].tolist() == [2, 4]
    copy = pickle.loads(pickle.dumps(error))
    assert isinstance(copy, kind)
    assert copy.members == (1, 3)
    assert str(copy) == str(error)


SAYS = """def f(n, x):
    if n < 0:
        raise KeyError("%d and %.1f" % (n, x) + ", " + str(n) + " {:.2f} {n}".format(x, n=n))
    return n
"""


def test_what_a_raised_error_says():
    f = ab.autobatch(batched(SAYS)["f"], **MODES["local_static"])
    with pytest.raises(KeyError, match=r"In member 1, KeyError: -3 and 2\.5, -3 2\.50 -3\n"):
        f(np.array([2, -3]), np.array([0.5, 2.5]))


MIXED = """def f(n):
    if n == 1:
        raise KeyError(n)
    if n == 2:
        raise OSError("two")
    assert n != 3
    return 10 // n
"""


@pytest.mark.parametrize(
    ("members", "kinds"),
    [((5, 1, 2, 0), (KeyError, OSError, ZeroDivisionError)), ((3, 4, 0), (AssertionError, ArithmeticError))],
)
def test_an_error_is_of_all_classes_that_members_raised(members, kinds):
    f = ab.autobatch(batched(MIXED)["f"], **MODES["local_static"])
    for kind in kinds:
        with pytest.raises(kind) as caught:
            f(np.array(members))
        assert isinstance(pickle.loads(pickle.dumps(caught.value)), kind)
        assert len(caught.value.members) == len(kinds)


@pytest.mark.parametrize(
    "name", ["division", "calls", "several_clauses", "nested", "what_a_call_has_changed", "asserts"]
)
def test_unbatched_catches_too(name):
    function = ab.autobatch(BATCHED["attempts"][name])
    args = [tf.constant(arg) for arg in function.meant.args]
    result = function.options(backend="unbatched")(*args)
    for z in range(len(args[0])):
        assert_equal(of_member(result, z), outcome(PLAIN["attempts"][name], function.meant.args, z))
