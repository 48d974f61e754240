# %% [markdown]
# # Recursion over trees of all shapes
#
# Formulas are trees, and no two have the same shape. A function that computes one is
# five lines of recursion; on a batch of formulas, every member goes down another tree.
# `@autobatch` runs them side by side.

# %%
import time

import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf

import autobatch as ab

# %% [markdown]
# ## A tree as arrays
#
# A node has a kind, a number, and two children, by their places. That is all that a
# tree needs, whatever its shape.

# %%
X, NUMBER, PLUS, TIMES, SINE = range(5)


def grown(rng, size):
    """A random formula of so many nodes, filled up to 15: kinds, numbers, children."""
    kinds, numbers = np.full(15, NUMBER), np.zeros(15)
    children = np.zeros([15, 2], int)

    def grow(at, size, free):
        if size == 1:
            kinds[at], numbers[at] = rng.choice([X, NUMBER]), rng.integers(-3, 4)
            return free
        if size == 2:
            kinds[at], children[at] = SINE, (free, 0)
            return grow(free, 1, free + 1)
        kinds[at] = rng.choice([PLUS, TIMES])
        left = rng.integers(1, size - 1)
        children[at, 0] = free
        free = grow(free, left, free + 1)
        children[at, 1] = free
        return grow(free, size - 1 - left, free + 1)

    grow(0, size, 1)
    return kinds.astype(np.int32), numbers.astype(np.float32), children.astype(np.int32)


# %% [markdown]
# ## The function, for one formula


# %%
@ab.autobatch
def value(kinds, numbers, children, at, x):
    """What the tree below a node is worth at x."""
    kind = kinds[at]
    if kind == X:
        return x
    if kind == NUMBER:
        return numbers[at]
    left = value(kinds, numbers, children, children[at, 0], x)
    if kind == SINE:
        return tf.sin(left)
    right = value(kinds, numbers, children, children[at, 1], x)
    return left + right if kind == PLUS else left * right


def shown(kinds, numbers, children, at=0):
    """The formula as one reads it: plain Python."""
    left, right = children[at]
    match kinds[at]:
        case 0:
            return "x"
        case 1:
            return f"{numbers[at]:.0f}"
        case 4:
            return f"sin({shown(kinds, numbers, children, left)})"
    sides = [shown(kinds, numbers, children, at) for at in (left, right)]
    return f"({(' + ' if kinds[at] == PLUS else ' * ').join(sides)})"


# %% [markdown]
# ## Ten thousand formulas at a time

# %%
rng = np.random.default_rng(0)
trees = [
    np.stack(part)
    for part in zip(
        *(grown(rng, rng.integers(1, 16)) for _ in range(10_000)), strict=True
    )
]
roots, xs = np.zeros(10_000, np.int32), rng.normal(size=10_000).astype(np.float32)

value(*trees, roots, xs)  # compiles
start = time.perf_counter()
found = value(*trees, roots, xs)
print(f"{len(xs):,} formulas in {1e3 * (time.perf_counter() - start):.1f} ms")
for k in range(5):
    print(f"{shown(*(part[k] for part in trees))} at x = {xs[k]:.3f} is {found[k]:.4f}")

# %% [markdown]
# Is it right? Python's own `eval` says so, of what is shown:

# %%
wanted = [
    eval(shown(*(p[k] for p in trees)), {"sin": np.sin, "x": xs[k]}) for k in range(500)
]
print(
    "farthest from Python:",
    np.max(np.abs(found[:500] - np.array(wanted)) / (1 + np.abs(wanted))),
)

# %% [markdown]
# ## A slope at every x
#
# The recursion can be differentiated too; the tape goes back over each member's own
# calls.

# %%
x = tf.constant(np.linspace(-3, 3, 200), tf.float32)
k = 1
same = [np.repeat(part[k : k + 1], 200, axis=0) for part in trees]
with tf.GradientTape() as tape:
    tape.watch(x)
    y = value(*same, np.zeros(200, np.int32), x)
slope = tape.gradient(y, x)

figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
axes.plot(x, y, label="the formula")
axes.plot(x, slope, label="its slope")
axes.set(xlabel="x", title=shown(*(part[k] for part in trees)))
axes.legend(frameon=False)
plt.show()

# %% [markdown]
# ## Where the time goes
#
# Lanes at the same block work together; `profile` counts how many of them do.

# %%
print(ab.profile(value, *trees, roots, xs))
