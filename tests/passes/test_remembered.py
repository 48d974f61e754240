"""What is found out about code once is not found out again in another lowering of the program."""

import functools

import pytest

import autobatch as ab
from autobatch import context
from autobatch.passes import region_types
from autobatch.tracing.code import code_key


def made(scale, by=1):
    def inner(x):
        return x * scale + by

    return inner


def itself():
    def f(n):
        return f(n - 1) if n else 0

    return f


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (made(2), made(2), True),
        (made(2), made(3), False),
        (made(2), made(2.0), False),
        (made(made(1)), made(made(1)), True),
        (made(made(1)), made(made(2)), False),
        (itself(), itself(), True),
        (functools.partial(made(2), 1), functools.partial(made(2), 1), True),
        (functools.partial(made(2), 1), functools.partial(made(2), 2), False),
        (lambda x, y=1: x + y, lambda x, y=1: x + y, False),  # of two places
    ],
)
def test_code_keys(one, other, same):
    assert (code_key(one) == code_key(other)) is same


def test_a_lowering_remembers_the_one_before(monkeypatch):
    """A dict of unknown keys is lowered twice; what does not touch it is typed once."""
    traced = []
    trace = region_types.Traces._trace

    def counted(self, region, *rest):
        traced.extend(op.function.template for op in region.ops)
        return trace(self, region, *rest)

    monkeypatch.setattr(region_types.Traces, "_trace", counted)

    @ab.autobatch
    def f(n):
        apart = n * 7 + 5
        while apart > 100:
            apart = apart // 3
        counts = {}
        for digit in range(3):
            counts[(n + digit) % 2] = digit
        return apart + counts[0]

    assert f.options(backend="local_static", jit_compile=False)(ab.random.key(1)[:1] * 0 + 4).numpy() == [33 + 2]
    assert traced.count("«0» // 3") == 1


def test_within_one_another():
    found = []

    @context.remembering()
    def outer():
        inner()
        inner()

    @context.remembering()
    def inner():
        context.remembered("key", lambda: found.append(1))

    outer()
    assert found == [1]
    inner()
    assert found == [1, 1]
