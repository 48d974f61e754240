"""What an exception holds that an operation raised is not kept: members fail that read it, loudly."""

import numpy as np
import pytest

import autobatch as ab
from autobatch.errors import UntoldExceptionError


@ab.autobatch(jit_compile=False)
def looked_up(n):
    xs = [1, 2, 3]
    try:
        try:
            if n == 7:
                raise IndexError(n, n + 1)
        except IndexError as error:
            return error.args[1]
        return xs[n]
    except IndexError as error:
        return error.args[0]


def test_what_an_operation_raised():
    assert looked_up(np.array([0, 7, 2])).numpy().tolist() == [1, 8, 3]
    with pytest.raises(UntoldExceptionError, match="what this exception holds is not kept") as caught:
        looked_up(np.array([0, 7, 5]))
    assert caught.value.members == (2,)
