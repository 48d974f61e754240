"""Autobatched functions in pickles: named ones are the same object, others the same function."""

import linecache
import os
import pickle
import subprocess
import sys
import textwrap

import cloudpickle
import numpy as np
import pytest
import tensorflow as tf

import autobatch as ab
from tests import pickles

NAMED = [pickles.fibonacci, pickles.Scaled.halvings, pickles.Scaled.doubled, pickles.squares]


@pytest.mark.parametrize("dumps", [pickle.dumps, cloudpickle.dumps])
@pytest.mark.parametrize("function", NAMED, ids=lambda function: function.__name__)
def test_one_with_a_name_is_the_same_object(function, dumps):
    assert pickle.loads(dumps(function)) is function


@pytest.mark.parametrize("dumps", [pickle.dumps, cloudpickle.dumps])
def test_copies_with_other_options_and_bound_methods_arrive(dumps):
    copy = pickle.loads(dumps(pickles.shallow))
    assert copy._options == pickles.shallow._options
    assert copy(tf.constant([3, 10])).numpy().tolist() == [2, 55]
    deep = pickle.loads(dumps(pickles.fibonacci.options(static_argnames="n")))
    assert deep._static_names == ("n",)
    bound = pickle.loads(dumps(pickles.Scaled(4.0).halvings))
    assert bound(tf.constant([1.0, 8.0])).numpy().tolist() == [2, 5]
    assert pickle.loads(dumps(pickles.fibonacci.map))(tf.range(4), lanes=2).numpy().tolist() == [0, 1, 1, 2]


@pytest.mark.parametrize("dumps", [pickle.dumps, cloudpickle.dumps])
def test_one_of_a_function_that_has_a_name_of_its_own(dumps):
    assert pickle.loads(dumps(pickles.made)).unbatched(3) == 4


def test_one_that_closes_over_values_travels_whole():
    step, offset = 2, np.array([1.0, 2.0])

    @ab.autobatch
    def count(x):
        turns = 0
        while x < offset[1]:
            x, turns = x + step * 0.1, turns + 1
        return turns

    sent = pickle.loads(cloudpickle.dumps(count))
    assert sent is not count
    x = tf.constant([0.0, 1.0, 3.0])
    assert sent(x).numpy().tolist() == count(x).numpy().tolist()
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(count)


def test_two_that_arrive_share_what_was_compiled_as_long_as_they_are_the_same():
    numbers = {"step": 2}

    @ab.autobatch
    def count(x):
        turns = 0
        while x < 10:
            x, turns = x + numbers["step"], turns + 1
        return turns

    one, two = (pickle.loads(cloudpickle.dumps(count)) for _ in range(2))
    x = tf.constant([0, 5])
    assert one(x).numpy().tolist() == two(x).numpy().tolist() == [5, 3]
    taken = two._take_apart([x], {})
    assert one._program(taken) is two._program(taken)
    two._fn.__closure__[0].cell_contents["step"] = 5
    assert two(x).numpy().tolist() == [2, 1]
    assert one(x).numpy().tolist() == [5, 3]
    numbers["step"] = 1
    three = pickle.loads(cloudpickle.dumps(count))
    assert three(x).numpy().tolist() == [10, 5]
    assert one(x).numpy().tolist() == [5, 3]


def test_two_cells_of_a_notebook_that_differ_in_a_constant_keep_their_source(monkeypatch):
    made = {"__name__": "__main__", "ab": ab}
    for cell, factor in enumerate((2.0, 3.0)):
        name, text = f"<cell {cell}>", f"def scale(x):\n    return x * {factor} if x > 0.0 else x\n"
        monkeypatch.setitem(linecache.cache, name, (len(text), None, text.splitlines(True), name))
        exec(compile(text, name, "exec"), made)
        made[f"scale{cell}"] = made["scale"]
    text = "@ab.autobatch\ndef f(x):\n    return scale0(x) + scale1(x) * 10.0\n"
    monkeypatch.setitem(linecache.cache, "<cell>", (len(text), None, text.splitlines(True), "<cell>"))
    exec(compile(text, "<cell>", "exec"), made)
    sent = pickle.loads(cloudpickle.dumps(made["f"]))
    assert sent(tf.constant([1.0, -1.0])).numpy().tolist() == [32.0, -11.0]


def test_one_that_calls_itself_from_a_script_finds_itself_there(tmp_path):
    """In the worker, from the pickle alone; and its program was made by the other process."""
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(
            """
            import pickle, sys
            import cloudpickle, tensorflow as tf, autobatch as ab

            @ab.autobatch
            def fibonacci(n):
                return n if n < LEAST else fibonacci(n - 1) + fibonacci(n - 2)

            LEAST = 2
            if __name__ == "__main__":
                print(fibonacci(tf.constant([3, 10])).numpy().tolist())
                sys.stdout.flush()
                on_its_way = pickle.loads(cloudpickle.dumps(fibonacci))
                open(sys.argv[1], "wb").write(cloudpickle.dumps(on_its_way))
            """
        )
    )
    worker = """
        import pickle, sys
        import tensorflow as tf
        from autobatch.calls import specialisation

        def lowered(*given):
            raise AssertionError("it was not made by the other process")

        specialisation._typed = lowered
        for _ in range(2):
            sent = pickle.loads(open(sys.argv[1], "rb").read())
            print(sent(tf.constant([3, 10])).numpy().tolist())
    """
    told = {**os.environ, "AUTOBATCH_CACHE": str(tmp_path / "cache")}
    pickled = str(tmp_path / "pickled")
    for code in ([str(script)], ["-c", textwrap.dedent(worker)]):
        run = subprocess.run([sys.executable, *code, pickled], env=told, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        assert set(run.stdout.splitlines()) == {"[2, 55]"}
