"""How long programs of more and more blocks take from the call to the first result."""

from __future__ import annotations

import linecache

import tensorflow as tf

import autobatch as ab
from benchmarks.timing import in_turn

LOOPS = (25, 50, 100)


def program(loops: int) -> ab.Autobatched:
    """So many loops, one after the other, whose lengths differ between members."""
    lines = ["@ab.autobatch\n", "def f(x):\n"]
    for k in range(loops):
        lines += [f"    while x % {k % 100 + 3} > 1:\n", f"        x = (x * 5 + {k % 100}) // 3\n"]
    lines += ["    return x\n"]
    name, scope = f"<{loops} loops>", {"ab": ab, "__name__": __name__}
    linecache.cache[name] = (sum(map(len, lines)), None, lines, name)
    exec(compile("".join(lines), name, "exec"), scope)
    return scope["f"]


def run(rounds: int) -> dict[str, dict[str, float]]:
    x = tf.range(1000)
    functions = {loops: program(loops) for loops in LOOPS}
    blocks = {loops: len(f.lower(x).stack_program.blocks) for loops, f in functions.items()}
    return in_turn({f"{blocks[loops]} blocks": lambda f=f: f(x) for loops, f in functions.items()}, rounds)
