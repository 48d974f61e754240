"""python -m benchmarks [fibonacci|dispatch|writes|overhead]: prints tables, writes JSON to benchmarks/results/."""

from __future__ import annotations

import typer
from rich.console import Console
from rich.table import Table

from benchmarks import dispatch as dispatch_benchmark
from benchmarks import fibonacci as fibonacci_benchmark
from benchmarks import overhead as overhead_benchmark
from benchmarks import writes as writes_benchmark
from benchmarks.timing import machine, save

app = typer.Typer(add_completion=False, help=__doc__)
console = Console()


def show(title: str, results: dict[str, dict[str, float]]) -> None:
    slowest = max(row["median"] for row in results.values())
    table = Table(title=title)
    rated = any("gradients_per_second" in row for row in results.values())
    for column in ("system", "first call, s", "median, ms", "times faster", *(["gradients a second"] if rated else [])):
        table.add_column(column, justify="left" if column == "system" else "right")
    for name, row in results.items():
        cells = [f"{row['first']:.1f}", f"{1e3 * row['median']:.3f}", f"{slowest / row['median']:.1f}"]
        table.add_row(name, *cells, *([f"{row['gradients_per_second']:,.0f}"] if rated else []))
    console.print(table)


@app.command()
def fibonacci(rounds: int = 30) -> None:
    """Fibonacci of 1,000 numbers, against TFP's auto_batching."""
    results = fibonacci_benchmark.run(rounds)
    show("fibonacci of 1,000 numbers in 3..12", results)
    save("fibonacci", results)


@app.command()
def dispatch(chains: int = 1024, trajectories: int = 2, rounds: int = 3) -> None:
    """Guarded dispatch against switch_case, for NUTS."""
    results = dispatch_benchmark.run(chains, trajectories, rounds)
    show(f"NUTS, 100-dimensional Gaussian, {chains} chains, {trajectories} trajectories", results)
    save("dispatch", results)


@app.command()
def writes(rounds: int = 15) -> None:
    """1,000 item writes against one, into vectors of several sizes."""
    results = writes_benchmark.run(rounds)
    show(f"item writes, {writes_benchmark.MEMBERS} members", results)
    save("writes", results)


@app.command()
def overhead(rounds: int = 1000) -> None:
    """A second call, against the tf.function that it runs."""
    results = overhead_benchmark.run(rounds)
    show("a second call with the same signature", results)
    save("overhead", results)


@app.callback(invoke_without_command=True)
def everything(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        console.print(machine())
        fibonacci()
        dispatch()
        writes()
        overhead()


if __name__ == "__main__":
    app()
