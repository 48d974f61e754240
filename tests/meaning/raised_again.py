"""What is caught and raised again, and of which class it is."""

# ruff: noqa
import numpy as np

from tests.meaning.case import case

N = np.array
import math


class Bad(ValueError):
    pass


class Worse(Bad):
    pass


def risky(n):
    if n == 1:
        raise Bad("x")
    if n == 2:
        raise Worse("y")
    if n == 3:
        raise KeyError(n)
    return 10 // (n - 4)


@case(N([0, 1, 2, 3, 4, 5]))
def bare(n):
    k = 0
    try:
        k = risky(n)
    except ValueError:
        k = 5
        if n == 1:
            return -1
        raise
    return k


@case(N([0, 1, 2, 3, 4, 5]))
def exc(n):
    try:
        return risky(n)
    except Exception:
        if n > 2:
            raise
        return -7


@case(N([0, 1, 2, 3, 4, 5]))
def outer(n):
    try:
        try:
            return risky(n)
        except Exception as e:
            if n == 99:
                return 0
            raise e
    except Worse:
        return 100
    except ValueError:
        return 200
    except LookupError:
        return 300
    except ArithmeticError:
        return 400


@case(N([0, 1, 2, 3, 4, 5]))
def isinst(n):
    xs = [1, 2, 3]
    try:
        return xs[n] + risky(n)
    except Exception as e:
        if isinstance(e, IndexError):
            return -1
        elif isinstance(e, (ArithmeticError, Bad)):
            return -2
        return -3


@case(N([0, 1, 2, 3, 4, 5]))
def tuple(n):
    try:
        return risky(n)
    except (ValueError, KeyError) as e:
        if isinstance(e, Worse):
            return 1
        raise


@case(N([1.0, 0.0, -1.0]))
def log(n):
    try:
        return math.log(n)
    except ValueError:
        if n == 0:
            return -1.0
        raise


@case(N([0, 1, 2, 3, 4, 5]))
def through_finally(n):
    t = 0
    try:
        try:
            t = risky(n)
        except Exception:
            t = 1
            raise
        finally:
            t += 1
    except Bad:
        return t
    except Exception:
        return -t
    return t


@case(N([0, 1, 2, 3, 4, 5]))
def bareall(n):
    try:
        return risky(n)
    except:
        if n < 3:
            return 0
        raise
