"""Random programs against plain Python: ``python -m tests.fuzz --programs 20000 --seed 1``.

Each family has a file: ``examples``, a strategy that writes programs and what they are called with, and ``check``,
which runs one and compares it with plain Python, on ints, floats, lists and NumPy arrays.
"""
