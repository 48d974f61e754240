"""What a stranger gets: run by the Python of an environment that has nothing but the wheel (``make release``)."""

import sys
import tempfile
from pathlib import Path

import tensorflow as tf

import autobatch as ab


@ab.autobatch
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def main() -> None:
    assert Path(ab.__file__).is_relative_to(sys.prefix), f"{ab.__file__} is not the installed one"
    n = tf.range(12)
    assert fibonacci(n).numpy().tolist() == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89]
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "fibonacci.html"
        ab.profile(fibonacci, n).to_html(page)
        assert "<script" in page.read_text()
    draws = ab.mcmc.sample(lambda x: -(x**2) / 2, tf.zeros([1]), 500, 500, chains=4, seed=0, progress=False)
    assert draws.samples.shape[:2] == (4, 500)
    print("As installed: a recursion, a profile's page and the sampler work.")


if __name__ == "__main__":
    main()
