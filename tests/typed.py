"""What a type checker knows of autobatched functions: `make lint` reads this file, and nothing runs it."""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from typing_extensions import assert_type

import autobatch as ab


@ab.autobatch
def bare(x: tf.Tensor, scale: float = 1.0) -> tuple[tf.Tensor, int]:
    return x * scale, 1


@ab.autobatch(backend="local_static", static_argnames="n")
def with_options(x: tf.Tensor, n: int) -> tf.Tensor:
    return x * n


def plain(n: int) -> str:
    return "even" if n % 2 == 0 else "odd"


class Walk:
    @ab.autobatch
    def step(self, x: tf.Tensor) -> float:
        return 1.0 if x > 0 else 0.0


def uses(x: tf.Tensor, batch: np.ndarray) -> None:
    assert_type(bare(x, scale=2.0), tuple[tf.Tensor, int])
    assert_type(bare.options(max_depth=10)(x), tuple[tf.Tensor, int])
    assert_type(with_options(x, 3), tf.Tensor)
    assert_type(ab.autobatch(plain, jit_compile=False).unbatched(n=3), str)
    assert_type(Walk().step(x), float)
    ab.autobatch(plain)(batch)  # of an annotation for one example a batch is none: the result is Any
    ab.autobatch(plain).unbatched(batch)  # pyright: ignore[reportArgumentType]
    ab.autobatch(backend="fast")  # pyright: ignore[reportCallIssue, reportArgumentType]
