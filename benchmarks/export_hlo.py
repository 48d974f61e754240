"""python -m benchmarks.export_hlo: NUTS and the suite as XLA programs, for ``benchmarks/on_device.py``.

That runs them where there are an accelerator and JAX, but no TensorFlow.  The folder gets

    programs.json     a list of entries: program, members, dispatch, and the names of files
    NAME.hlo.gz       what XLA gets: a serialized HloModuleProto
    DIGEST.npz        what it takes, in order, or what it returned on this machine, by the number of the result
    gaussian.npz      what the other libraries' samplers start from: precision, step_size, starts by number of chains

NUTS has stacks as deep as its trees can be; a result is its number of leapfrogs, one for each gradient.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
import typer
from rich.progress import track

import autobatch as ab
from benchmarks.dispatch import nuts
from benchmarks.problems import PROBLEMS
from benchmarks.programs import programs

DEPTH = 40  # frames; no program of the suite needs as many
MAX_TREE_DEPTH = 10
NUTS = "nuts_gaussian"

app = typer.Typer(add_completion=False)


@app.command(help=__doc__)
def export(
    folder: Path = Path("hlo"),
    suite: str = typer.Option(",".join(programs()), help="programs, with commas between"),
    chains: str = typer.Option("256,1024,4096,16384", help="of NUTS, with commas between"),
    dispatches: str = typer.Option("guarded,switch_case,sweep,rounds", help="with commas between"),
    trajectories: int = 10,
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    counts, chosen = [int(count) for count in chains.split(",") if count], dispatches.split(",")
    entries = []
    for count in counts:
        function, args = nuts(count, trajectories, "gaussian", MAX_TREE_DEPTH)
        state, (taken, *_) = function(*args)
        results = {len(tf.nest.flatten(state)): taken}
        entries += _exported(folder, NUTS, count, function.options(max_depth=MAX_TREE_DEPTH + 1), args, results, chosen)
    for name in filter(None, suite.split(",")):
        program = programs()[name]
        results = dict(enumerate(tf.nest.flatten(program.function(*program.args))))
        function, members = program.function.options(max_depth=DEPTH), len(program.args[0])
        entries += _exported(folder, name, members, function, program.args, results, chosen)
    (folder / "programs.json").write_text(json.dumps(entries, indent=1) + "\n")
    target = PROBLEMS["gaussian"]()
    starts = {str(count): np.float32(target.starts(count)) for count in counts}
    np.savez(folder / "gaussian.npz", precision=target.data["precision"], step_size=target.step_size, **starts)


def _exported(
    folder: Path, name: str, members: int, function: ab.Autobatched, args: Sequence[Any],
    results: Mapping[int, tf.Tensor], dispatches: Sequence[str],
) -> Iterable[dict[str, Any]]:  # fmt: skip
    returned = _saved(folder, {str(k): np.asarray(leaf) for k, leaf in results.items()})
    for dispatch in track(dispatches, description=f"{name} for {members}"):
        lowered = function.options(dispatch=dispatch, shards=1, compact="never", partial="mask").lower(*args)
        program, inputs = lowered.to_hlo()
        file = f"{name}_{members}_{dispatch}.hlo.gz"
        (folder / file).write_bytes(gzip.compress(program))
        taken = _saved(folder, {str(k): np.asarray(tensor) for k, tensor in enumerate(inputs)})
        entry = {"program": name, "members": members, "dispatch": dispatch}
        yield entry | {"hlo": file, "arguments": taken, "returned": returned}


def _saved(folder: Path, arrays: Mapping[str, np.ndarray]) -> str:
    """The name of a file with the arrays, one for all programs that take them."""
    content = io.BytesIO()
    np.savez_compressed(content, **arrays)  # type: ignore[arg-type]
    digest = hashlib.sha256(b"".join(k.encode() + array.tobytes() for k, array in arrays.items())).hexdigest()
    (folder / f"{digest[:12]}.npz").write_bytes(content.getvalue())
    return f"{digest[:12]}.npz"


if __name__ == "__main__":
    app()
