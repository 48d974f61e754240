"""ab.random against known answers of jax.random (threefry2x32), stored in tests/data/."""

import json
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

import autobatch as ab

KNOWN = json.loads((Path(__file__).parent / "data" / "jax_random.json").read_text())
r = ab.random


def draws(key):
    logits = np.log(np.array([0.1, 0.2, 0.7], np.float32))
    return {
        "split": r.split(key, 3),
        "fold_in": r.fold_in(key, 12345),
        "bits": r.bits(key, [2, 3]),
        "bits64": r.bits(key, [3], tf.uint64),
        "uniform": r.uniform(key, [5]),
        "uniform64": r.uniform(key, [5], tf.float64),
        "uniform_range": r.uniform(key, [5], minval=-3.0, maxval=2.0),
        "normal": r.normal(key, [1000]),
        "normal64": r.normal(key, [5], tf.float64),
        "bernoulli": r.bernoulli(key, 0.3, [9]),
        "rademacher": r.rademacher(key, [9]),
        "exponential": r.exponential(key, [5]),
        "randint": r.randint(key, [9], -5, 1000),
        "categorical": tf.stack([r.categorical(k, logits) for k in tf.unstack(r.split(key, 9))]),
    }


def expected(seed, name, dtype):
    values = KNOWN[str(seed)][name]
    if isinstance(values[0], str):
        values = [float.fromhex(v) for v in values]
    return np.array(values, dtype)


@tf.function(jit_compile=True, autograph=False)
def batched(keys):
    return tf.vectorized_map(draws, keys, fallback_to_while_loop=False)


@pytest.mark.parametrize("seed", [0, 7, 2**40 + 5])
def test_bit_identical_under_xla(seed, optimized):
    key = r.key(seed)
    np.testing.assert_array_equal(key, expected(seed, "key", np.uint32))
    for name, value in batched(tf.stack([key, r.key(1)])).items():
        np.testing.assert_array_equal(value[0], expected(seed, name, value.dtype.as_numpy_dtype), err_msg=name)


@pytest.mark.parametrize("seed", [0, 7])
def test_eager_differs_in_the_last_place_at_most(seed):
    for name, value in draws(r.key(seed)).items():
        known = expected(seed, name, value.dtype.as_numpy_dtype)
        if value.dtype.is_floating:
            np.testing.assert_allclose(value, known, rtol=2e-6, err_msg=name)
        else:
            np.testing.assert_array_equal(value, known, err_msg=name)


def test_keys_from_tensors():
    np.testing.assert_array_equal(r.key(tf.constant(7)), r.key(7))
    np.testing.assert_array_equal(r.key(tf.constant(2**40 + 5, tf.int64)), r.key(2**40 + 5))


def test_a_members_numbers_do_not_depend_on_its_batch():
    @ab.autobatch
    def walk(key, n):
        total = 0.0
        for _ in range(n):
            key, now = ab.random.split(key)
            total = total + ab.random.normal(now)
        return total

    keys, n = r.split(r.key(3), 6), tf.constant([5, 0, 9, 2, 7, 1])
    whole = walk(keys, n).numpy()
    for z in range(6):
        assert walk(keys[z : z + 1], n[z : z + 1]).numpy()[0] == whole[z]


def test_bad_key():
    with pytest.raises(ValueError, match="uint32"):
        r.split(tf.constant([1, 2]))
