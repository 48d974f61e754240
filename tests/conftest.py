import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_parallel_codegen_split_count=1")  # the workers keep all cores busy
os.environ["AUTOBATCH_VERIFY"] = "1"  # every program of the tests, after every pass
