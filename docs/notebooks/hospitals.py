# %% [markdown]
# # A hierarchical model, from prior to predictive check
#
# Twelve hospitals report how many operations they did on newborn children, and how
# many of those children died (the *Surgical* example of the BUGS manual, volume 1).
# Which hospital is the worst, and how sure can one be? Small hospitals tell little by
# themselves; a hierarchical model has them share what all of them tell.

# %%
import arviz as az
import matplotlib.pyplot as plt
import numpy as np
import tensorflow_probability as tfp

import autobatch as ab

tfd = tfp.distributions
names = list("ABCDEFGHIJKL")
operations = np.array(
    [47, 148, 119, 810, 211, 196, 148, 215, 207, 97, 256, 360], np.float32
)
deaths = np.array([0, 18, 8, 46, 8, 13, 9, 31, 14, 8, 29, 24], np.float32)


# %% [markdown]
# ## The model
#
# A hospital's log-odds of a death are normal around those of all hospitals: three
# lines of TensorFlow Probability.


# %%
def model():
    mean = yield tfd.Normal(-2.0, 1.0, name="mean")
    spread = yield tfd.HalfNormal(1.0, name="spread")
    odds = yield tfd.Sample(tfd.Normal(mean, spread), 12, name="odds")
    yield tfd.Independent(tfd.Binomial(operations, logits=odds), 1, name="deaths")


hospitals = tfd.JointDistributionCoroutineAutoBatched(model)

# %% [markdown]
# ## Does the prior make sense?
#
# Before any death is looked at: which rates does the model think possible? From almost
# none to one in two, which is wide, and not absurd.

# %%
before = hospitals.sample(2000, seed=1)
rates_before = (before.deaths / operations).numpy()
print(
    "prior rates of death, 5%, 50%, 95%:",
    np.quantile(rates_before, [0.05, 0.5, 0.95]).round(3),
)

# %% [markdown]
# ## Sampling
#
# Sixteen chains, all of them one program: each builds its own trajectories, and none
# waits for another's.

# %%
result = ab.mcmc.sample(
    hospitals,
    observed={"deaths": deaths},
    chains=16,
    num_results=1000,
    num_warmup=500,
    seed=0,
    progress=False,
)
print(result)
result.summary()

# %% [markdown]
# R-hat is near 1 and the effective sample sizes are in the thousands: the chains agree
# with one another.
#
# ## The hospitals, with and without what others tell

# %%
draws = result.samples
rates = 1 / (1 + np.exp(-np.reshape(draws.odds, [-1, 12])))
low, middle, high = np.quantile(rates, [0.05, 0.5, 0.95], axis=0)

order = np.argsort(middle)
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
at = np.arange(12)
axes.hlines(at, 100 * low[order], 100 * high[order], color="C0", lw=2)
axes.plot(100 * middle[order], at, "o", color="C0", label="posterior: median, and 90%")
axes.plot(
    100 * (deaths / operations)[order], at, "x", color="C1", label="deaths / operations"
)
axes.set_yticks(at, [f"{names[k]} ({operations[k]:.0f})" for k in order])
axes.set(xlabel="deaths in 100 operations", ylabel="hospital (operations)")
axes.legend(frameon=False)
plt.show()

# %% [markdown]
# Hospital A had no death in 47 operations; the model does not believe that nobody ever
# dies there. H stands out, with many operations to show for it:

# %%
worst = np.bincount(np.argmax(rates, axis=1), minlength=12) / len(rates)
for k in np.argsort(-worst)[:3]:
    print(f"hospital {names[k]} is the worst with probability {worst[k]:.0%}")

# %% [markdown]
# ## Would such a model make such data?
#
# From each draw the model makes new data; the deaths that were seen should look like
# one more of them.

# %%
made = np.asarray(result.predictive(seed=2)["deaths"]).reshape(-1, 12)
low, high = np.quantile(made, [0.05, 0.95], axis=0)
figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
axes.bar(
    at,
    high - low + 1,
    bottom=low - 0.5,
    width=0.5,
    color="C0",
    alpha=0.3,
    label="90% of what the model makes",
)
axes.plot(at, deaths, "o", color="C1", label="what was seen")
axes.set_xticks(at, names)
axes.set(xlabel="hospital", ylabel="deaths")
axes.legend(frameon=False)
plt.show()
outside = np.sum((low > deaths) | (high < deaths))
print(f"{12 - outside} of the 12 hospitals lie within their 90%")

# %% [markdown]
# `to_arviz` hands all of it to ArviZ, with names for what the axes are:

# %%
data = result.to_arviz(
    predictive=True,
    coords={"hospital": names},
    dims={"odds": ["hospital"], "deaths": ["hospital"]},
)
az.plot_forest(data, var_names=["odds"], combined=True, figsize=(7, 4))
plt.show()
