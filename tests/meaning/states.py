"""A member's text, or member of an enum: one of several that are known."""

# ruff: noqa
import enum
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

import autobatch as ab

from tests.meaning.case import case

n = np.array([3, 0, 7, 12, -2])
x = np.array([1.5, -2.0, 0.25, 3.0, 9.0])


class State(enum.Enum):
    IDLE = "idle"
    HEATING = "heating"
    DONE = "done"


class Light(enum.Enum):
    RED = 3
    GREEN = 2
    AMBER = 1

    def next(self):
        return {Light.RED: Light.GREEN, Light.GREEN: Light.AMBER, Light.AMBER: Light.RED}[self]

    @property
    def stops(self):
        return self is not Light.GREEN


class Level(enum.IntEnum):
    LOW = 1
    MIDDLE = 5
    HIGH = 9


class Access(enum.Flag):
    NONE = 0
    READ = enum.auto()
    WRITE = enum.auto()


class Heading(enum.Enum):
    NORTH = (0, 1)
    EAST = (1, 0)
    SOUTH = (0, -1)
    WEST = (-1, 0)

    def __init__(self, dx, dy):
        self.dx, self.dy = dx, dy


@case(n)
def a_machine_of_texts(n):
    state, steps = "start", 0
    while state != "end":
        steps += 1
        if state == "start":
            state = "middle" if n > 0 else "end"
        elif state == "middle":
            n -= 2
            if n <= 0:
                state = "end"
    return steps, n


@case(n)
def a_machine_of_an_enum(n):
    state, heat = State.IDLE, 0
    for _ in range(20):
        if state is State.IDLE:
            if n > 2:
                state = State.HEATING
        elif state is State.HEATING:
            heat += 3
            if heat > n:
                state = State.DONE
        else:
            break
    return heat, state == State.DONE, state is not State.IDLE


@case(n)
def with_match(n):
    state, turns = State.IDLE, 0
    while turns < 9:
        turns += 1
        match state:
            case State.IDLE:
                state = State.HEATING if n > turns else State.IDLE
            case State.HEATING | State.DONE if n % 2:
                state = State.DONE
                break
            case _:
                n += 1
    return turns, n, state.value == "done"


@case(n)
def with_match_of_texts(n):
    word, k = "a", 0
    for i in range(n):
        match word:
            case "a":
                word = "bb"
            case "bb":
                word = "ccc" if i % 3 else "a"
            case other:
                word = "a"
                k += len(other)
    return k, len(word)


@case(n)
def returned_texts(n):
    if n < 0:
        return "negative"
    return "even" if n % 2 == 0 else "odd"


@case(n)
def returned_bytes_and_numbers(n):
    kind, level = (b"small", Level.LOW) if n < 5 else (b"large", Level.HIGH)
    return kind, level, n


@case(n)
def of_a_table(n):
    price = {"child": 3, "adult": 8, "senior": 5}
    kind = "child" if n < 1 else "adult" if n < 10 else "senior"
    total = price[kind] * 2
    if kind in price and kind in ("child", "senior"):
        total -= 1
    return total, kind in {"adult"}, kind not in ["adult", "child"]


@case(n)
def a_key_that_is_not_there(n):
    name = "x" if n > 2 else "y"
    return {"x": n}[name]


@case(n, fails=())
def a_key_that_is_caught(n):
    name = "x" if n > 2 else "y"
    try:
        return {"x": n}[name]
    except KeyError:
        return -1


@case(n)
def moves(n):
    x, y, heading = 0, 0, Heading.NORTH
    for i in range(n):
        x += heading.dx
        y += heading.dy
        if i % 3 == 2:
            heading = Heading.EAST if heading == Heading.NORTH else Heading.SOUTH
    dx, dy = heading.value
    return x, y, dx, dy


@case(n)
def turns_by_a_list(n):
    order = ["N", "E", "S", "W"]
    k = 0
    east = 0
    for i in range(n):
        k = (k + i) % 4
        if order[k] == "E":
            east += 1
    return order[k], east, order[-1 - k] == "N", "NESW"[k], order.index("S")


@case(n)
def methods_of_an_enum(n):
    light, waits = Light.RED, 0
    for _ in range(n):
        if light.stops:
            waits += light.value
        light = light.next()
    return waits, light.name, light.value * 2


class Drink(enum.Enum):
    TEA = 1
    COFFEE = 2
    WATER = 3

    @property
    def price(self):
        return {Drink.TEA: 3, Drink.COFFEE: 4}[self]

    @classmethod
    def first(cls):
        return cls.TEA

    @staticmethod
    def sizes():
        return 2


@case(n)
def a_property_that_fails_for_some(n):
    drink = Drink.WATER if n < 0 else Drink.TEA if n < 5 else Drink.COFFEE
    try:
        return drink.price, drink.first() is Drink.TEA, drink.sizes()
    except KeyError:
        return -1, False, 0


@case(n)
def numbers_of_an_enum(n):
    level = Level.LOW
    if n > 2:
        level = Level.MIDDLE
    if n > 8:
        level = Level.HIGH
    return level + 1, level < Level.HIGH, level == 5, 10 - level, -level, level * n, max(level, Level.MIDDLE)


@case(n)
def flags(n):
    access = Access.NONE
    if n > 0:
        access |= Access.READ
    if n > 5:
        access |= Access.WRITE
    return access.value, Access.WRITE in access, bool(access & Access.READ), not access


@case(n)
def texts_of_texts(n):
    word = "ab" if n > 0 else "c"
    longer = word + "d" * 2 + ("!" if n % 2 else "?")
    return longer, len(longer), word.upper(), longer.startswith("a"), word * 2, word[0], "b" in word, word < "b"


@case(n)
def truth_of_texts(n):
    name = "" if n < 1 else "someone"
    if not name:
        return 0
    return 1 if name and n > 3 else 2


@case(n)
def digits(n):
    c = "4" if n > 2 else "7"
    return int(c) + n, float(c), ord(c) - ord("0"), str(c) == "4", isinstance(c, str), type(c) is str


@case(n)
def none_or_a_text(n):
    found = None
    for i in range(n):
        if i == 2:
            found = "third"
        if i == 6:
            found = "seventh"
    if found is None:
        return 0
    return 1 if found == "third" else 2


@case(n)
def in_tuples_and_dicts(n):
    here = ("N", 0)
    if n > 2:
        here = ("S", n)
    best = {"name": "none", "score": -1}
    for i in range(n):
        if i * 5 % 7 > best["score"]:
            best = {"name": "odd" if i % 2 else "even", "score": i * 5 % 7}
    return here[0] == "S", here[1], best["name"], best["score"]


def opposite(side):
    if side == "left":
        return "right"
    if side == "right":
        return "left"
    return side


@case(n)
def through_calls(n):
    side = "left"
    for _ in range(n):
        side = opposite(side)
    return side, opposite(side), opposite("up")


def deeper(n, turn):
    if n <= 0:
        return turn
    return deeper(n - 1, "you" if turn == "me" else "me")


@case(n)
def recursion(n):
    return deeper(n, "me") == "me"


def hanoi_moves(n, a, b, c):
    if n <= 0:
        return 0
    here = 1 if a == "A" and c == "C" else 0
    return hanoi_moves(n - 1, a, c, b) + here + hanoi_moves(n - 1, b, a, c)


@case(np.array([3, 0, 4, 1]))
def hanoi(n):
    return hanoi_moves(n, "A", "B", "C")


def reduced(a, how):
    return sum(a) if how == "sum" else max(a)


@case(n)
def settings_stay_known(n):
    return reduced([n, 2], "sum") * 100 + reduced([n, 2], "max")


class Door:
    def __init__(self):
        self.state = "closed"
        self.count = 0

    def push(self, hard):
        if self.state == "closed" and hard:
            self.state = "open"
            self.count += 1
        elif self.state == "open":
            self.state = "closed"


@case(n)
def in_objects(n):
    door = Door()
    for i in range(n):
        door.push(i % 3 == 0)
    return door.state, door.count


@dataclass
class Machine:
    state: State = State.IDLE
    coins: int = 0

    def insert(self):
        self.coins += 1
        if self.coins >= 3:
            self.state = State.HEATING


@case(n)
def in_dataclasses(n):
    machine = Machine()
    while machine.state == State.IDLE and machine.coins < n:
        machine.insert()
    return machine.coins, machine.state is State.HEATING, machine.state.value


@case(n)
def one_member_of_each_compared(n):
    a = "x" if n > 2 else "y"
    b = "y" if n % 2 else "z"
    return a == b, a != b, a < b, max(a, b), min(a, b), [a, b] == ["x", "y"], (a, n) < (b, 2)


@case(n)
def counted_by_name(n):
    count = {"even": 0, "odd": 0}
    for i in range(n):
        name = "odd" if i % 3 == 1 else "even"
        count[name] += i
    return count["even"], count["odd"]


@case(n, fails=())
def said_in_an_error(n):
    state = "bad" if n > 5 else "good"
    try:
        if state == "bad":
            raise ValueError(f"{state}: {n}")
    except ValueError:
        return -1
    assert state == "good", state
    return 1


@case(n)
def raised_by_some(n):
    name = "1" if n > 2 else "one"
    return int(name)


@case(n)
def chained(n):
    state = "a"
    for c in "xyxxy":
        if c == "x" and state == "a":
            state = "b"
        elif c == "y" and n > 2:
            state = "a" if state == "b" else "c"
    return state, "a" <= state < "c"


@case(n)
def swapped(n):
    player, other = "white", "black"
    for _ in range(n):
        player, other = other, player
    return player, other == "white"


@case(n, x)
def chosen_with_numbers(n, x):
    kind = "square" if n > 2 else "circle"
    area = x * x if kind == "square" else 3 * x * x
    scale = {"square": 1.0, "circle": x}[kind]
    return area, scale, {"square": (n, x), "circle": (2, 0.5)}[kind][1]


PRICE = {"child": 3, "adult": 8}


@case(n)
def asked_with_a_default(n):
    kind = "child" if n < 1 else "adult" if n < 10 else "senior"
    return PRICE.get(kind, -1), PRICE.get(kind, n), {"x": 1}.get(kind, 0)


@case(n)
def a_key_for_some(n):
    names = {"a": 0}
    names["a" if n > 2 else "b"] = n
    return names["a"], len(names), list(names)


@case(n, refused="path-types-differ")
def a_text_or_a_number(n):
    value = "none"
    if n > 2:
        value = n
    return value


@case(n, refused="object-returned")
def a_returned_enum(n):
    return State.IDLE if n > 2 else State.DONE


@case(n, refused="object-returned")
def an_enum_for_all(n):
    return n, State.IDLE


@case(n)
def the_same_for_all(n):
    return "same", b"bytes", Level.HIGH, n


@case(n)
def texts_made_of_texts(n):
    a = "x" if n > 2 else "y"
    b = "1" if n % 2 else "22"
    return f"{a}-{b}", "%s!" % a, "{}{}".format(b, a), f"{a:>3}"


@case(n)
def letters_of_numbers(n):
    shifted = [chr((ord(c) - 97 + n) % 26 + 97) for c in "hello"]
    first = chr(n + 40)
    return shifted, first, ord(first) == n + 40, first.isdigit()


@case(n)
def a_letter_of_no_number(n):
    return chr(n) < "a"


@case(n, fails=(2, 3))
def a_letter_beyond_those_that_are_known(n):
    return chr(n * 40) == "x" if n >= 0 else True


@case(n)
def members_by_their_values(n):
    light = Light(n % 3 + 1)
    side = State("idle" if n > 2 else "done")
    return light.name, Level(1 if n > 3 else 9), side is State.IDLE, Light["RED" if n % 2 else "GREEN"].value


@case(n)
def a_value_that_no_member_has(n):
    return Light(n).name


@case(n)
def a_number_for_an_enum_of_texts(n):
    try:
        return State(n).value
    except ValueError:
        return "none"


@case(n)
def zeros_of_both_signs(n):
    zero = {"a": 0.0, "b": -0.0}["a" if n > 2 else "b"]
    return np.copysign(1.0, zero), np.where(n > 2, 1.0, 2.0)


@case(n, refused="text-of-members")
def a_text_of_members(n):
    word = "a" if n > 2 else "b"
    return f"{word}{n}"


@case(n)
def a_text_that_grows_by_steps(n):
    s = ""
    if n % 3 == 0:
        s += "Fizz"
    if n % 5 == 0:
        s += "Buzz"
    word = "a"
    while n > 3:
        word = "b" + ("c" if n % 2 else "d")
        n -= 4
    if word != "a" and n:
        word = word + word[0] if n > 1 else "x" + word
    bits = ""
    for i in ab.unroll(range(3)):
        bits += "1" if n & (1 << i) else "0"
    return s or "none", word, bits


@case(n)
def in_a_grid(n):
    grid = [["."] * 3 for _ in range(2)]
    grid[n % 2][n % 3] = "X"
    code = [("push", 2), ("add", 0), ("push", n)]
    op, a = code[n % 3]
    row = grid[0]
    return row, grid[1][0], op, a, ["-"] * 2


@case(n)
def by_two_keys(n):
    table = {("a", Light.RED): 1, ("a", Light.GREEN): 2, ("b", Light.RED): 3}
    s, light = "a" if n > 2 else "b", Light.RED if n % 2 else Light.GREEN
    first, second = "ab" if n else "cd"
    direct = table.get(("a" if n > 2 else "b", light), 0), ("b" if n > 2 else "a", light) in table
    return table.get((s, light), 0), (s, light) in table, first, second, direct, table["a", light]


@case(n)
def members_of_an_enum_as_keys(n):
    count = {Light.RED: 0, Light.GREEN: 5}
    light = Light.RED
    for _ in range(n):
        count[light] += 1
        if count[light] > 2:
            light = Light.GREEN
    return count[Light.RED], count[Light.GREEN]


@case(n)
def filled_at_letters(n):
    word, found, groups = "hello" if n > 2 else "abba", {}, defaultdict(int)
    for c in word:
        found[c] = found.get(c, 0) + 1
        groups[c] += n
    return len(found), found["l"] if "l" in found else 0, groups["b"], max(found.values())


@case(n)
def beside_numbers(n):
    level = Level.HIGH if n > 2 else Level.LOW
    total = 0
    for k in range(level):
        total += k
    return n + level, n - level, n * level, n < level, total, sum([level, level])


class Pair(tuple, enum.Enum):
    UP = (0, 1)
    RIGHT = (1, 0)


@case(n, refused="object-across-branch")
def an_enum_of_tuples(n):
    pair = Pair.UP
    if n > 2:
        pair = Pair.RIGHT
    return pair[0]


def restarted(k, state=State.IDLE):
    if k > 2:
        state = State.DONE
    return state.value


@case(n)
def an_argument_that_is_set(n):
    return restarted(n), restarted(n + 1, State.HEATING)


@case(n)
def none_for_some(n):
    return PRICE.get("child" if n > 2 else "senior") is None


@case(n, refused="texts-without-end")
def a_text_that_grows(n):
    s = ""
    while n > 0:
        s = s + "x"
        n -= 1
    return len(s)


@case(n)
def lists_of_texts(n):
    path = []
    for i in range(n):
        path.append("left" if i % 3 else "right")
        if path[-1] == "left" and i > 4:
            path.append("stop")
    return path, len(path), "stop" in path, path.count("left")


@case(n)
def lists_of_an_enum(n):
    seen = []
    light = Light.RED
    for _ in range(n):
        light = light.next()
        if light not in seen:
            seen.append(light)
    return len(seen), sum(each.value for each in seen), seen == [Light.GREEN, Light.AMBER]


@case(np.array([3, 0, 7, 5]))
def a_stack_of_brackets(n):
    text = "([)]{()}"
    closing = {")": "(", "]": "[", "}": "{"}
    stack, good = [], 0
    for i in range(n):
        c = text[(i * 3 + n) % 8]
        if c in "([{":
            stack.append(c)
        elif stack and stack[-1] == closing[c]:
            stack.pop()
            good += 1
    return good, len(stack), stack


@case(n)
def sorted_texts(n):
    words = []
    for i in range(n):
        words.append("pear" if i % 3 == 0 else "fig" if i % 3 == 1 else "apple")
    words.sort()
    first = words[0] if words else "none"
    return words, first, sorted(words, reverse=True)


@case(n)
def pairs_with_texts(n):
    log = [("start", 0)]
    for i in range(n):
        log.append(("even" if i % 2 == 0 else "odd", i * i))
    total = 0
    for name, value in log:
        if name == "odd":
            total += value
    return total, log[-1][0] == "even", len([name for name, _ in log if name == "start"])


@case(n)
def counted_in_a_dict(n):
    counts = {}
    for i in range(n):
        name = "small" if i * 7 % 5 < 2 else "large"
        counts[name] = counts.get(name, 0) + 1
    return len(counts), counts.get("small", 0), "large" in counts


@case(n)
def a_set_of_texts(n):
    seen = set()
    for i in range(n):
        seen.add("abcde"[i * i % 5])
    return len(seen), "e" in seen, "z" in seen


@case(n)
def a_queue_of_states(n):
    from collections import deque

    queue, done = deque(["new"]), 0
    while queue and done < n:
        state = queue.popleft()
        done += 1
        if state == "new":
            queue.append("old")
            queue.append("new")
        else:
            queue.append("done" if done % 2 else "old")
    return done, len(queue)


@case(n)
def letters_of_a_text(n):
    word = "education" if n > 5 else "rhythm" if n else ""
    vowels = 0
    for c in word:
        if c in "aeiou":
            vowels += 1
    letters = list(word)
    places = [k for k, c in enumerate(word) if c == "t"]
    both = sum(1 for a, b in zip(word, reversed(word)) if a == b)
    return vowels, len(letters), letters, places, both, sorted(word)


@case(n)
def letters_of_texts_of_one_length(n):
    word, found = "abca" if n > 2 else "bbcd", 0
    for c in word:
        found = found * 2 + (c == "b")
    return found, word[n % 4], word == word[::-1], word[1:3], word.count("b"), word.find("c")


def longest(first, second):
    return max(first, second, key=len)


@case(n)
def functions_of_pythons_own(n):
    w = "abcab" if n > 2 else "b" if n else ""
    v = "b" if n % 2 else "a"
    found = w.find(v), "abc".index(v), w.replace(v, "_"), "-".join([w, v]), str.upper(w), w.startswith(v), w.split(v)[0]
    letters = len(set(w)), set(w) == {"b"}, all(c in "ab" for c in w), w.count(v), longest(w, v), max(w, v, key=len)
    return found, letters, {w: 1}.get("b", 0), "%s-%s" % (w, v), w.__len__(), w.__contains__("c")


@case(n)
def parts_of_texts(n):
    w = "hello" if n > 2 else "ab"
    return w[:n], w[n:], w[n : n + 2], "abcd"[-n:], w[1:], [w[i : i + 2] for i in range(0, len(w), 2)]


@case(n)
def an_empty_text(n):
    w = ["abc", "hello", "", "zz"][n % 4]
    return w[n % 5]


@case(n, refused="member-of-number")
def a_flag_of_a_number(n):
    return Access(n % 4).value


@case(n, refused="changing-class")
def an_enum_of_the_function(n):
    C = enum.Enum("C", "A B")
    c = C.A
    for _ in range(n):
        c = C.B if c is C.A else C.A
    return c.name


@case(n)
def a_text_by_a_number_that_is_known_before_a_loop(n):
    w, s = "a", 0
    w = "abc"[s % 3]
    for i in range(n):
        s = (s + i + 1) % 17
        w = "abc"[s % 3]
    return w, s
