"""python -m benchmarks [NAME]: prints tables, writes JSON to benchmarks/results/.

NAME: fibonacci, dispatch, writes, overhead, traces; or, which run only by name, nuts, kernel, programs, plain,
gradients, posteriors, ablation, account, compiling, refill, load, memory, correctness, figures (the paper's
experiments), report.
"""

from __future__ import annotations

import typer
from rich.console import Console
from rich.table import Table

import autobatch as ab
from benchmarks import ablation as ablation_benchmark
from benchmarks import account as account_benchmark
from benchmarks import choices, paper_throughput, paper_utilization
from benchmarks import compiling as compiling_benchmark
from benchmarks import correctness as correctness_checks
from benchmarks import dispatch as dispatch_benchmark
from benchmarks import fibonacci as fibonacci_benchmark
from benchmarks import gradients as gradients_benchmark
from benchmarks import kernel as kernel_benchmark
from benchmarks import load as load_benchmark
from benchmarks import nuts as nuts_benchmark
from benchmarks import overhead as overhead_benchmark
from benchmarks import plain as plain_benchmark
from benchmarks import posteriors as posteriors_benchmark
from benchmarks import programs as programs_benchmark
from benchmarks import refill as refill_benchmark
from benchmarks import traces as traces_benchmark
from benchmarks import writes as writes_benchmark
from benchmarks.nuts import installed
from benchmarks.plots import PLOTS
from benchmarks.problems import PROBLEMS
from benchmarks.report import DOCS, write_tables
from benchmarks.samplers import SYSTEMS
from benchmarks.timing import RESULTS, machine, save

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
    """The machine's choices (dispatch, schedule, shards), for NUTS."""
    results = dispatch_benchmark.run(chains, trajectories, rounds)
    show(f"NUTS, 100-dimensional Gaussian, {chains} chains, {trajectories} trajectories", results)
    save("dispatch", results)


@app.command()
def ablation(chains: int = 256, trajectories: int = 3, rounds: int = 5) -> None:
    """Each optimization left out, for fibonacci and NUTS."""
    results = ablation_benchmark.run(chains, trajectories, rounds)
    for program, rows in results.items():
        show(f"{program}, without", rows)
    save("ablation", results)


@app.command()
def account(
    program: str = typer.Option("nuts", help="nuts, or one of plain's programs"), members: int = 1024, rounds: int = 9
) -> None:
    """Where a program's time goes: each block's runs, its time by itself, and the bytes that it moves."""
    results = account_benchmark.run(*_called(program, members), members, rounds)
    show(f"{program}, {members:,} members: {account_benchmark.REPEATS} runs of each block", results)
    save("account" if program == "nuts" else f"account_{program}", results)


def _called(program: str, members: int) -> tuple[ab.Autobatched, tuple]:
    if program == "nuts":
        return dispatch_benchmark.nuts(members, 10)
    return plain_benchmark.called(program, members)


@app.command()
def nuts(
    problem: str = typer.Option("gaussian", help="gaussian, logistic, logistic_unequal or funnel"),
    chains: str = typer.Option("1,16,256,1024", help="how many, with commas between"),
    systems: str = typer.Option(",".join(SYSTEMS), help="which samplers, with commas between"),
    rounds: int = 5,
    name: str = typer.Option("", help="under which the results are saved; the problem's if none"),
) -> None:
    """The No-U-Turn Samplers of several libraries, in turn; those of the extra `benchmarks`, if it is installed."""
    unknown = set(systems.split(",")) - set(SYSTEMS)
    if problem not in PROBLEMS or unknown:
        raise typer.BadParameter(f"problems are {', '.join(PROBLEMS)}; systems {', '.join(SYSTEMS)}")
    wanted = [name for name in systems.split(",") if name != "Stan" or problem != "funnel"]
    names, found = installed(wanted), {}
    if left_out := set(wanted) - set(names):
        console.print(f"not installed: {', '.join(sorted(left_out))}; pip install -e '.[benchmarks]'", markup=False)
    for count in chains.split(","):
        found[count] = nuts_benchmark.run(problem, int(count), names, rounds)
        show(f"NUTS, {problem}, {count} chains", found[count])
        save(f"nuts_{name or problem}", found)


@app.command()
def kernel(chains: str = typer.Option("256,1024", help="how many, with commas between"), rounds: int = 9) -> None:
    """The kernel for tfp.mcmc: called, in a tf.function, and as a part of an XLA program."""
    found = {}
    for count in chains.split(","):
        found[count] = kernel_benchmark.run(int(count), rounds)
        show(f"ten trajectories, Gaussian, {count} chains", found[count])
    save("nuts_kernel", found)


@app.command()
def programs(names: str = typer.Option("", help="which, with commas between; all if none"), rounds: int = 5) -> None:
    """Programs of every kind of control flow, under each of the machine's choices, and what else can run them."""
    found = {}
    for name in names.split(",") if names else programs_benchmark.programs():
        found[name] = programs_benchmark.run(name, rounds)
        show(name, found[name])
        save("programs", found)


@app.command()
def plain(
    names: str = typer.Option("", help="which, with commas between; all if none"),
    members: str = typer.Option(",".join(map(str, plain_benchmark.SIZES)), help="how many, with commas between"),
) -> None:
    """Programs of plain numbers at several sizes of batch, beside jax.vmap and Numba, if they are installed."""
    found: dict[str, dict[int, dict[str, dict[str, float]]]] = {}
    for name in names.split(",") if names else plain_benchmark.PROGRAMS:
        for count, rows in plain_benchmark.run(name, tuple(map(int, members.split(",")))):
            show(f"{name}, {count:,} members", rows)
            found.setdefault(name, {})[count] = rows
            save("plain", found)


@app.command()
def gradients(rounds: int = 9) -> None:
    """A call, and a call with its gradient; beside JAX, Equinox and Diffrax, if they are installed."""
    found: dict[str, dict[int, dict[str, dict[str, float]]]] = {}
    for name in gradients_benchmark.PROBLEMS:
        for count, rows in gradients_benchmark.run(name, rounds):
            show(f"{name}, {count:,} members", rows)
            found.setdefault(name, {})[count] = rows
            save("gradients", found)


@app.command()
def report() -> None:
    """Writes the tables and plots of the pages in docs/ anew, from the JSON."""
    write_tables()
    plots = [plot().name for results, plot in PLOTS.items() if (RESULTS / f"{results}.json").exists()]
    console.print(f"wrote the tables and {', '.join(plots)} in {DOCS}")


@app.command()
def figures(full: bool = typer.Option(False, help="every power of two up to 4,096 chains, with more patience")) -> None:
    """The paper's experiments: its figures 6 and 7, its two free choices and its optimizations; then the report."""
    throughput: dict[str, dict[int, dict[str, float]]] = {}
    chains = [2**k for k in range(13)] if full else [4**k for k in range(6)]
    for series, count, row in paper_throughput.run(chains, 20.0 if full else 8.0):
        console.print(f"{series}, {count} chains: {row['gradients_per_second']:,.0f} gradients a second")
        throughput.setdefault(series, {})[count] = row
    save("paper_throughput", throughput)
    utilization: dict[str, dict[int, dict[str, float]]] = {}
    for series, count, row in paper_utilization.run([1, 3, 10, 30, 100, 300, 1000] if full else [1, 10, 30, 100]):
        console.print(f"{series}, {count} chains: {row['utilization']:.0%} active")
        utilization.setdefault(series, {})[count] = row
    save("paper_utilization", utilization)
    save("choices", choices.run(5))
    ablation(rounds=3)
    report()


@app.command()
def compiling(rounds: int = 5) -> None:
    """Programs of many blocks, from the call to the first result."""
    results = compiling_benchmark.run(rounds)
    show("1,000 members through many loops", results)
    save("compiling", results)


@app.command()
def refill(rounds: int = 5) -> None:
    """Lanes that take the next member, against a lane for each."""
    results = refill_benchmark.run(rounds)
    for program, rows in results.items():
        show(program, rows)
    save("refill", results)


@app.command()
def writes(rounds: int = 15) -> None:
    """1,000 item writes against one, into vectors of several sizes."""
    results = writes_benchmark.run(rounds)
    show(f"item writes, {writes_benchmark.MEMBERS} members", results)
    save("writes", results)


@app.command()
def overhead(rounds: int = 15) -> None:
    """A second call, against the tf.function that it runs."""
    results = overhead_benchmark.run(rounds)
    show("a second call with the same signature", results)
    save("overhead", results)


@app.command()
def traces(rounds: int = 5) -> None:
    """Draws of whole chains, into traces with room for more and more."""
    results = traces_benchmark.costs(rounds)
    show(f"whole chains, {traces_benchmark.CHAINS} of them, 100 dimensions", results)
    save("traces", results)


@app.command()
def load() -> None:
    """Many members, deep calls, many blocks, many signatures; takes minutes."""
    results = {}
    for name, row in load_benchmark.run():
        console.print(f"{name}: {row}")
        results[name] = row
    save("load", results)


@app.command()
def memory() -> None:
    """What a long run adds to the process; alone, as it reads the process' peak."""
    results = traces_benchmark.memory()
    console.print(f"1,024 chains x 1,000 draws in 100 dimensions: {results}")
    save("memory", results)


@app.command()
def correctness() -> None:
    """Whether the samplers are right; takes minutes."""
    checks = correctness_checks.everything()
    table = Table(title="correctness")
    for column in ("check", "expected", "found", "holds"):
        table.add_column(column)
    for check in checks:
        table.add_row(check.name, check.expected, check.found, "yes" if check.holds else "NO")
    console.print(table)
    save("correctness", {check.name: {"expected": check.expected, "found": check.found} for check in checks})


@app.command()
def posteriors(only: str = typer.Option("", help="the name of one")) -> None:
    """Posteriors that are hard in a way of their own, beside TFP's windowed sampler; takes up to an hour."""
    rows: list[dict[str, object]] = []
    for name, system, found in posteriors_benchmark.everything(only):
        rows.append({"posterior": name, "system": system, **found._asdict(), "passes": found.passes})
        table = Table(title=name)
        for column in list(rows[-1])[1:]:
            table.add_column(column)
        for row in rows:
            if row["posterior"] == name:
                cells = list(row.values())[1:]
                table.add_row(*(f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in cells))
        console.print(table)
        save("posteriors", {f"{row['posterior']}: {row['system']}": row for row in rows})


@app.callback(invoke_without_command=True)
def everything(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        console.print(machine())
        fibonacci()
        dispatch()
        writes()
        overhead()
        traces()


if __name__ == "__main__":
    app()
