"""Python's ``math`` for members: every function of the table against Python, on numbers of all kinds."""

import math

import numpy as np
import pytest

from autobatch.language.mathematics import STAND_INS
from tests.fuzz.running import INTERPRETED, batched, compare, outcome, plain

FLOATS = np.array([0.5, -1.25, 2.0, 0.0, 1.0, 1000.0, 7.0, np.inf, np.nan, -3.0])
INTS = np.array([0, 1, -3, 8, 1000, 5, 171, 20, 21, 2])
OF_TWO = ("atan2", "hypot", "fmod", "copysign", "pow", "isclose")
EXPRESSIONS = [
    *(f"math.{function.__name__}(a)" for function in STAND_INS if function.__name__ not in (*OF_TWO, "prod")),
    *(f"math.{name}(a, b)" for name in OF_TWO),
    "math.fmod(a, 0.3)", "math.log(a, 2)", "math.prod([a, b, 2])", "math.hypot(a, b, 2)", "math.dist((a, 1), [2, b])",
    "int(math.log10(abs(a)))", "[math.sqrt(abs(v)) for v in (a, b)]", "(lambda v: math.tanh(v))(a)",
    "math.sqrt(16) + a", "math.floor(a / 2)",
]  # fmt: skip


@pytest.mark.parametrize("expression", EXPRESSIONS)
@pytest.mark.parametrize("values", [FLOATS, INTS], ids=["floats", "ints"])
def test_function(expression, values):
    text = f"import math\ndef f(a, b):\n    return {expression}\n"
    expected = [outcome(plain(text)["f"], a.item(), b.item()) for a, b in zip(values, values[::-1], strict=True)]
    f = batched("import autobatch as ab\n" + text.replace("def f", "@ab.autobatch\ndef f"))["f"]
    wide = {z for z, value in enumerate(expected) if isinstance(value, int) and abs(value) >= 2**63}
    found = compare(f.options(**INTERPRETED), (values, values[::-1]), expected, wide.__contains__)
    assert found == "agreed" or isinstance(expected[0], TypeError)


def test_errors_are_of_pythons_classes():
    text = "import math\ndef f(a):\n    return math.sqrt(a)\n"
    f = batched("import autobatch as ab\n" + text.replace("def f", "@ab.autobatch\ndef f"))["f"]
    with pytest.raises(ValueError, match=r"In member 1, math\.sqrt is not defined there"):
        f.options(**INTERPRETED)(np.array([1.0, -1.0]))
    assert math.sqrt in STAND_INS


@pytest.mark.compiles
def test_compiled():
    text = "import math\ndef f(a):\n    return math.log10(a), math.gamma(a), math.erf(a), math.floor(math.sqrt(a))\n"
    values = np.array([1.0, 10.0, 0.5, 1e6 / 9e3])
    f = batched("import autobatch as ab\n" + text.replace("def f", "@ab.autobatch\ndef f"))["f"]
    assert compare(f, (values,), [plain(text)["f"](value.item()) for value in values]) == "agreed"
