import gc
import os
from types import SimpleNamespace

import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
# The workers keep all cores busy; and to make code fast takes LLVM, and XLA's passes over loops, longer than the tests
# take to run it.
FLAGS = "parallel_codegen_split_count=1", "use_fusion_emitters=false"
LOOPS = "while-loop-trip-count-annotator", "simplify-while-loops", "while-loop-invariant-code-motion"
QUICK = [
    "--xla_backend_optimization_level=0",
    *(f"--xla_cpu_{flag}" for flag in FLAGS),
    f"--xla_disable_hlo_passes={','.join(LOOPS)}",
]
os.environ.setdefault("XLA_FLAGS", " ".join(QUICK))
os.environ.setdefault(
    "AUTOBATCH_CACHE", "off"
)  # tests/test_keeping.py has its own; a folder makes a second run shorter
os.environ["AUTOBATCH_VERIFY"] = "1"  # every program of the tests, after every pass


def pytest_collection_finish(session):
    import tensorflow as tf  # in the workers alone

    # TensorFlow's modules are a million objects that stay: no need to look for garbage among them time and again, nor
    # often among the programs that a process keeps.
    gc.freeze()
    gc.set_threshold(20_000)
    _keep_no_stacks()
    if "not compiles" in session.config.option.markexpr:  # each graph runs once or twice, and need not be optimized
        tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})


def _keep_no_stacks():
    """TensorFlow keeps Python's stack with each operation, for messages that no test reads: a tenth of the time."""
    from tensorflow.python.framework import ops
    from tensorflow.python.util import tf_stack

    stack = tf_stack.extract_stack()
    ops.tf_stack = SimpleNamespace(extract_stack=lambda stacklevel: stack)


@pytest.fixture
def optimized(monkeypatch):
    """What is compiled in the test is compiled as users' programs are, down to the last bit of floats."""
    monkeypatch.setenv("XLA_FLAGS", os.environ["XLA_FLAGS"].replace("optimization_level=0", "optimization_level=3"))
