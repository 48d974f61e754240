"""Programs that run without this library."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

import autobatch as ab
from autobatch.errors import SettingError, StackOverflowError

TABLE = tf.constant(np.arange(1000.0), tf.float32)


@ab.autobatch(max_depth=20)
def fibonacci(n):
    if n <= 1:
        return 1
    return fibonacci(n - 2) + fibonacci(n - 1)


@ab.autobatch(static_argnames="power", in_axes=(0, 0, None, None))
def everything(pair, key, power, bias, factor):
    total, n = pair["x"] * 0.0, pair["n"]
    while n > 0:
        total = total + (pair["x"] ** power + bias) * factor + TABLE[n] + ab.random.normal(ab.random.fold_in(key, n))
        n = n - 1
    return {"total": total, "left": n}


@ab.autobatch
def halved(x):
    while x > 100.0:
        x = x / 2.0
    return x


def of_everything(size=3):
    pair = {"x": tf.linspace(1.0, 2.0, size), "n": tf.range(size) * 7}
    keys = tf.stack([ab.random.fold_in(ab.random.key(1), k) for k in range(size)])
    return (pair, keys, 2, tf.constant(0.5)), {"factor": 3.0}


WITHOUT_AUTOBATCH = """
import sys
sys.modules["autobatch"] = None
import numpy as np, tensorflow as tf
loaded = tf.saved_model.load(sys.argv[1])
given = np.load(sys.argv[2])
{body}
np.savez(sys.argv[3], **results)
"""

RUN_STABLEHLO = Path(__file__).parent / "run_stablehlo.py"


def run(script, *args):
    environment = os.environ | {"JAX_ENABLE_X64": "1", "JAX_PLATFORMS": "cpu"}
    done = subprocess.run([sys.executable, *script, *map(str, args)], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]


def test_a_saved_model(tmp_path):
    n = tf.range(10)
    fibonacci.lower(n).export("saved_model", tmp_path / "model")
    np.savez(tmp_path / "given.npz", n=n)
    body = "serve = loaded.signatures['serving_default']\n"
    body += "results = {'called': loaded.call(given['n']), **serve(n=tf.constant(given['n']))}"
    script = WITHOUT_AUTOBATCH.format(body=body)
    run(["-c", script], tmp_path / "model", tmp_path / "given.npz", tmp_path / "results.npz")
    results = np.load(tmp_path / "results.npz")
    np.testing.assert_array_equal(results["called"], fibonacci(n))
    np.testing.assert_array_equal(results["output_0"], fibonacci(n))


def test_nests_shared_and_static_arguments(tmp_path):
    args, kwargs = of_everything()
    everything.lower(*args, **kwargs).export("saved_model", tmp_path / "model")
    np.savez(tmp_path / "given.npz", x=args[0]["x"], n=args[0]["n"], key=args[1], bias=args[3])
    body = "results = loaded.call({'x': given['x'], 'n': given['n']}, given['key'], given['bias'])"
    script = WITHOUT_AUTOBATCH.format(body=body)
    run(["-c", script], tmp_path / "model", tmp_path / "given.npz", tmp_path / "results.npz")
    results, expected = np.load(tmp_path / "results.npz"), everything(*args, **kwargs)
    np.testing.assert_allclose(results["total"], expected["total"], rtol=1e-6)
    np.testing.assert_array_equal(results["left"], expected["left"])


@pytest.mark.parametrize("name", ["fibonacci", "everything"])
def test_stablehlo(name, tmp_path):
    function = {"fibonacci": fibonacci, "everything": everything}[name]
    args, kwargs = {"fibonacci": ((tf.range(10),), {}), "everything": of_everything()}[name]
    function.lower(*args, **kwargs).export("stablehlo", tmp_path)
    run([RUN_STABLEHLO], tmp_path, tmp_path / "results.npz")
    results = np.load(tmp_path / "results.npz")
    for found, leaf in zip(results.values(), tf.nest.flatten(function(*args, **kwargs)), strict=True):
        np.testing.assert_allclose(found, leaf, rtol=1e-5)


def test_dtypes_that_numpy_does_not_know(tmp_path):
    x = tf.constant([1.5, 300.0, 1000.0], tf.bfloat16)
    halved.lower(x).export("stablehlo", tmp_path)
    run([RUN_STABLEHLO], tmp_path, tmp_path / "results.npz")
    ((name, found),) = np.load(tmp_path / "results.npz").items()
    assert name == "0_bfloat16"
    np.testing.assert_array_equal(found.view(tf.bfloat16.as_numpy_dtype), halved(x))


@pytest.mark.parametrize("jit", [False, True])
def test_an_int_that_does_not_fit(tmp_path, jit):
    @ab.autobatch(jit_compile=jit)
    def grown(n):
        total = 1
        while n > 0:
            total, n = total * 10, n - 1
        return total

    n = tf.constant([2, 12, 0])
    grown.lower(n).export("saved_model", tmp_path)
    loaded = tf.saved_model.load(str(tmp_path))
    assert loaded.call(tf.constant([2, 9, 0])).numpy().tolist() == [100, 10**9, 1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="an int in the result does not fit int32"):
        loaded.call(n)
    compiled = tf.function(grown, jit_compile=True, autograph=False)
    assert compiled(n).numpy().tolist() == [100, tf.int32.min, 1]


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("dtype", [tf.uint8, tf.int16, tf.uint32, tf.int64, tf.float16, tf.complex64])
def test_failed_members_in_a_graph_are_poison_of_every_dtype(dtype, jit):
    @ab.autobatch
    def same(x, n):
        assert n != 2
        return x

    call = tf.function(same, jit_compile=jit)
    x = tf.cast([5, 6, 7], dtype)
    np.testing.assert_array_equal(call(x, tf.constant([1, 3, 4])), x)
    poison = same.options(jit_compile=True)
    found = tf.function(poison, jit_compile=True)(x, tf.constant([1, 2, 3])).numpy()
    assert found[[0, 2]].tolist() == [5, 7]
    assert np.isnan(found[1]) if dtype.is_floating or dtype.is_complex else found[1] == dtype.min


def test_ragged_arguments_are_not_exported(tmp_path):
    @ab.autobatch
    def length(x):
        return len(x)

    with pytest.raises(SettingError, match="`x` is ragged, and cannot be exported"):
        length.lower(tf.ragged.constant([[1.0], [2.0, 3.0]])).export("saved_model", tmp_path)


def test_stablehlo_is_text_and_arguments(tmp_path):
    args, kwargs = of_everything()
    everything.lower(*args, **kwargs).export("stablehlo", tmp_path / "program")
    assert "stablehlo.while" in (tmp_path / "program" / "program.mlir").read_text()
    arguments = list(np.load(tmp_path / "program" / "arguments.npz").values())
    np.testing.assert_array_equal(arguments[0], args[0]["n"])
    np.testing.assert_array_equal(arguments[3], 0.5)
    assert any(array.shape == TABLE.shape for array in arguments[4:])  # the code closes over it


def test_what_cannot_be_exported(tmp_path):
    with pytest.raises(StackOverflowError, match="their depth must be given"):
        fibonacci.options(max_depth=None).lower(tf.range(3)).export("saved_model", tmp_path)
    with pytest.raises(ValueError, match="kind must be 'saved_model' or 'stablehlo', not 'onnx'"):
        fibonacci.lower(tf.range(3)).export("onnx", tmp_path)

    @ab.autobatch
    def first(pair):
        return pair[0]

    with pytest.raises(SettingError, match="`pair` holds tensors and other values"):
        first.lower((tf.range(3), None)).export("saved_model", tmp_path)


@ab.autobatch
def difference(x, y):
    while x > 100.0:
        x = x / 2.0
    return x - y


def test_keywords_in_another_order(tmp_path):
    x, y = tf.constant([10.0, 20.0]), tf.constant([1.0, 2.0])
    lowered = difference.lower(y=y, x=x)
    lowered.export("saved_model", tmp_path / "saved")
    np.testing.assert_array_equal(tf.saved_model.load(str(tmp_path / "saved")).call(x, y), [9.0, 18.0])
    lowered.export("stablehlo", tmp_path / "hlo")
    first, _ = np.load(tmp_path / "hlo" / "arguments.npz").values()
    np.testing.assert_array_equal(first, x)


def test_variables(tmp_path):
    step = tf.Variable(3.0)

    @ab.autobatch
    def climb(x):
        while x < 10.0:
            x = x + step
        return x

    x = tf.constant([1.0, 2.0])
    climb.lower(x).export("saved_model", tmp_path / "saved")
    loaded = tf.saved_model.load(str(tmp_path / "saved"))
    np.testing.assert_array_equal(loaded.call(x), [10.0, 11.0])
    with pytest.raises(SettingError, match=r"StableHLO has no tf\.Variable"):
        climb.lower(x).export("stablehlo", tmp_path / "hlo")


def test_results_that_cannot_be_saved(tmp_path):
    @ab.autobatch
    def noted(x):
        return {"x": x + 1.0, "note": None}

    with pytest.raises(SettingError, match="TensorFlow cannot save this call"):
        noted.lower(tf.zeros([2])).export("saved_model", tmp_path)


@ab.autobatch
def side(x):
    return "left" if x < 0 else "right"


def test_texts_are_saved_but_have_no_stablehlo(tmp_path):
    lowered = side.lower(tf.constant([-1.0, 2.0]))
    lowered.export("saved_model", tmp_path / "model")
    again = tf.saved_model.load(str(tmp_path / "model"))
    assert again.call(tf.constant([3.0, -4.0])).numpy().tolist() == [b"right", b"left"]
    with pytest.raises(SettingError, match="texts"):
        lowered.export("stablehlo", tmp_path / "hlo")
