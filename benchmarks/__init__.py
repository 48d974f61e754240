"""Measurements; of first calls too, so that nothing is taken from an earlier process."""

import os

os.environ.setdefault("AUTOBATCH_CACHE", "off")
