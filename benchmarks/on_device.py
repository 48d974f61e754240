"""python benchmarks/on_device.py FOLDER OUT.json: runs what ``benchmarks.export_hlo`` wrote on JAX's first device.

Needs JAX and NumPy; NumPyro and BlackJAX are run beside it where they are installed.  Each program is compiled, run
once, and timed RUNS times, its work finished before the clock stops; OUT.json is written anew after each.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

os.environ.setdefault("JAX_ENABLE_X64", "1")  # some arguments have 64 bits
sys.path.insert(0, str(Path(__file__).parent.parent))

import jax
import numpy as np
from jax._src.lib import xla_client

from benchmarks import jax_samplers

RUNS = 5
TRANSITIONS = 10
MAX_TREE_DEPTH = 10
PEERS = {"numpyro": jax_samplers.numpyro, "blackjax": jax_samplers.blackjax}


def timed(run: Callable[[], Any]) -> tuple[dict[str, float], Any]:
    """Seconds of the first call and the others, and what the last returned."""
    times = []
    for _ in range(RUNS + 1):
        start = time.perf_counter()
        result = jax.block_until_ready(run())
        times.append(time.perf_counter() - start)
    return {"first": times[0], "median": median(times[1:]), "best": min(times[1:])}, result


def compiled(path: Path, device: Any) -> Any:
    computation = xla_client.XlaComputation(gzip.decompress(path.read_bytes()))
    module = xla_client._xla.mlir.xla_computation_to_mlir_module(computation)
    devices = xla_client.DeviceList((device,))
    return device.client.compile_and_load(module, devices, xla_client.CompileOptions())


def ours(folder: Path, entry: dict[str, Any], device: Any) -> dict[str, Any]:
    """Also: which share of the members have the results that the exporting machine's CPU gave."""
    start = time.perf_counter()
    program = compiled(folder / entry["hlo"], device)
    compiling = time.perf_counter() - start
    with np.load(folder / entry["arguments"]) as arrays:
        arguments = [jax.device_put(array, device) for array in arrays.values()]
    jax.block_until_ready(arguments)

    def run() -> list[Any]:
        return [leaf[0] for leaf in program.execute_sharded(arguments).disassemble_into_single_device_arrays()]

    times, results = timed(run)
    with np.load(folder / entry["returned"]) as arrays:
        expected = {int(k): array for k, array in arrays.items()}
    same = [np.isclose(results[k], array, rtol=1e-3, atol=1e-3) for k, array in expected.items()]
    row = {"compile": compiling, **times, "same": float(np.mean(np.all(same, axis=0)))}
    if entry["program"].startswith("nuts"):
        row["gradients"] = sum(int(np.sum(results[k])) for k in expected)
    return row


def peer(folder: Path, name: str, chains: int) -> dict[str, Any]:
    with np.load(folder / "gaussian.npz") as arrays:
        precision, step_size, start = np.float32(arrays["precision"]), float(arrays["step_size"]), arrays[str(chains)]
    with jax.enable_x64(False):
        run = PEERS[name](lambda q: -0.5 * q @ (precision @ q), start, step_size, TRANSITIONS, MAX_TREE_DEPTH)
        times, (_, leapfrogs) = timed(run)
    return {**times, "gradients": int(np.sum(leapfrogs))}


def rows(folder: Path, only: list[str], device: Any) -> Iterator[dict[str, Any]]:
    entries = json.loads((folder / "programs.json").read_text())
    for program, members in dict.fromkeys((entry["program"], entry["members"]) for entry in entries):
        for entry in entries:
            if (entry["program"], entry["members"]) == (program, members) and wanted(entry["dispatch"], only):
                told = {"program": program, "members": members, "dispatch": entry["dispatch"]}
                yield told | tried(lambda entry=entry: ours(folder, entry, device))
        for name in PEERS if program.startswith("nuts") else ():
            if wanted(name, only) and importlib.util.find_spec(name):
                told = {"program": program, "members": members, "dispatch": name}
                yield told | tried(lambda name=name, members=members: peer(folder, name, members))


def wanted(name: str, only: list[str]) -> bool:
    return not only or name in only


def tried(run: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What one program cannot do must not cost the others' figures."""
    try:
        return run()
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:500]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", default="", help="dispatches and libraries, with commas between")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin nothing after so many")
    options = parser.parse_args()
    device, end, results = jax.devices()[0], time.monotonic() + options.seconds, []
    told = {"device": device.device_kind, "jax": jax.__version__, "xla_flags": os.environ.get("XLA_FLAGS", "")}
    for row in rows(options.folder, list(filter(None, options.only.split(","))), device):
        results.append(row)
        print(
            " ".join(f"{value:.4g}" if isinstance(value, float) else str(value) for value in row.values()), flush=True
        )
        options.out.write_text(json.dumps({**told, "results": results}, indent=1) + "\n")
        if time.monotonic() > end:
            print("out of time")
            break


if __name__ == "__main__":
    main()
