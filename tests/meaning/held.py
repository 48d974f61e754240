"""What a caught exception holds."""

# ruff: noqa
import numpy as np

from tests.meaning.case import case

N = np.array


class Short(Exception):
    def __init__(self, balance, amount):
        super().__init__(f"need {amount}, have {balance}")
        self.balance = balance
        self.amount = amount

    @property
    def shortfall(self):
        return self.amount - self.balance


def withdraw(b, a):
    if a < 0:
        raise ValueError("negative", a)
    if a > b:
        raise Short(b, a)
    return b - a


@case(N([10.0, 1.0, 2.0, 2.0]), N([3.0, 5.0, 2.0, -1.0]))
def held_attr(b, a):
    try:
        b = withdraw(b, a)
    except Short as e:
        b -= 0.05 * e.shortfall
        b += e.amount * 100
    return b


@case(N([1, -3, 0]))
def held_args(n):
    neg = 0
    ok = 0
    for q in [n, -n, 2]:
        try:
            if q < 0:
                raise ValueError("negative quantity", q)
            ok += q
        except ValueError as e:
            neg += abs(e.args[1])
    return neg, ok


class ParseError(Exception):
    def __init__(self, code, position):
        self.code = code
        self.position = position


def parse(n):
    if n > 3:
        raise ParseError(n, n * 2)
    if n < 0:
        raise ParseError(7, n)
    return n


@case(N([1, 5, -1, 3]))
def held_parse(n):
    try:
        return parse(n) + parse(n - 2)
    except ParseError as e:
        return -(e.code * 100 + e.position)


class Validation(Exception):
    def __init__(self, msg, field_id):
        super().__init__(msg)
        self.field_id = field_id


class Negative(Validation):
    pass


def check(n):
    if n < 0:
        raise Negative("neg", n)
    if n > 5:
        raise Validation("big", n * 2)
    return n


@case(N([1, -2, 7]))
def held_sub(n):
    try:
        return check(n)
    except Negative as e:
        return -float(e.field_id)
    except Validation as e:
        return -10.0 * e.field_id


@case(N([1, -2, 7]))
def held_base(n):
    try:
        return check(n)
    except Validation as e:
        return e.field_id + (1000 if isinstance(e, Negative) else 0)


@case(N([0, 7, 1]))
def held_mixed(n):
    xs = [1, 2, 3]
    try:
        if n == 7:
            raise IndexError(n, n + 1)
        return xs[n]
    except IndexError as e:
        return e.args[1]


@case(N([0, 2]))
def held_stale(n):
    xs = [1, 2, 3]
    try:
        try:
            raise IndexError(n, n + 1)
        except IndexError:
            pass
        return xs[n]
    except IndexError as e:
        return e.args[1]


@case(N([0, 1, 4]))
def held_nested(n):
    t = 0
    for i in range(4):
        try:
            try:
                check(n * i - 2)
            except Negative as e:
                t += e.field_id
                raise Validation("again", e.field_id * 3)
        except Validation as e:
            t += e.field_id * 100
    return t


@case(N([1, -2, 7]))
def held_finally(n):
    t = 0
    try:
        try:
            check(n)
        finally:
            t += 1
    except Validation as e:
        t += e.field_id
    return t


def rec(n, d):
    if n == 0:
        raise ParseError(d, n)
    return rec(n - 1, d + 1)


@case(N([0, 2, 5]), refused="exception-value")
def held_rec(n):
    try:
        return rec(n, 0)
    except ParseError as e:
        return e.code * 10 + e.position


class Cls:
    def __init__(self, x):
        self.x = x

    def go(self, k):
        if k > self.x:
            raise ParseError(k - self.x, k)
        self.x -= k
        return self.x


@case(N([1, 4, 9]))
def held_obj(n):
    c = Cls(5)
    lost = 0
    for k in [n, 2, n]:
        try:
            c.go(k)
        except ParseError as e:
            lost += e.code
    return c.x, lost


@case(N([1, -2, 7]), refused="exception-text")
def held_str(n):
    try:
        return check(n)
    except Validation as e:
        return len(str(e))


@case(N([1, -2, 7]), refused="exception-text")
def held_msg(n):
    try:
        return check(n)
    except Validation as e:
        raise ValueError(f"bad {e}") from e


@case(N([1, -2, 7]))
def held_value(n):
    try:
        if n > 1:
            raise StopIteration(n * 2)
        return 0
    except StopIteration as stop:
        return stop.args[0]


@case(N([1, -2, 7]))
def held_append(n):
    es = []
    try:
        check(n)
    except Validation as e:
        es.append(e.field_id)
    return es


@case(N([1, -2, 7]), refused="exception-value")
def held_last(n):
    last = None
    for k in [n, 0, n]:
        try:
            check(k)
        except Validation as e:
            last = e
    if last is None:
        return 0
    return last.field_id


@case(N([-2, -3]), refused="exception-value")
def held_ret(n):
    try:
        check(n)
    except Validation as e:
        return e
    return None


@case(N([-2, -3]), refused="exception-value")
def held_retargs(n):
    try:
        if n < 0:
            raise ValueError("neg", n)
        return (0, 0)
    except ValueError as e:
        return e.args


@case(N([1, -2, 7]), refused="exception-text")
def held_cause(n):
    try:
        try:
            check(n)
        except Validation as e:
            raise ValueError(n) from e
    except ValueError as e:
        if e.__cause__ is not None:
            return -1
        return -2
    return 0


@case(N([1, -2, 7]))
def held_typ(n):
    try:
        check(n)
    except Validation as e:
        return type(e).__name__
    return "x"


@case(N([1, -2, 3]))
def held_given_once(n):
    xs = [n, n + 1, n + 2]
    try:
        raise ValueError(xs.pop(), len(xs))
    except ValueError as e:
        return e.args[0] * 100 + e.args[1] * 10 + len(xs)


@case(N([1, -2, 3]))
def held_by_keyword(n):
    try:
        raise Short(amount=n * 2, balance=n)
    except Short as e:
        return e.shortfall + e.amount


class Unsettled(Exception):
    def __init__(self, steps, last):
        super().__init__("does not settle")
        self.steps, self.last = steps, last


class Outside(Unsettled):
    pass


def newton(f, x, most=5):
    for i in range(most):
        v = f(x)
        if v == 0:
            return i
        x -= v
    raise Unsettled(most, x)


def bounded(x):
    if x > 4:
        raise Outside(x, 2)
    return x - 1 if x < 3 else x - 3.5


@case(N([1.0, 0.5, 2.5, 4.5, 3.5]))
def held_of_functions_given(x):
    try:
        first = newton(lambda v: v - 1 if v < 2 else v / 2, x)
    except Unsettled as e:
        first = e.steps * 100 + e.last
    try:
        return first + newton(lambda v: bounded(v) * 0.5, x)
    except Outside as e:
        return first + e.steps
    except Unsettled as e:
        return first + e.last


@case(N([1.0, 0.5, 2.5, 4.5, 3.5]))
def held_of_a_known_function(x):
    try:
        return newton(bounded, x)
    except Unsettled as e:
        return e.steps * 100 + e.last
