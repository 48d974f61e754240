"""Control flow."""

import contextlib

import tensorflow as tf

from tests.conformance import N, V, X, feature


@feature("`if` / `elif` / `else`", X)
def branches(x):
    if x > 2:
        y = x * 2
    elif x > 0:
        y = x
    else:
        y = -x
    return y


@feature("`while`, `break`, `continue`", N)
def loops(n):
    total = 0
    while True:
        n += 1
        if n % 2 == 0:
            continue
        total += n
        if n > 6:
            break
    return total


@feature("a variable that only some paths set; where it is not set, the read raises `UnboundLocalError`", N)
def set_by_some_paths(n):
    for i in range(n):
        last = i * i
    if n > 0:
        big = last
    return big if n > 0 else n


@feature("`while` ... `else`", N)
def while_else(n):
    while n > 0:
        n -= 2
        if n == 1:
            break
    else:
        n = n + 100
    return n


@feature("`for` ... `else`, also with a `break` of the loop around it", N)
def for_else(n):
    total = 0
    for i in range(4):
        for j in range(n):
            if j + i == 3:
                break
            total += 1
        else:
            if i > 1:
                break
            total += 10
    return total


@feature("`for i in range(n)`, bounds and step of each member's own, also negative", N, N + 5)
def ranges(a, b):
    total, i = 0, -1
    for i in range(b, a, -2):
        total += i
    for k in range(a, b, a + 1):
        total = total * 2 + k
    return total, i


@feature("`for row in x` over a tensor's leading axis", V)
def rows(x):
    largest = x[0]
    for value in x:
        if value > largest:
            largest = value
    return largest


@feature("`for a, b in [...]`, `zip`, `enumerate` over things of one type", X, note="stays a loop")
def sequences(x):
    total = 0.0
    for scale, shift in zip([x, x + 1.0], (1.0, 2.0)):
        if shift > 1.0:
            total += scale * shift
    for i, value in enumerate([x, 2.0 * x]):
        total += tf.cast(i, tf.float32) * value
    return total


@feature("`enumerate(x)`, `zip(x, y)`, `reversed(x)`, `sum(x)`, `list(x)` over tensors' rows", V, X)
def tensor_iteration(v, x):
    best, at = x, -1
    for i, value in enumerate(v):
        if value > best:
            best, at = value, i
    for a, b in zip(v, reversed(v)):
        if a > b:
            best += a * 10.0
    first, *rest = v
    return best, at, sum(v), list(v)[1] + first, len(rest), max(v), [a * b for a, b in zip(v, v)]


@feature("early `return`, anywhere", N)
def early_return(n):
    for i in range(10):
        while i > n:
            return i * 10
    return -1


@feature("`assert`, with an f-string", X, note="`MemberAssertionError` names the members; `.results` has the others'")
def asserts(x):
    while x < 3:
        assert x > -100, f"{x:.2f} is low"
        x = x * x + 0.5
    return x


@feature("`raise`", X, note="the error is of that class too; `.members`, `.results`, as for `assert`")
def raises(x):
    if x < -100:
        raise ValueError(f"{x:.2f} is too low")
    return x


@feature("`pass`, docstrings, annotations", X)
def quiet(x: tf.Tensor) -> tf.Tensor:
    """Has a docstring."""
    y: tf.Tensor = x
    z: float
    if x > 0:
        pass
    return y


@feature("endless loops that `return` ends", N)
def endless(n):
    while True:
        if n > 4:
            return n
        n = n + 3


@feature("`try`, `except`, `else`, `finally`", X)
def tries(x):
    inverse, steps = 0.0, 0
    for k in range(3):
        try:
            if k > x:
                raise ValueError("too far")
            inverse += 1 / (k - 1)
        except ZeroDivisionError:
            inverse += 10
        except ValueError:
            inverse -= 1
        else:
            inverse *= 2
        finally:
            steps += 1
    return inverse + steps


@feature("`with contextlib.suppress(...)`", X)
def suppresses(x):
    steps = 0
    for k in range(3):
        with contextlib.suppress(ZeroDivisionError, ValueError):
            if k > x:
                raise ValueError("too far")
            x += 1 / (k - 1)
            steps += 1
    return x, steps


@feature("`match` on numbers, and on a tuple's display; with `|`, names and guards", N)
def matching(n):
    match (n % 3, n > 2):
        case (0, _):
            return 0
        case (k, True) if k > 1:
            return k
        case (1 | 2, far):
            return 10 if far else 20
        case _:
            return 30


class Refused(ValueError):
    def __init__(self, amount, limit):
        super().__init__("refused", amount)
        self.amount = amount
        self.limit = limit

    @property
    def over(self):
        return self.amount - self.limit

    def fee(self, rate):
        return self.over * rate if self.over > 1 else 0.0


def _draw(x, limit):
    if x < 0:
        raise ArithmeticError(x)
    if x > limit:
        raise Refused(x, limit)
    return x


@feature("`raise` again, also from another; `isinstance(e, E)`; `finally` with branches", X)
def raised_again(x):
    turns = 0
    try:
        try:
            turns += 1
            return _draw(x, 2.0) + turns
        except Exception as e:
            if isinstance(e, ArithmeticError):
                raise KeyError("negative") from e
            raise
        finally:
            if x > 3:
                turns += 5
    except KeyError:
        return -1.0
    except ValueError:
        return 10.0 * turns


@feature("what an exception holds: arguments, attributes, properties, methods", X)
def held(x):
    try:
        return _draw(x, 1.5)
    except ArithmeticError as e:
        return -e.args[0]
    except Refused as e:
        return e.over + e.fee(0.5)


@feature("an exception that a name keeps", X)
def kept(x):
    last = None
    for limit in (4.0, 3.0, 2.0):
        try:
            _draw(x * x, limit)
        except Refused as e:
            last = e
    if last is None:
        return x
    return last.amount + last.limit
