"""Marks the functions of the collection, with the columns of their arguments."""

import numpy as np


def case(*columns):
    def mark(function):
        function.columns = tuple(map(np.array, columns))
        return function

    return mark
