"""python -m benchmarks.accelerators: what the compilers for an H100 and a TPU v5e make of NUTS and the suite.

Neither device is needed, nor a driver: XLA's compilers are in JAX's wheel for CUDA, and in libtpu's, which the extra
``accelerators`` brings.  Of each program the pass of its machine is read from what they made (``hlo.py``): the kernels
that it starts, the copies among them, and the questions, at each of which the host of a GPU waits.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

os.environ.update(  # before JAX looks for a TPU
    JAX_PLATFORMS="cpu",
    TPU_SKIP_MDS_QUERY="1",
    TPU_ACCELERATOR_TYPE="v5litepod-4",
    TPU_WORKER_HOSTNAMES="localhost",
    TPU_WORKER_ID="0",
    TPU_STDERR_LOG_LEVEL="3",
    ALLOW_MULTIPLE_LIBTPU_LOAD="1",  # none is used, so other processes with JAX do no harm
)

import jax
import tensorflow as tf
import typer
from jax.experimental import topologies
from rich.progress import track

import autobatch as ab
from autobatch.machine.devices import ROUNDS
from benchmarks import hlo
from benchmarks.dispatch import nuts
from benchmarks.export_hlo import DEPTH, MAX_TREE_DEPTH, NUTS
from benchmarks.programs import programs
from benchmarks.timing import RESULTS

# What XLA wants to know of a GPU that it compiles for: NVIDIA's data sheet and tuning guide of the H100 SXM, in the
# fields of xla/stream_executor/device_description.proto.
H100 = """
gpu_device_info {
  cuda_compute_capability { major: 9 }
  core_count: 132 fpus_per_core: 128 clock_rate_ghz: 1.98
  threads_per_block_limit: 1024 threads_per_core_limit: 2048 threads_per_warp: 32
  registers_per_core_limit: 65536 registers_per_block_limit: 65536
  shared_memory_per_block: 49152 shared_memory_per_block_optin: 232448 shared_memory_per_core: 233472
  block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535
  memory_bandwidth: 3352320000000 l2_cache_size: 52428800 device_memory_size: 84978434048
}
platform_name: "CUDA"
dnn_version_info { major: 9 minor: 3 }
device_description_str: "NVIDIA H100 80GB HBM3"
"""
DISPATCHES = ("rounds", "guarded", "sweep", "switch_case")


def devices() -> dict[str, Any]:
    """Those that programs are compiled for, by name."""
    jax.devices()  # finds the compilers
    gpu = topologies.get_topology_desc("1x1x1", "cuda", target_config=H100, topology="1x1x1")
    tpu = topologies.get_topology_desc("v5e:2x2", "tpu")
    return {"h100": gpu.devices[0], "tpu-v5e": tpu.devices[0]}


def compiled(lowered: Any, device: Any) -> jax.stages.Compiled:
    function = lowered.to_jax()
    place = jax.sharding.SingleDeviceSharding(device)
    like = [
        tf.nest.map_structure(
            lambda leaf: jax.ShapeDtypeStruct(leaf.shape, tf.as_dtype(leaf.dtype).as_numpy_dtype, sharding=place), value
        )
        for value in function.arguments.values()
    ]
    return jax.jit(lambda *args: tf.nest.flatten(function(*args))).lower(*like).compile()


def row(lowered: Any, device: Any, dispatch: str) -> dict[str, float]:
    start = time.perf_counter()
    program = compiled(lowered, device)
    seconds = time.perf_counter() - start
    in_rounds = dispatch == "rounds"
    found = hlo.Work().plus(hlo.read(program.as_text()).a_pass(counted=in_rounds), 1 / ROUNDS if in_rounds else 1)
    told = {"compile": seconds, **found._asdict(), "temporary": program.memory_analysis().temp_size_in_bytes}
    # Of the program, each loop run once; a TPU's only, and for what it cannot tell a second is taken off.
    optimal = (program.cost_analysis() or {}).get("optimal_seconds", -1)
    return told if optimal < 0 else {**told, "optimal": optimal}


def expected(function: ab.Autobatched, args: Sequence[Any]) -> dict[str, float]:
    """How many rounds the run takes, counted on this machine's CPU, and what the model says of one, on an H100.

    alike: whether all blocks that run in a round run in each.
    """
    lowered = function.options(dispatch="rounds", shards=1, partial="mask").lower(*args)
    runs = [int(block.counts[0]) for block in lowered.count().blocks]
    often = [n for n in runs if n > max(runs) / ROUNDS]
    seconds = lowered.cost("h100").passes["rounds"].seconds
    return {"rounds": max(runs), "alike": len(set(often)) == 1, "seconds": seconds}


def problems(suite: list[str], chains: list[int]) -> Iterator[tuple[str, int, ab.Autobatched, tuple]]:
    for count in chains:
        function, args = nuts(count, 10, "gaussian", MAX_TREE_DEPTH)
        yield NUTS, count, function.options(max_depth=MAX_TREE_DEPTH + 1), args
    for name in suite:
        program = programs()[name]
        yield name, len(program.args[0]), program.function.options(max_depth=DEPTH), program.args


def run(
    suite: str = typer.Option(",".join(programs()), help="programs, with commas between"),
    chains: str = typer.Option("256,1024,4096,16384,65536", help="of NUTS, with commas between"),
    dispatches: str = typer.Option(",".join(DISPATCHES), help="with commas between"),
    out: Path = RESULTS / "accelerators.json",
) -> None:
    found, counts = devices(), [int(count) for count in filter(None, chains.split(","))]
    results, rounds = [], []
    with jax.enable_x64(True):
        for name, members, function, args in problems(list(filter(None, suite.split(","))), counts):
            rounds.append({"program": name, "members": members} | expected(function, args))
            for dispatch in track(dispatches.split(","), description=f"{name} for {members}"):
                lowered = function.options(dispatch=dispatch, partial="mask").lower(*args)
                for device, place in found.items():
                    about = {"program": name, "members": members, "dispatch": dispatch, "device": device}
                    results.append(about | row(lowered, place, dispatch))
                    told = {"jax": jax.__version__, "rounds": rounds, "results": results}
                    out.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    typer.run(run)
