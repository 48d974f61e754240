"""Dicts of known keys, changed in place across branches, loops and calls."""

# ruff: noqa
import numpy as np

from tests.meaning.case import case

N = np.array


@case(N([0, 2, 3, 5]))
def a(n):
    d = {"a": 0, "b": 1}
    for i in range(n):
        if i % 2 == 0:
            d["a"] += i
        else:
            d["b"] *= 2
    return d["a"], d["b"]


@case(N([0, 2, 3, 5]))
def b(n):
    d = {"a": 0, "b": 1}
    for i in range(n):
        d["a"] = d["a"] + i
    return d["a"], d["b"]


@case(N([0, 2, 3, 5]))
def alias(n):
    d = {"a": 0, "b": 1}
    e = d
    if n > 2:
        d["a"] = n
    return d["a"], e["a"]


@case(N([0, 2, 3, 5]), refused="shared-array")
def may(n):
    d = {"a": 0, "b": 1}
    g = {"a": 5, "b": 6}
    e = d if n > 1 else g
    if n > 2:
        e["a"] = n
    return d["a"], e["a"], g["a"]


def put(d, v):
    if v > 2:
        d["a"] += v
    d["b"] = d["b"] - 1


@case(N([0, 2, 3, 5]))
def of_call(n):
    d = {"a": 0, "b": 1}
    e = d
    put(d, n)
    put(e, n + 1)
    return d["a"], e["b"]


@case(N([0, 2, 3, 5]), refused="shared-array")
def nested(n):
    s = {"p": {"x": 0, "y": 1}, "l": [0, 0]}
    q = s["p"]
    for i in range(n):
        s["p"]["x"] += i
        s["l"][i % 2] += 1
        q["y"] = q["y"] * 2
    return s["p"]["x"], s["p"]["y"], s["l"]


@case(N([0, 2, 3, 5]))
def list_of(n):
    ps = [{"x": 0, "v": 1}, {"x": 5, "v": -1}]
    for t in range(n):
        for p in ps:
            p["x"] += p["v"]
        if ps[0]["x"] >= ps[1]["x"]:
            ps[0]["v"] = -ps[0]["v"]
    return ps[0]["x"], ps[1]["x"]


@case(N([0, 2, 3, 5]))
def newkey(n):
    d = {}
    for i in range(3):
        d["k"] = n + i
        if n > 1:
            d["j"] = i
    return d["k"], len(d)


@case(N([0, 2, 3, 5]))
def ints(n):
    d = {0: 0, 1: 0}
    for i in range(n):
        d[0] += 1
        if i % 2:
            d[1] += i
    return d[0], d[1], len(d)


@case(N([0, 2, 3, 5]))
def closure(n):
    s = {"c": 0}

    def tick(k):
        s["c"] += k
        return s["c"]

    if n > 1:
        tick(2)
    return tick(1) + s["c"]


@case(N([0, 2, 3, 5]))
def rows_of_lists(n):
    g = [[0, 1], [5, -1]]
    for t in range(n):
        for p in g:
            p[0] += p[1]
    return g[0][0], g[1][0]


@case(N([0, 2, 3, 5]))
def rows_of_dicts(n):
    g = [{"x": n, "v": 1}, {"x": 5, "v": -1}]
    for p in g:
        p["x"] += p["v"]
    return g[0]["x"], g[1]["x"]


@case(N([0, 2, 3]))
def rows_that_grow(n):
    g = [[], []]
    for i in range(n):
        for p in g:
            p.append(i)
    return g


@case(N([0, 2, 3]))
def rows_sorted(n):
    g = [[3, 1, 2], [2, 9, n]]
    for k, row in enumerate(g):
        row.sort()
        row[0] = k
    return g
