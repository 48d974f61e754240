"""XLA's compilers for an H100 and a TPU take our programs; only where the extra ``accelerators`` is installed."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec

import pytest

missing = [name for name in ("jax_cuda12_plugin", "libtpu") if find_spec(name) is None]


@pytest.mark.compiles
@pytest.mark.skipif(bool(missing), reason="the extra `accelerators` is not installed")
def test_a_program_is_compiled_for_both(tmp_path):
    command = "-m benchmarks.accelerators --suite trees --chains= --dispatches rounds,guarded --out".split()
    own = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}  # the tests' are for a CPU
    subprocess.run([sys.executable, *command, tmp_path / "found.json"], env=own, check=True, capture_output=True)
    rows = json.loads((tmp_path / "found.json").read_text())["results"]
    assert [(row["dispatch"], row["device"]) for row in rows] == [
        (dispatch, device) for dispatch in ("rounds", "guarded") for device in ("h100", "tpu-v5e")
    ]
    for rounds, guarded in zip(rows[:2], rows[2:], strict=True):
        assert rounds["questions"] < 1 < guarded["questions"]
        assert 0 < rounds["kernels"] < guarded["kernels"]
