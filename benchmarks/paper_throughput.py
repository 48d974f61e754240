"""The paper's figure 6: gradients a second of NUTS on the logistic regression, against the number of chains.

As there: 4 leapfrogs a leaf, float32, warm, the best of five; gradients for which a lane only waits do not count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from benchmarks.dispatch import nuts
from benchmarks.nuts import LIMIT, gradient_alone, installed
from benchmarks.problems import PROBLEMS
from benchmarks.samplers import SYSTEMS
from benchmarks.timing import seconds

LEAPFROGS = 4  # of ours a leaf; the other libraries have one
BEST_OF = 5
OURS = {
    "program counter, XLA": {},
    "local static, TensorFlow": {"backend": "local_static", "jit_compile": False},
    "hybrid: local static, XLA regions": {"backend": "local_static"},
    "unbatched, Eager": {"backend": "unbatched"},
}
PEERS = ("tfp.mcmc", "NumPyro", "Stan")
FLAT = ("unbatched, Eager", "Stan")  # one chain after the other, or one on each core, however many are wanted

Go = Callable[[], np.ndarray]  # runs all chains, and tells the gradients of each


def run(chain_counts: Sequence[int], patience: float) -> Iterator[tuple[str, int, dict[str, float]]]:
    """Series, chains, and the best time of a run with its gradients.

    patience: seconds that a series' runs for one number of chains may take; once a single one takes more, it ends.
    """
    for series in (LIMIT, *OURS, *installed(PEERS)):
        for chains in chain_counts:
            row = _best(_made(series, chains), patience)
            yield series, chains, row
            if series in FLAT or row["best"] > patience:
                break


def _best(go: Go, patience: float) -> dict[str, float]:
    gradients: list[np.ndarray] = []
    first = seconds(lambda: gradients.append(go()))
    times: list[float] = []
    while len(times) < BEST_OF and (not times or sum(times) < patience):
        times.append(seconds(lambda: gradients.append(go())))
    return {"first": first, "best": min(times), "gradients_per_second": float(gradients[-1].sum()) / min(times)}


def _made(series: str, chains: int) -> Go:
    transitions = 1 if chains > 64 else 4
    if series in OURS:
        function, args = nuts(chains, transitions, "logistic", leapfrogs=LEAPFROGS)
        function = function.options(**OURS[series])
        return lambda: np.asarray(function(*args)[1][0])
    make = gradient_alone if series == LIMIT else SYSTEMS[series]
    go = make(PROBLEMS["logistic"](), chains, transitions)
    return lambda: np.asarray(go().leapfrogs)
