"""What the families' files say of their programs."""

from dataclasses import dataclass

import numpy as np

i32, i64 = np.int32, np.int64
X = np.array([0, 3], i32)
ARRAYS = np.array([[3, 1, 2, 0], [5, 9, 7, 8]], i32)


@dataclass(frozen=True)
class Case:
    args: tuple
    refused: str | None  # by which kind of message
    fails: tuple  # members that fail though Python has an answer: one of more than 64 bits, or a fraction


def case(*args, refused=None, fails=()):
    """A program with its arguments' batches."""

    def mark(function):
        function.meant = Case(tuple(map(np.asarray, args)), refused, tuple(fails))
        return function

    return mark
