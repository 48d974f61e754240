"""Data."""

import dataclasses
import enum
import functools
import math
from collections import Counter, deque, namedtuple

import tensorflow as tf

import autobatch as ab
from tests.conformance import N, V, X, feature

Point = namedtuple("Point", ["x", "y"])
RAGGED = tf.ragged.constant([[1.0, 2.0, -3.0], [], [4.0]])


@ab.struct
@dataclasses.dataclass(frozen=True)
class Particle:
    position: tf.Tensor
    velocity: tf.Tensor
    bounces: int = 0

    def speed(self):
        return tf.abs(self.velocity)


@feature("tuples, lists, dicts, namedtuples of tensors: variables, arguments, results", {"p": (X, N)}, Point(X, X))
def nests(d, point):
    p, k = d["p"]
    found = [p, k]
    while point.x < 5.0:
        point = point._replace(x=point.x + 2.0, y=point.y * p)
        found = [point.y, found[1] + 1]
        d = {**d, "p": (p, found[1])}
    return point, found, d


@feature("dataclasses, decorated with `@ab.struct`", Particle(X, X * 2.0, N))
def dataclass(particle):
    while particle.speed() > 0.5:
        particle = dataclasses.replace(
            particle, position=particle.position + particle.velocity, velocity=particle.velocity * 0.5
        )
        if particle.position > 3.0:
            particle = Particle(6.0 - particle.position, -particle.velocity, particle.bounces + 1)
    return particle


@feature("`tf.RaggedTensor` arguments: `for row in x`, `enumerate(x)`, `len(x)`, `x[i]`", RAGGED, X)
def ragged(rows, x):
    total = 0.0
    for row in rows:
        total += row * x
    for i, row in enumerate(rows):
        total += row if i % 2 == 1 else 0.0
    if len(rows) > 1:
        total += rows[-1] * 100.0 + rows[len(rows) - 2]
    return total, len(rows)


@feature("arguments that all members share", X, tf.constant([1.0, 2.0]), note="`in_axes=None`", in_axes=(0, None))
def shared(x, weights):
    while x < 5.0:
        for w in weights:
            x = tf.abs(x) + w
    return x


@feature("variables that are `None`, strings, functions, where all members agree", X)
def agreed(x):
    mode, extra, apply = "sin", None, tf.sin
    while x > 0.5:
        x = apply(x) * 0.9 if mode == "sin" else x
        x = x if extra is None else x + extra
    return x, extra


@feature("a variable that is `None` for some members", X, V, note="a result must not be")
def none_for_some(x, v):
    best = None
    for y in v:
        if y > x and (best is None or y < best):
            best = y
    return x if best is None else best


def or_zero(y):
    return 0.0 if y is None else y


@feature("helpers that test for `None`; operands, arms and names at once that are `None` for some members", X, V)
def least_or_greatest(x, v):
    low, high = None, None
    for y in v:
        low = y if y > x and (low is None or y < low) else low
        high = y if y < x else high
    found = low is not None
    low, high = high, low
    nearest = high if found and high < x + 2.0 else low
    return or_zero(nearest) + or_zero(low and x) + (high or 0.0)


@feature("an argument that is `None` if it is not given", N)
def squares(n, found=None):
    if found is None:
        found = []
    if n <= 0:
        return sum(found)
    found.append(n * n)
    return squares(n - 1, found)


@feature("tuples and lists in order", N, X)
def earlier(n, x):
    return (n % 2, x) < (1, 0.5), [n, 3] >= [2, n], (n, x) == (1, x)


@feature("a name that is used again for another type", X)
def reused_name(x):
    n = tf.cast(x, tf.int32)
    x = tf.stack([x, x])
    x = tf.reduce_sum(x)
    n = tf.cast(n, tf.float32) + x
    return n


@feature("a list that is built and used within one block", X, V)
def lists(x, v):
    parts = []
    for k in ab.unroll(range(3)):
        parts.append(v[k] * x)
    table = {}
    table["sum"] = sum(parts)
    return tf.stack(parts), table


@feature("a list that is filled in an unrolled loop with branches", X, V, note="its length is known")
def filled_lists(x, v):
    parts = []
    for k in ab.unroll(range(3)):
        y = v[k]
        if y > x:
            y = x
        parts.append(y)
    return tf.stack(parts)


@feature("a list of each member's own length", N, note="returned, a `tf.RaggedTensor`")
def grown_lists(n):
    found = [n]
    while n > 0:
        if n % 2 == 1:
            found.append(n * 10)
        n -= 1
    return found


@feature("a stack: `while stack:`, `pop`, `append`, `extend`", N)
def worked_off(n):
    stack, count = [n], 0
    while stack:
        k = stack.pop()
        count += 1
        if k > 0:
            stack.append(k - 1)
            stack.extend([k // 2] if k > 1 else [])
    return count


@feature("tables for dynamic programming: `[0] * n`, `[[0] * m for _ in range(n)]`, `table[i][j] = v`", N)
def paths(n):
    table = [[1] * 4 for _ in range(n + 1)]
    last = [0] * (n + 1)
    for i in range(1, n + 1):
        for j in range(1, 4):
            table[i][j] = table[i - 1][j] + table[i][j - 1]
        last[i] = table[i][3]
    return table[n][3], max(last), sum(last)


@feature("slices, comprehensions, `sorted`, `in`, `==`, `+` of such lists", N)
def sliced_lists(n):
    squares = [i * i % 5 for i in range(n + 2) if i != 1]
    both = squares[1:] + squares[::-1]
    return sorted(both)[-1], 4 in both, squares == both[:n], len([a for a in both if a > 0])


@feature("a list that a function changes for its caller", N)
def filled_by_a_function(n):
    found = []
    count_down(n, found)
    return len(found), sum(found)


@ab.autobatch
def count_down(n, found):
    if n > 0:
        found.append(n)
        count_down(n - 1, found)


@feature("sets that are filled: `add`, `discard`, `remove`, `update`, `clear`, `in`, `len`, `sorted`", N)
def filled_set(n):
    seen = {1}
    for k in range(6):
        value = int(k * n % 5)
        if value not in seen:
            seen.add(value)
    seen.discard(3)
    return len(seen), sum(sorted(seen))


@feature("sets that are only asked: `len(set(xs))`, `x in {a, b}`, `{f(x) for x in xs}`", N)
def distinct(n):
    remainders = {i * i % 3 for i in range(n)}
    return len(set([i // 2 for i in range(n)])), 1 in remainders, 2 in {len(remainders), 3}


@feature("`sorted`, `min`, `max` by a key", X, N)
def by_a_key(x, n):
    pairs = [(i * 3 % 4, x + i) for i in range(n + 1)]
    first = min(pairs, key=lambda pair: abs(pair[1]))
    return sorted(pairs, key=lambda pair: (pair[0], -pair[1]))[0][1] + first[1]


def memorised(k, memo):
    if k not in memo:
        memo[k] = 1 if k < 2 else memorised(k - 1, memo) + memorised(k - 2, memo)
    return memo[k]


@feature("such a dict as an argument, or an object's: `memo`", N)
def hands_on_a_memo(n):
    return memorised(int(n), {}) + memorised(3, {})


@feature("a dict, a `defaultdict` or a `Counter` that is filled at keys of each member's own", N)
def remembers(n):
    n, memo, counts = int(n), {}, Counter()

    def ways(k):
        if k < 2:
            return 1
        if k not in memo:
            memo[k] = ways(k - 1) + ways(k - 2)
        return memo[k]

    for i in range(n):
        counts[ways(i) % 3] += 1
    return ways(n), counts[1], len(counts)


@feature("`functools.reduce`, `math.prod`, `a, *rest = xs`, lists in order", N)
def reduces(n):
    def step(a, b):
        return a * 2 - b

    xs = [i + 1 for i in range(n + 1)]
    first, *rest = xs
    return functools.reduce(step, xs), math.prod(rest), rest < xs, max(rest, default=first)


@feature("a `deque` with a greatest length, and `rotate`", N)
def lasts(n):
    last = deque(maxlen=3)
    for i in range(n + 4):
        last.append(i * i)
    last.rotate(n)
    return sum(last), last[0]


class Light(enum.Enum):
    RED = 3.0
    GREEN = 2.0

    @property
    def after(self):
        return Light.GREEN if self is Light.RED else Light.RED


@feature("texts and members of an `Enum` that differ between members: compared, looked up, in lists and results", X, N)
def texts(x, n):
    state, light, log = "slow", Light.RED, []
    for _ in range(n):
        x *= {"slow": 0.5, "fast": 2.0}[state]
        if x > light.value:
            light = light.after
        state = "fast" if light is Light.GREEN else "slow"
        log.append(state[0])
    return x, state == "fast", light.value, log.count("f")


def halved(x):
    return x / 2


def grown(x):
    while x < 4:
        x = abs(x) + 1.5
    return x


@feature("functions that differ between members: called, compared, in lists and tables", X, N)
def functions(x, n):
    step, steps = halved, [halved, grown, abs]
    for i in range(n):
        x = step(x - 1)
        step = steps[(i + n) % 3] if x < 3 else halved
    return x, step is grown


@feature("a dict of known keys: changed in place, in branches, loops and functions", X, N)
def known_keys(x, n):
    account = {"balance": x, "fees": 0.0, "turns": 0}

    def charge(fee):
        if account["balance"] > 1:
            account["balance"] -= fee
            account["fees"] += fee

    for _ in range(n):
        charge(0.5)
        account["turns"] += 1
    return account["balance"] * account["turns"] + account["fees"]


@feature("rows, and dicts, that are changed while a list of them is looped over", X, N)
def rows(x, n):
    table = [[x, 0.0] for _ in range(n)]
    for k, row in enumerate(table):
        row[1] = row[0] * k
        if row[1] > 1:
            row.append(1.0)
    items = [{"cost": x, "left": 2}, {"cost": 1.0, "left": n}]
    for item in items:
        if item["left"] > 1:
            item["cost"] *= 2
    return sum(len(row) + row[-1] for row in table) + items[0]["cost"] + items[1]["cost"]


@feature("`tf.RaggedTensor` arguments of numbers: changed, sliced, sorted, handed on, as lists are", RAGGED)
def row_as_list(row):
    ordered = sorted(row)
    row.append(sum(ordered[1:]))
    row[0] += 1.0
    return row[:-1], sum(row), row[::-1] == row
