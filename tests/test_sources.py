"""Functions are found and read wherever Python code stands, and read again when what they refer to has changed."""

import collections
import functools
import importlib.util
import linecache
import sys
import types

import gast
import numpy as np
import pytest
import tensorflow as tf

import autobatch as ab
from autobatch.frontend.watch import watch_callables

X = tf.constant([1.0, -2.0])
BODY = '''import autobatch as ab

RATE = 2.0


@ab.autobatch
def scaled(x):
    """Has a text
  with odd indentation."""
    if x > 0:
        return x * RATE
    # Umlauts: äöü
    return "äöü" and -x
'''


def module(tmp_path, text, newline="\n", name="written"):
    path = tmp_path / f"{name}.py"
    path.write_bytes(text.replace("\n", newline).encode())
    spec = importlib.util.spec_from_file_location(name, path)
    made = importlib.util.module_from_spec(spec)
    sys.modules[name] = made
    spec.loader.exec_module(made)
    return made


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_line_ends(tmp_path, newline):
    assert module(tmp_path, BODY, newline).scaled(X).numpy().tolist() == [2.0, 2.0]


def test_tabs(tmp_path):
    text = BODY.replace("    ", "\t")
    assert module(tmp_path, text).scaled(X).numpy().tolist() == [2.0, 2.0]
    with pytest.raises(ab.errors.UnsupportedSyntaxError) as caught:
        module(tmp_path, text.replace("if x > 0:", "with x:")).scaled(X)
    assert str(caught.value).splitlines()[3:5] == ["  10 |     with x:", "     |     ^"]


def test_a_notebook_cell():
    # Jupyter keeps a cell's source in linecache, under a name that is no file.
    name = "/tmp/ipykernel_1/2.py"
    linecache.cache[name] = (len(BODY), None, BODY.splitlines(keepends=True), name)
    scope = {"__name__": "__main__"}
    exec(compile(BODY, name, "exec"), scope)
    assert scope["scaled"](X).numpy().tolist() == [2.0, 2.0]


def test_an_edited_file(tmp_path):
    scaled = module(tmp_path, BODY).scaled
    assert scaled(X).numpy().tolist() == [2.0, 2.0]
    edited = module(tmp_path, "# One line more.\n" + BODY.replace("RATE = 2.0", "RATE = 30.0"))
    assert edited.scaled(X).numpy().tolist() == [30.0, 2.0]


def test_inside_a_function_a_class_and_another_decorator():
    offset = 10.0

    def logged(function):
        @functools.wraps(function)
        def wrapper(*args):
            return function(*args)

        return wrapper

    class Model:
        @logged
        @ab.autobatch
        @staticmethod
        def step(x):
            return x + offset if x > 0 else x

    assert Model.step(X).numpy().tolist() == [11.0, -2.0]


RATES = {"up": 2.0}


class Model:
    def __init__(self, rate):
        self.rate = rate

    @property
    def double(self):
        return 2.0 * self.rate

    @ab.autobatch
    def step(self, x):
        return x * self.rate if x > 0 else x - self.double

    @ab.autobatch
    def repeated(self, x, n):
        return x if n == 0 else self.repeated(self.step(x), n - 1)


class Child(Model):
    @ab.autobatch
    def step(self, x):
        return x + 1.0


@ab.autobatch
def rectified(x):
    return x if x > 0 else 0.0


class Layer:
    activation = rectified  # as any function would, it takes the instance first when it is reached through one


def test_a_function_named_in_a_class_stays_a_function():
    assert rectified(X).numpy().tolist() == [1.0, 0.0]
    assert Layer.activation(X).numpy().tolist() == [1.0, 0.0]


def test_methods():
    model, n = Model(3.0), tf.constant([2, 1])
    assert model.step(X).numpy().tolist() == [3.0, -8.0]
    assert model.repeated(X, n).numpy().tolist() == [9.0, -8.0]
    assert model.repeated.unbatched(1.0, 2) == 9.0
    assert Model.step(model, X).numpy().tolist() == [3.0, -8.0]
    assert ab.autobatch(model.step._fn.__get__(model))(X).numpy().tolist() == [3.0, -8.0]
    assert Child(3.0).repeated(X, n).numpy().tolist() == [3.0, -1.0]
    assert "call repeated" in model.repeated.lower(X, n).as_text()


def test_what_has_changed_is_read_again():
    model = Model(3.0)
    assert model.step(X).numpy().tolist() == [3.0, -8.0]
    model.rate = 5.0
    assert model.step(X).numpy().tolist() == [5.0, -12.0]
    factor = 1.0

    def helper(x):
        return x * factor

    @ab.autobatch
    def risen(x):
        return helper(x) * RATES["up"] if x > 0 else x

    assert risen(X).numpy().tolist() == [2.0, -2.0]
    RATES["up"] = 4.0
    assert risen(X).numpy().tolist() == [4.0, -2.0]
    factor = 10.0
    assert risen(X).numpy().tolist() == [40.0, -2.0]

    def helper(x):  # noqa: F811
        return -x

    assert risen(X).numpy().tolist() == [-4.0, -2.0]
    RATES["up"] = 2.0


def test_static_arguments_are_compared_by_content():
    traced = []

    @ab.autobatch(static_argnames="sizes")
    def grown(x, sizes):
        traced.append(0)
        for size in ab.unroll(sizes):
            x = x + tf.reduce_sum(tf.ones([size]))
        return x

    assert grown(X, [1, 2]).numpy().tolist() == [4.0, 1.0]
    before = len(traced)
    assert grown(X, [1, 2]).numpy().tolist() == [4.0, 1.0]
    assert len(traced) == before
    sizes = [1, 3]
    assert grown(X, sizes).numpy().tolist() == [5.0, 2.0]
    sizes.append(1)
    assert grown(X, sizes).numpy().tolist() == [6.0, 3.0]


def test_print(capsys):
    @ab.autobatch(backend="local_static", jit_compile=False)
    def shown(x, n):
        for i in range(n):
            print("turn", i, f"x={x:.2f}", sep=": ")
            x = x * 2.0
        return x

    shown(X, tf.constant([1, 2]))
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["member 0: turn: 0: x=1.00", "member 1: turn: 0: x=-2.00", "member 1: turn: 1: x=-4.00"]
    shown.unbatched(1.0, 1)
    assert capsys.readouterr().out == "turn: 0: x=1.00\n"


def test_print_of_what_may_be_none(capsys):
    @ab.autobatch(backend="local_static", jit_compile=False)
    def shown(n):
        half = None if n % 2 else n // 2
        print(n, half)
        return n

    shown(tf.constant([1, 2, 4]))
    assert capsys.readouterr().out.splitlines() == ["member 0: 1 None", "member 1: 2 1", "member 2: 4 2"]


@pytest.mark.parametrize("dispatch", ["guarded", "switch_case", "sweep", "rounds"])
def test_max_steps(dispatch):
    @ab.autobatch(max_steps=40, dispatch=dispatch)
    def endless(x):
        while x < 5.0:
            if x > 0.0:
                x = x + 2.0
        return x

    assert endless(tf.constant([1.0, 6.0])).numpy().tolist() == [5.0, 6.0]
    with pytest.raises(ab.errors.StepLimitError, match="max_steps=40") as caught:
        endless(X)
    assert 1 in caught.value.members
    with pytest.raises(ab.errors.StepLimitError):
        endless.options(backend="local_static")(X)


class Settings:
    scale = 1.0

    def __init__(self):
        self.nested = {"rates": [1.0, [2.0]]}
        self.array = np.array([1.0])


SETTINGS = Settings()


def test_changes_deep_down_are_seen():
    @ab.autobatch
    def priced(x):
        total = SETTINGS.nested["rates"][1][0] * Settings.scale + SETTINGS.scale + float(SETTINGS.array[0])
        return x * total if x > 0 else x

    def agrees():
        result = priced(X).numpy().tolist()
        assert result == priced.options(backend="unbatched")(X).numpy().tolist()
        return result[0]

    results = [agrees()]
    SETTINGS.nested["rates"][1][0] = 5.0
    results.append(agrees())
    Settings.scale = 3.0
    results.append(agrees())
    SETTINGS.array[0] = 7.0
    results.append(agrees())
    assert results == [4.0, 7.0, 19.0, 25.0]
    Settings.scale = 1.0


LEVEL, OUTSIDE = 1.0, types.ModuleType("settings")


class Holder:
    level = 1.0

    def read(self):
        return self.level


SEEN, QUEUE, BYTES = {1, 2}, collections.deque([1]), bytearray(b"ab")


def test_changes_of_sets_queues_and_bytes_are_seen():
    @ab.autobatch
    def sizes(x):
        return x + len(SEEN) + 10 * len(QUEUE) + 100 * BYTES[0]

    x = tf.zeros([1], tf.int32)
    assert sizes(x)[0] == 2 + 10 + 9700
    SEEN.add(3)
    assert sizes(x)[0] == 3 + 10 + 9700
    QUEUE.append(1)
    assert sizes(x)[0] == 3 + 20 + 9700
    BYTES[0] = 98
    assert sizes(x)[0] == 3 + 20 + 9800


def test_of_nested_functions_what_they_read_is_looked_at_and_not_their_trees():
    """All of it is compared at each call."""

    @ab.autobatch
    def scaled(x):
        def inner(y):
            return y * SCALES[0] if y > 0 else y

        return inner(x) + inner(-x)

    assert scaled(X).numpy().tolist() == [1.0, 2.0]
    (program,) = scaled._programs._values.values()
    assert not any(isinstance(part, gast.AST) for watched in program._watched for part in watched.parts)
    SCALES[0] = 3.0
    assert scaled(X).numpy().tolist() == [2.0, 4.0]


SCALES = [2.0]


def test_what_callables_read_is_watched():
    """Inner functions' globals, a module's attributes, methods' objects, partial functions, each of two closures."""
    global LEVEL
    holder, box = Holder(), [1.0]
    OUTSIDE.level = 1.0

    def closure(box):
        return lambda: box[0]

    readers = [
        lambda: [LEVEL for _ in range(2)],
        lambda: OUTSIDE.level,
        holder.read,
        functools.partial(lambda x, y: x, box),
        closure([0.0]),
        closure(box),
    ]
    watched = watch_callables(readers)

    def changed():
        return [k for k, reader in enumerate(readers) if not all(w.is_unchanged() for w in watch_of[k])]

    watch_of = {k: watch_callables([reader]) for k, reader in enumerate(readers)}
    assert changed() == []
    assert all(w.is_unchanged() for w in watched)
    LEVEL, OUTSIDE.level, holder.level, box[0] = 2.0, 2.0, 2.0, 2.0
    assert changed() == [0, 1, 2, 3, 5]
    assert not all(w.is_unchanged() for w in watched)
