"""What NumPy's functions return: views, of which a change is seen by the array or refused, and copies, of which not."""

import linecache

import numpy as np
import pytest

import autobatch as ab
from autobatch.errors import MemberError, UnsupportedSyntaxError

pytestmark = pytest.mark.thorough
VIEWS = (
    "a.reshape(-1)", "a.reshape(3, 2)", "a.ravel()", "a.T", "a.transpose()", "np.transpose(a)", "np.expand_dims(a, 0)",
    "np.split(a, 2)[0]", "np.hsplit(a, 3)[1]", "np.swapaxes(a, 0, 1)", "np.flip(a)", "np.rot90(a)", "np.flipud(a)",
    "np.moveaxis(a, 0, 1)", "np.einsum('ij->ji', a)", "np.reshape(a, (6,))", "a[::-1]", "a[:, 1]", "next(iter(a))",
    "list(a)[0]",
)  # fmt: skip
SAME = "a.squeeze()", "np.asarray(a)", "np.asarray(a, dtype=a.dtype)", "np.atleast_2d(a)", "np.array(a, copy=False)"
FIXED = "np.broadcast_to(a, (2, 2, 3))", "np.diagonal(a)", "np.diag(a)"
COPIES = (
    "a.astype(np.int64)", "+a", "np.positive(a)", "a.copy()", "np.array(a)", "a.flatten()", "np.abs(a)", "np.sort(a)",
    "np.roll(a, 1)", "a.clip(0, 3)", "np.where(a > 0, a, 0)", "copy.copy(a)", "copy.deepcopy(a)", "np.vstack([a, a])",
    "np.round(a)", "np.triu(a)", "np.array([a, a])[0]",
)  # fmt: skip
CHANGES = {  # what is changed, and what is read then
    "the view": "b[0] = v\n    return a",
    "the array": "a[0, 1] = v\n    return b",
    "only the view": "b[0] = v\n    return b",
}
BATCH = np.array([[[1, 2, 3], [4, 5, 6]], [[7, 8, 9], [1, 0, 2]]])


def both(expression, change):
    """What Python says of each member, and what a batch gets; an exception in place of an answer."""
    text = f"import copy\nimport numpy as np\n\ndef f(a, v):\n    b = {expression}\n    {CHANGES[change]}\n"
    name, scope = f"<{expression}, {change}>", {}
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    exec(compile(text, name, "exec"), scope)
    try:
        expected = np.array([scope["f"](a.copy(), 50) for a in BATCH])
    except ValueError as error:
        expected = error
    try:
        f = ab.autobatch(scope["f"]).options(backend="local_static", jit_compile=False)
        return expected, np.asarray(f(BATCH, np.array([50, 50])))
    except (MemberError, UnsupportedSyntaxError) as error:
        return expected, error


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("expression", [*VIEWS, *FIXED])
def test_views(expression, change):
    expected, found = both(expression, change)
    if change != "only the view" or isinstance(expected, ValueError):
        assert isinstance(found, UnsupportedSyntaxError)
        assert found.kind in ("shared-array", "outside-changed")
    else:
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("expression", [*SAME, *COPIES])
def test_copies_and_the_same(expression, change):
    expected, found = both(expression, change)
    np.testing.assert_array_equal(found, expected)
