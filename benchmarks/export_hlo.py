"""python -m benchmarks.export_hlo: NUTS as XLA programs, to be run where there is an accelerator and no TensorFlow.

For each problem, number of chains and dispatch writes NAME.hlo (a serialized HloModuleProto) and NAME.npz (its
arguments, in order).  JAX compiles and runs such a module, with JAX_ENABLE_X64=1 as some arguments have 64 bits (tried
on a CPU); the stacks are as deep as the trees can be.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import typer
from rich.console import Console

from benchmarks.dispatch import nuts

app = typer.Typer(add_completion=False)


@app.command(help=__doc__)
def export(
    folder: Path = Path("hlo"),
    problems: str = typer.Option("gaussian,logistic", help="with commas between"),
    chains: str = typer.Option("1,64,1024,16384", help="how many, with commas between"),
    dispatches: str = typer.Option("guarded,switch_case,sweep", help="with commas between"),
    trajectories: int = 10,
    max_tree_depth: int = 10,
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for problem in problems.split(","):
        for count in map(int, chains.split(",")):
            function, args = nuts(count, trajectories, problem, max_tree_depth)
            for dispatch in dispatches.split(","):
                chosen = function.options(max_depth=max_tree_depth + 1, dispatch=dispatch, shards=1, compact="never")
                program, inputs = chosen.lower(*args).to_hlo()
                name = f"nuts_{problem}_{count}_{dispatch}"
                (folder / f"{name}.hlo").write_bytes(program)
                np.savez(folder / f"{name}.npz", *map(np.asarray, inputs))
                Console().print(f"{name}: {len(program) / 1e6:.1f} MB")


if __name__ == "__main__":
    app()
