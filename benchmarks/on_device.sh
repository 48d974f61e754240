#!/bin/sh
# Figures of the accelerator that JAX sees: benchmarks/on_device.sh FOLDER OUT
# FOLDER: what `python -m benchmarks.export_hlo --folder FOLDER` wrote, on a machine with TensorFlow.
# OUT gets constants.json, usual.json, and graphs.json: loops as CUDA graphs.  At most ten minutes.
set -eu
cd "$(dirname "$0")/.."
mkdir -p "$2"
python3 benchmarks/device_constants.py "$2/constants.json"
python3 benchmarks/on_device.py "$1" "$2/usual.json" --seconds 360
XLA_FLAGS="${XLA_FLAGS:-} --xla_gpu_enable_command_buffer=+WHILE,+CONDITIONAL" \
    python3 benchmarks/on_device.py "$1" "$2/graphs.json" --only rounds,guarded --seconds 150
