import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["AUTOBATCH_VERIFY"] = "1"  # every program of the tests, after every pass
