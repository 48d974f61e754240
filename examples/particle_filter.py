"""A particle filter over programs: prey and predators are born, eat and die one by one; of the prey, some are counted.

python -m examples.particle_filter [--particles 1000] [--counts 40] [--out out]
"""

from pathlib import Path

import numpy as np
import typer
from matplotlib.figure import Figure

import autobatch as ab
from examples.against_a_loop import report, save

BIRTHS, MEALS, DEATHS, SEEN = 1.0, 0.005, 0.6, 0.3  # a prey's, a pair's, a predator's; the share that is counted
BETWEEN, START = 0.5, (50, 100)  # time from one count to the next; how many there are of each


@ab.autobatch
def lived(prey, predators, meals, key):
    """How many there are when it is time to count, and how much has happened: Gillespie's direct method (1977)."""
    time, events = BETWEEN, 0
    while True:
        born, eaten, starved = BIRTHS * prey, meals * prey * predators, DEATHS * predators
        rate = born + eaten + starved
        if rate == 0:
            return prey, predators, events
        key, first, second = ab.random.split(key, 3)
        time -= ab.random.exponential(first) / rate
        if time < 0:
            return prey, predators, events
        which = rate * ab.random.uniform(second)
        if which < born:
            prey += 1
        elif which < born + eaten:
            prey, predators = prey - 1, predators + 1
        else:
            predators -= 1
        events += 1


def filtered(counted, meals, particles, rng):
    """[counts, rates, particles], prey and predators that the counts leave; [rates], the counts' log-likelihoods.

    Gordon, Salmond and Smith 1993. ``meals``: [rates]; each has particles of its own, and all of them are one batch.
    """
    rates = np.repeat(meals, particles)
    animals, likelihood, kept = np.tile(START, (len(rates), 1)).T, np.zeros(len(meals)), []
    for k, count in enumerate(counted):
        prey, predators, _ = lived(*animals, rates, ab.random.split(ab.random.key(k), len(rates)))
        shown = SEEN * np.reshape(np.maximum(prey, 1e-3), (len(meals), particles))
        weights = count * np.log(shown) - shown - np.sum(np.log(np.arange(1, count + 1)))  # Poisson
        likelihood += np.log(np.mean(parts := np.exp(weights - weights.max(1, keepdims=True)), 1)) + weights.max(1)
        grid = (np.arange(particles) + rng.uniform(size=(len(meals), 1))) / particles
        sums = np.cumsum(parts, axis=1) / np.sum(parts, axis=1, keepdims=True)
        drawn = [np.minimum(np.searchsorted(*row), particles - 1) for row in zip(sums, grid, strict=True)]
        animals = np.stack([prey, predators])[:, np.ravel(drawn + particles * np.arange(len(meals))[:, None])]
        kept.append(animals.reshape(2, len(meals), particles))
    return np.stack(kept, axis=1), likelihood


def main(particles: int = 1000, counts: int = 40, rates: int = 15, out: Path = Path("out")) -> None:
    truth, rng = [START], np.random.default_rng(3)
    for k in range(counts):
        key = ab.random.split(ab.random.key(1000 + k), 1)
        prey, predators, _ = lived(*np.array(truth[-1:]).T, np.array([MEALS]), key)
        truth.append((int(prey[0]), int(predators[0])))
    counted = rng.poisson(SEEN * (truth := np.array(truth[1:]))[:, 0])
    meals = MEALS * np.geomspace(0.7, 1.4, rates)
    animals, likelihood = filtered(counted, meals, particles, rng)
    low, high = np.quantile(animals[:, :, np.argmax(likelihood)], (0.05, 0.95), axis=-1)
    inside = 1 - np.mean((low > truth.T) | (high < truth.T), axis=1)
    print("the truth is within the band that has 90%: prey {:.0%} of the times, predators {:.0%}".format(*inside))
    batch = (*animals[:, -1].reshape(2, -1), np.repeat(meals, particles))
    *_, events = report(lived, *batch, ab.random.split(ab.random.key(0), len(batch[0])))
    print(f"from one count to the next, {np.min(events)} to {np.max(events)} events a particle")
    figure = Figure(figsize=(12, 3.6), layout="constrained")
    axes, other = figure.subplots(1, 2, width_ratios=(2, 1))
    times = BETWEEN * np.arange(1, counts + 1)
    for k, name in enumerate(("prey", "predators")):
        axes.fill_between(times, low[k], high[k], color=f"C{k}", alpha=0.25, lw=0)
        axes.plot(times, truth[:, k], color=f"C{k}", label=name)
    axes.plot(times, counted / SEEN, "k.", ms=4, label=f"prey that were counted / {SEEN}")
    axes.set(xlabel="time", ylabel="animals", title="from counts of prey alone: bands that have 90% of the particles")
    axes.legend(frameon=False, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.18))
    other.plot(1e3 * meals, likelihood - likelihood.max(), "o-")
    other.axvline(1e3 * MEALS, color="0.5", ls="--", lw=1)
    other.set(xlabel="meals of 1,000 pairs in a unit of time", ylabel="log-likelihood", title="dashed: the truth")
    save(figure, out / "particle_filter.png")


if __name__ == "__main__":
    typer.run(main)
