"""The command line, and the self test behind it."""
