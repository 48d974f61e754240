"""What the families' writers share: each choice is drawn, the simplest first."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

from hypothesis import strategies as st


def indented(text: str) -> str:
    return textwrap.indent(text, "    ")


class Writer:
    """Writes one program."""

    def __init__(self, draw: Callable):
        self.draw, self.count = draw, 0

    def pick(self, *choices):
        """One of the choices, which may be functions that write it."""
        chosen = choices[self.draw(st.integers(0, len(choices) - 1))]
        return chosen() if callable(chosen) else chosen

    def fresh(self) -> str:
        self.count += 1
        return f"i{self.count}"

    def statement(self, depth: int) -> str:
        """A statement with so many levels of others in it."""
        raise NotImplementedError

    def block(self, depth: int) -> str:
        return "\n".join(self.statement(depth) for _ in range(self.draw(st.integers(1, 4))))
