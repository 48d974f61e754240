"""A module of the user's, for ``test_outside.py``."""

level = 1
