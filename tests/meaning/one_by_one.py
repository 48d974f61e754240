"""What a loop goes through makes each item when its turn comes: generator expressions, and a dict's values."""

# ruff: noqa
import numpy as np

from tests.meaning.case import case

n = np.array([0, 1, 2, 5])


@case(n)
def not_more_than_are_taken(n):
    k = 0
    for v in (10 // w for w in [5, 2, n]):
        if v == 5:
            break
        k += v
    for i, v in enumerate(10 // w for w in [1, 2, n]):
        if i:
            break
        k += v
    return k


@case(n)
def in_a_changing_list(n):
    xs = [1, 2, 3]
    s = 0
    for v in (xs.pop() for _ in range(3)):
        s = s * 10 + v
        if v == 2 and n > 1:
            break
    return s, len(xs)


@case(n)
def of_two_loops(n):
    w, s = 3, 0
    for v in (a * b + n for a in range(3) for b in range(n)):
        if v > 4:
            break
        s += v
    else:
        s = -s
    for v in (w * 2 for w in [n, 1] if w):
        s += v * w
    return s, w


@case(n, refused="generator-that-changes")
def two_that_change_one_list(n):
    xs, k = [5, 2, 7, 4], 0
    for a, b in zip((xs.pop() for _ in range(2)), (xs.pop() for _ in range(2))):
        k = k * 10 + a - b * n
    return k


@case(n)
def the_next_or_else(n):
    log = []

    def told(v):
        log.append(v)
        return v

    k = next((v for v in (1, 2, 3) if v > n), told(9))
    return k, len(log)


@case(n)
def the_next_or_an_error(n):
    return next((v for v in (1, 2, 3) if v > n), 10 // n)


@case(n)
def an_epidemic(n):
    people = {"S": 10 + n, "I": 1, "R": 0}
    for k, v in people.items():
        if k != "R":
            people["R"] += v // 2
            people[k] -= v // 2
        else:
            people["S"] += v
    return people["S"], people["I"], people["R"]


@case(n)
def of_ages(n):
    people, older = {"young": 10 + n, "middle": 5, "old": 2}, {"young": "middle", "middle": "old"}
    for k, v in people.items():
        if k in older:
            people[k] -= v // 2
            people[older[k]] += v // 2
    return people["young"], people["middle"], people["old"]


@case(n)
def values_in_turn(n):
    d, s = {1: 2, 3: 4}, 0
    for v in d.values():
        d[3] += n
        s = s * 10 + v
    for i, v in enumerate(d.values()):
        d[3] += 5
        s = s * 10 + v + i
    for (k, v), w in zip(d.items(), [1, 2]):
        d[3] += n
        s = s * 10 + v + w + k
    return s


@case(n)
def unlike_values_in_turn(n):
    d, s = {"a": n, "b": 2.5}, 0.0
    for k, v in d.items():
        d["b"] = 3.5 + n
        s = s * 10 + v
    return s


@case(n)
def by_a_function(n):
    d, s = {"a": n, "b": 2}, 0

    def change(q):
        q["b"] = q["b"] + n
        return 0

    for v in d.values():
        change(d)
        s = s * 10 + v
    return s


@case(n)
def read_before_an_update(n):
    d = dict(a=1, b=2)
    return d["a"] * 10 + (d.update(a=5) or d["a"]) + n


@case(n)
def read_in_a_chain(n):
    d = dict(a=1, b=2)
    return d["a"] < (d.update(a=n) or 2) < d["a"] + 3


@case(n)
def read_before_a_choice(n):
    d = dict(a=1, b=2)
    return d["a"] * 10 + (d["a"] if d.update(a=n + 1) is None else 1)


@case(n)
def counted_before_a_default(n):
    d = dict(a=1, b=2)
    return len(d) * 10 + (d.setdefault("q", n) or len(d))


@case(n)
def read_before_an_item_is_set(n):
    d = dict(a=n, b=2)
    return d["a"] * 10 + (d.__setitem__("a", 5) or d["a"])


@case(n)
def counted_before_an_append(n):
    xs = [n, 2]
    return len(xs) * 10 + (list.append(xs, n) or len(xs))


@case(n)
def values_of_a_comprehension(n):
    d = {"a": 1, "b": 2}

    def more(v):
        d["b"] += v
        return d["b"]

    return sum([v + more(n) for v in d.values()])


@case(n, refused="generator-that-changes")
def beside_what_acts(n):
    log, xs = [], [5, 2, 7]

    def told(v):
        log.append(v)
        return v

    pairs = list(zip((told(v) for v in xs), (told(-v) for v in xs)))
    return pairs, log, n


@case(n, refused="generator-that-changes")
def before_what_acts(n):
    log, xs = [], [5, 2, 7]

    def told(v):
        log.append(v)
        return v + n

    return sum((told(v) for v in xs), told(100)), log
