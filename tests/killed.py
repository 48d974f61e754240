"""Processes that work on a run until they are killed; see test_runs.py.

To import TensorFlow takes seconds, so that is done once: for each line that comes in, a copy of this process, whose
TensorFlow has done nothing yet, begins or goes on.  It says its number, and how far the run is that it has loaded.
"""

import os
import sys
from pathlib import Path

import tensorflow as tf

import autobatch as ab
from autobatch.calls import runs

MEMBERS = range(8)


@ab.autobatch
def slow(n):
    """Numbers of a congruential generator, mixed; some 10 s of them."""
    mixed, k = tf.cast(n, tf.int64), 0
    while k < 30_000_000:
        mixed = (mixed * 1103515245 + 12345) % 2147483648
        k += 1
    return mixed


def work(path: Path) -> None:
    runs.ROUND = 0.0
    how = {"autosave": path, "every": 0.01}
    run = ab.load_run(slow, path, **how) if path.exists() else slow.start(tf.constant(MEMBERS), **how)
    print(os.getpid(), run.progress.steps, flush=True)
    run.advance()


if __name__ == "__main__":
    for _ in sys.stdin:
        child = os.fork()
        if not child:
            work(Path(sys.argv[1]))
            os._exit(0)
        os.waitpid(child, 0)
