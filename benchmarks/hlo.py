"""What a machine that XLA has compiled does in a pass: read from the text of the optimized program."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

BYTES = {"pred": 1, "s8": 1, "u8": 1, "s16": 2, "u16": 2, "bf16": 2, "f16": 2, "s64": 8, "u64": 8, "f64": 8, "c64": 8}
NO_WORK = {
    "parameter", "constant", "tuple", "get-tuple-element", "bitcast", "after-all", "opt-barrier", "partition-id",
    "replica-id", "copy-done", "async-done", "slice-done",
}  # fmt: skip
COPIES = {"copy", "copy-start"}


class Work(NamedTuple):
    """What is started, and what is asked.

    kernels: copies among them; copied: bytes; questions: how often something is done, or done again, or not, by what
    only the device knows.
    """

    kernels: float = 0
    copies: float = 0
    copied: float = 0
    questions: float = 0

    def plus(self, other: Work, times: float = 1) -> Work:
        return Work(*(a + times * b for a, b in zip(self, other, strict=True)))


class Instruction(NamedTuple):
    type: str
    kind: str
    rest: str

    def called(self, role: str) -> list[str]:
        found = re.search(rf"\b{role}=(?:\{{([^}}]*)\}}|(%?[\w.\-]+))", self.rest)
        return [name.strip().lstrip("%") for name in (found[1] or found[2]).split(",")] if found else []


@dataclass(frozen=True)
class Program:
    computations: dict[str, list[Instruction]]
    entry: str

    def a_pass(self, counted: bool) -> Work:
        """What a turn of the machine's loop does, the first whose end the device alone knows.

        counted: whether the loops in it count up to a constant, which not all compilers say; else each is taken to run
        once, as is each branch of a conditional.
        """
        loop = next(self._loops(self.entry))
        total = self._work(loop.called("condition")[0], counted).plus(Work(questions=1))
        for each in self.computations[loop.called("body")[0]]:
            total = total.plus(self._of(each, counted))
        return total

    def _limit(self, loop: Instruction) -> int | None:
        """The constant up to which a loop counts, if that is all that its condition looks at."""
        condition = self.computations[loop.called("condition")[0]]
        limits = [each.rest.partition(")")[0] for each in condition if each.kind == "constant"]
        return int(limits[0]) if len(limits) == 1 and limits[0].isdigit() else None

    def _loops(self, name: str) -> Iterator[Instruction]:
        for each in self.computations[name]:
            if each.kind == "while" and _turns(each) is None:
                yield each
            elif each.kind == "call":
                yield from self._loops(each.called("to_apply")[0])

    def _work(self, name: str, counted: bool) -> Work:
        total = Work()
        for each in self.computations[name]:
            total = total.plus(self._of(each, counted))
        return total

    def _of(self, each: Instruction, counted: bool) -> Work:
        match each.kind:
            case kind if kind in NO_WORK:
                return Work()
            case "call":
                return self._work(each.called("to_apply")[0], counted)
            case "while":
                turns, body, condition = _turns(each), *each.called("body"), *each.called("condition")
                turns = self._limit(each) if turns is None and counted else turns
                if turns is not None:
                    return Work().plus(self._work(body, counted), turns)
                return self._work(body, counted).plus(self._work(condition, counted), 2).plus(Work(questions=2))
            case "conditional":
                roles = ("branch_computations", "true_computation", "false_computation")
                branches = [self._work(name, counted) for role in roles for name in each.called(role)]
                total = Work()
                for branch in branches:
                    total = total.plus(branch).plus(Work(questions=1))
                return total
            case kind if kind in COPIES:
                return Work(1, 1, _bytes(each.type) / (2 if kind == "copy-start" else 1))
        return Work(1)


def read(text: str) -> Program:
    """Of what ``jax.stages.Compiled.as_text`` gives."""
    computations: dict[str, list[Instruction]] = {}
    entry, current = "", None
    for line in text.splitlines():
        if head := re.match(r"(ENTRY )?%?([\w.\-]+) \(.*\{$", line):
            current = computations.setdefault(head[2], [])
            entry = head[2] if head[1] else entry
        elif current is not None and " = " in line and line.startswith(" "):
            current.append(_instruction(line.partition(" = ")[2]))
    return Program(computations, entry)


def _instruction(text: str) -> Instruction:
    end = _closing(text) + 1 if text.startswith("(") else text.index(" ")
    kind, _, rest = text[end + 1 :].partition("(")
    return Instruction(text[:end], kind, rest)


def _closing(text: str) -> int:
    """Where the parenthesis is closed that the text begins with."""
    depth = 0
    for k, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return k
    raise ValueError(f"not closed: {text}")


def _turns(loop: Instruction) -> int | None:
    known = re.search(r'known_trip_count"?:\{"?n"?:"?(\d+)', loop.rest)
    return int(known[1]) if known else None


def _bytes(type_: str) -> int:
    sizes = re.findall(r"([a-z]+\d*)\[([\d,]*)\]", type_)
    return sum(BYTES.get(dtype, 4) * math.prod(int(n) for n in shape.split(",") if n) for dtype, shape in sizes)
