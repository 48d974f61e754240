"""A program that works on a run until it is killed; see test_runs.py."""

import sys
from pathlib import Path

import tensorflow as tf

import autobatch as ab
from autobatch import runs

MEMBERS = tf.range(8)


@ab.autobatch
def slow(n):
    """Numbers of a congruential generator, mixed; some 10 s of them."""
    mixed, k = tf.cast(n, tf.int64), 0
    while k < 30_000_000:
        mixed = (mixed * 1103515245 + 12345) % 2147483648
        k += 1
    return mixed


if __name__ == "__main__":
    path = Path(sys.argv[1])
    runs.ROUND = 0.0
    how = {"autosave": path, "every": 0.01}
    run = ab.load_run(slow, path, **how) if path.exists() else slow.start(MEMBERS, **how)
    print(run.progress.steps, flush=True)
    run.advance()
