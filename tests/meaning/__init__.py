"""Programs that would go wrong in silence if nobody had thought of them, each with plain Python as its oracle.

One file for each family.  A program is an undecorated function with the arguments of some members.  It runs on the
batch, and, in a copy of the file in which ``@ab.autobatch`` does nothing, on each member's numbers and NumPy arrays.
Python's answer must come out, or the member must fail where Python raises, or the program is refused for the reason
that it names.
"""
