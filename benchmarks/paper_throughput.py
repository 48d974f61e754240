"""The paper's figure 6: gradients a second of NUTS on the logistic regression, against the number of chains.

As there: 4 leapfrogs a leaf (of a quarter of the step each), float32, warm; gradients for which a lane only waits do
not count.  A run is of 20 transitions, or chains would wait at its end for the longest of one or two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from statistics import median

import numpy as np

from benchmarks.dispatch import nuts
from benchmarks.nuts import LIMIT, gradient_alone, installed
from benchmarks.problems import PROBLEMS
from benchmarks.samplers import SYSTEMS, System, tfp_mcmc
from benchmarks.timing import seconds

LEAPFROGS = 4  # a leaf, where the sampler has the choice
TRANSITIONS = 20
MOST = 5  # runs, of which the median counts
OURS = {
    "program counter, XLA": {},
    "local static, TensorFlow": {"backend": "local_static", "jit_compile": False},
    "hybrid: local static, XLA regions": {"backend": "local_static"},
    "unbatched, Eager": {"backend": "unbatched"},
}
PEERS: dict[str, System] = {
    "tfp.mcmc": partial(tfp_mcmc, leapfrogs=LEAPFROGS),
    "NumPyro": SYSTEMS["NumPyro"],  # has one leapfrog a leaf, as Stan has
    "Stan": SYSTEMS["Stan"],
}
FLAT = ("unbatched, Eager", "Stan")  # one chain after the other, or one on each core, however many are wanted

Go = Callable[[], np.ndarray]  # runs all chains, and tells the gradients of each


def run(chain_counts: Sequence[int], patience: float) -> Iterator[tuple[str, int, dict[str, float]]]:
    """Series, chains, and the median time of its runs with the gradients of one; series of a number of chains in turn.

    patience: seconds that a series' runs for one number of chains may take; once a single one takes more, it ends.
    """
    going = installed([LIMIT, *OURS, *PEERS])
    for chains in chain_counts:
        for series, row in _timed({series: _made(series, chains) for series in going}, patience).items():
            yield series, chains, row
            if series in FLAT or row["median"] > patience:
                going.remove(series)


def _timed(systems: dict[str, Go], patience: float) -> dict[str, dict[str, float]]:
    gradients: dict[str, float] = {}

    def timed(series: str) -> float:
        return seconds(lambda: gradients.update({series: float(systems[series]().sum())}))

    first = {series: timed(series) for series in systems}
    times: dict[str, list[float]] = {series: [timed(series)] for series in systems}
    for _ in range(MOST - 1):
        for series, taken in times.items():
            if sum(taken) < patience:
                taken.append(timed(series))
    rows = {}
    for series, taken in times.items():
        count, middle = gradients[series], median(taken)
        rates = {"gradients_per_second": count / middle, "slowest": count / max(taken), "fastest": count / min(taken)}
        rows[series] = {"first": first[series], "median": middle, **rates}
    return rows


def _made(series: str, chains: int) -> Go:
    if series in OURS:
        function, args = nuts(chains, TRANSITIONS, "logistic", leapfrogs=LEAPFROGS)
        function = function.options(**OURS[series])
        return lambda: np.asarray(function(*args)[1][0])
    make = gradient_alone if series == LIMIT else PEERS[series]
    go = make(PROBLEMS["logistic"](), chains, TRANSITIONS)
    return lambda: np.asarray(go().leapfrogs)
