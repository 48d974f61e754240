"""Programs that show what the library is for: ``python -m examples.NAME``."""

import os

from autobatch import quiet

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
with quiet.without(*quiet.AT_IMPORT):
    import tensorflow  # noqa: F401  its news of the machine would come before the results
