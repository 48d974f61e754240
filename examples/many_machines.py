"""Ten million members over a cluster's processes, one of which is killed on the way.

Dask (dask.distributed) hands out the work, knows what is done, and gives what a dead process had to another; each
process runs ``f.map`` on its share.  What the first of them compiles the others find in the cache folder.

    python -m examples.many_machines
"""

import os
import signal

import numpy as np
import tensorflow as tf
from dask.distributed import Client, LocalCluster, as_completed
from tqdm import tqdm

import autobatch as ab

LONGEST = {10_000_000: (8_400_511, 685), 1_000_000: (837_799, 524), 10_000: (6_171, 261), 1_000: (871, 178)}  # known


@ab.autobatch
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def work(first: int, stop: int) -> np.ndarray:
    return collatz.map(tf.range(first, stop, dtype=tf.int64), lanes=4096).numpy()


def main(members: int = 10_000_000, share: int = 100_000, workers: int = 4) -> None:
    starts = range(1, members + 1, share)
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        futures = client.map(work, starts, [min(start + share, members + 1) for start in starts])
        with tqdm(total=members, unit="member", disable=None) as bar:
            for k, (_, steps) in enumerate(as_completed(futures, with_results=True)):
                bar.update(len(steps))
                if k == len(futures) // 2:
                    victim = next(iter(client.run(os.getpid).values()))
                    os.kill(victim, signal.SIGKILL)
                    tqdm.write(f"killed process {victim}")
        steps = np.concatenate(client.gather(futures))
    longest = 1 + int(np.argmax(steps))
    is_right = len(steps) == members and LONGEST.get(members, (longest, steps.max())) == (longest, steps.max())
    print(f"{len(steps):,} numbers; {longest:,} takes longest, {steps.max()} steps: {'right' if is_right else 'wrong'}")


if __name__ == "__main__":
    main()
