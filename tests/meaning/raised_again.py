"""What is caught and raised again, and of which class it is."""

# ruff: noqa
import numpy as np

from tests.meaning.case import case

N = np.array
import functools
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


class Held(Bad):
    def __init__(self, msg, k):
        super().__init__(msg)
        self.k = k


class Deeper(Held):
    pass


def raiser(k):
    raise Deeper("w", k)


part = functools.partial(raiser, 5)
by_lambda = lambda k: raiser(k)


class Raising:
    def go(self, n):
        if n > 1:
            raise Deeper("x", n * 2)
        return n


@case(N([0, 2, 7]))
def by_a_partial(n):
    try:
        if n > 1:
            part()
        return 0
    except Held as e:
        return 1 if isinstance(e, Deeper) else 2


@case(N([0, 2, 7]))
def by_a_lambda(n):
    try:
        if n > 1:
            by_lambda(n)
        return 0
    except Held as e:
        if isinstance(e, Deeper):
            return 1
        raise


@case(N([0, 2, 7]))
def by_a_method(n):
    made = Raising()
    try:
        return made.go(n)
    except Held as e:
        return e.k if isinstance(e, Deeper) else -1


def applied(function, x):
    return function(x)


@case(N([0, 2, 7]))
def by_what_is_given(n):
    try:
        if n > 1:
            return applied(raiser, n)
        return 0
    except Held as e:
        if isinstance(e, Deeper):
            return 1
        raise
