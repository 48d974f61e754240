"""Runs, with JAX alone, what ``Lowered.export("stablehlo", folder)`` wrote: run_stablehlo.py FOLDER RESULTS.npz."""

import sys
from pathlib import Path

import jax
import numpy as np
from jax._src.lib import xla_client

jax.config.update("jax_enable_x64", True)
folder, results = map(Path, sys.argv[1:])
device = jax.devices()[0]
program = (folder / "program.mlir").read_text()
compiled = device.client.compile_and_load(program, xla_client.DeviceList((device,)), xla_client.CompileOptions())
arguments = []
for name, array in np.load(folder / "arguments.npz").items():
    arguments.append(jax.device_put(array.view(jax.numpy.dtype(name.split("_")[1])), device))
outputs = compiled.execute_sharded(arguments).disassemble_into_single_device_arrays()
np.savez(results, **{f"{k}_{shards[0].dtype}": np.asarray(shards[0]) for k, shards in enumerate(outputs)})
