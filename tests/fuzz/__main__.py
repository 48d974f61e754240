"""Runs many random programs of each family in turn, and prints the first one that goes wrong, shrunken."""

from __future__ import annotations

import collections
import importlib
import linecache
import time

import typer
from hypothesis import HealthCheck, Phase, given, note, seed, settings
from rich.progress import Progress

NAMES = (
    "classes", "control", "dicts", "exceptions", "functions", "gradients", "in_turn", "lists", "memos", "nones",
    "numbers", "objects", "outside", "rows", "shapes", "special", "states",
)  # fmt: skip
FAMILIES = {name: importlib.import_module(f"tests.fuzz.{name}") for name in NAMES}


def main(
    programs: int = typer.Option(5_000, help="Of each family."),
    start: int = typer.Option(0, "--seed"),
    family: list[str] = typer.Option([], help="Only these."),  # noqa: B008
) -> None:
    """Runs random programs, and prints the first one that goes wrong, shrunken."""
    with Progress() as progress:
        for name in family or FAMILIES:
            ran, begun = collections.Counter(), time.time()
            bar = progress.add_task(name, total=programs)

            @seed(start)
            @settings(
                max_examples=programs, deadline=None, database=None, suppress_health_check=list(HealthCheck),
                phases=[Phase.generate, Phase.shrink], report_multiple_bugs=False,
            )  # fmt: skip
            @given(example=FAMILIES[name].examples)
            def run(example):
                note(example[0])
                ran[FAMILIES[name].check(example)] += 1
                linecache.clearcache()
                progress.advance(bar)

            run()
            print(f"{name}: {dict(ran)}, seed {start}; {time.time() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command()(main)
    app()
