"""The backends under test, and how their results are compared with the oracle's."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

BACKENDS = {
    "program_counter": {},
    "program_counter_no_xla": {"jit_compile": False},
    "switch_case": {"dispatch": "switch_case", "schedule": "earliest", "shards": 2},  # all that is not the default
    "local_static": {"backend": "local_static", "jit_compile": False},
    "hybrid": {"backend": "local_static", "jit_compile": True},
}


def assert_same(actual, expected, rtol=2e-5, atol=1e-6):
    """Structures, dtypes and shapes equal; integers and booleans equal; floats close."""
    tf.nest.assert_same_structure(actual, expected)
    flat = (tf.nest.flatten(value, expand_composites=True) for value in (actual, expected))  # ragged tensors too
    for a, e in zip(*flat, strict=True):
        if e is None:
            assert a is None
            continue
        a, e = np.asarray(a), np.asarray(e)
        assert (a.dtype, a.shape) == (e.dtype, e.shape)
        if a.dtype.kind in "fc":
            np.testing.assert_allclose(a, e, rtol=rtol, atol=atol)
        else:
            np.testing.assert_array_equal(a, e)
