# %% [markdown]
# # A simulation by events
#
# Customers come to a shop at random, wait for one of its tills, pay, and leave. Time
# does not go by in steps but from one event to the next, so one day takes more events
# than another: no array has the right shape. As a program of one day it is a page;
# `f.map` runs any number of days, a thousand at a time, and begins the next day in the
# lane of one that is over.

# %%
import matplotlib.pyplot as plt
import numpy as np

import autobatch as ab

# %% [markdown]
# ## One day


# %%
@ab.autobatch
def day(tills, coming, key):
    """Customers served, their mean wait in minutes, and the longest queue.

    The doors close after 600 minutes.

    ``coming``: customers a minute, who take two minutes each at a till on average.
    """
    time, waiting, busy, served, waited, longest = 0.0, 0, 0, 0, 0.0, 0
    while True:
        key, first, second = ab.random.split(key, 3)
        arrivals = coming if time < 600 else 0.0
        rate = arrivals + 0.5 * busy
        if rate == 0:
            return served, waited / max(served, 1), longest
        passed = ab.random.exponential(first) / rate
        time, waited = time + passed, waited + waiting * passed
        if ab.random.uniform(second) * rate < arrivals:
            waiting += 1
        else:
            busy, served = busy - 1, served + 1
        while waiting > 0 and busy < tills:
            waiting, busy = waiting - 1, busy + 1
        longest = max(longest, waiting)


# %% [markdown]
# `unbatched` is the same function in plain Python, for a look at a single day:

# %%
print("one day:", *day.unbatched(3, 1.2, ab.random.key(0)))

# %% [markdown]
# ## Ten thousand days
#
# How many tills should be open, for how many customers? Five numbers of tills, ten
# rates, two hundred days each.

# %%
tills, rates = np.arange(1, 6), np.linspace(0.2, 2.0, 10)
grid = np.array([(t, r) for t in tills for r in rates for _ in range(200)])
keys = ab.random.split(ab.random.key(1), len(grid))
tills_open, coming = grid[:, 0].astype(np.int32), grid[:, 1].astype(np.float32)
served, wait, longest = day.map(tills_open, coming, keys, lanes=1000)
print(f"{len(grid):,} days, {np.sum(served):,} customers")

# %% [markdown]
# ## What to expect of it
#
# The mean wait rises steeply where customers come faster than the tills can serve: at
# half a customer a minute for each.

# %%
mean = np.reshape(wait, (5, 10, 200))
figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
for k, number in enumerate(tills):
    low, high = np.quantile(mean[k], [0.1, 0.9], axis=1)
    axes.fill_between(rates, low + 0.01, high + 0.01, alpha=0.2, color=f"C{k}", lw=0)
    axes.plot(
        rates, mean[k].mean(1) + 0.01, "o-", ms=4, color=f"C{k}", label=f"{number}"
    )
axes.set(
    yscale="log",
    xlabel="customers a minute",
    ylabel="mean wait + 0.01, minutes (and 80% of the days)",
)
axes.legend(frameon=False, title="tills", loc="upper left", bbox_to_anchor=(1, 1))
plt.show()

# %% [markdown]
# A queue with one till is known on paper: with 0.2 customers a minute, the tills being
# busy two fifths of the time, the mean wait is `0.4 / (0.5 - 0.2)` minutes (Erlang; an
# M/M/1 queue).

# %%
print(f"on paper {0.4 / (0.5 - 0.2):.3f} minutes")
print(f"of 200 days {mean[0, 0].mean():.3f} ± {mean[0, 0].std() / np.sqrt(200):.3f}")

# %% [markdown]
# ## Without keeping the days
#
# Where only a mean is wanted, days may come from a generator, and results go as they
# come: ten million days would fit.


# %%
def days():
    for k in range(2000):
        yield (
            np.int32(2),
            np.float32(0.8),
            ab.random.fold_in(ab.random.key(7), k).numpy(),
        )


total = count = 0
for result in day.map(days(), lanes=500):
    total, count = total + float(result[1]), count + 1
print(f"{count:,} days with two tills: {total / count:.2f} minutes")
