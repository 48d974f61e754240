import gc
import os

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
os.environ["AUTOBATCH_VERIFY"] = "1"  # every program of the tests, after every pass


def pytest_configure(config):
    """Where nothing is compiled, TensorFlow need not optimize its graphs either, each of which runs once or twice."""
    if "not compiles" in config.option.markexpr:
        import tensorflow as tf

        tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})


def pytest_collection_finish():
    """TensorFlow's modules are a million objects that stay: no need to look for garbage among them time and again."""
    gc.freeze()


@pytest.fixture
def optimized(monkeypatch):
    """What is compiled in the test is compiled as users' programs are, down to the last bit of floats."""
    monkeypatch.setenv("XLA_FLAGS", os.environ["XLA_FLAGS"].replace("optimization_level=0", "optimization_level=3"))
