"""The tables of the pages in docs/, from the JSON that the benchmarks left."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.ablation import EVERYTHING
from benchmarks.account import ALL, COPY
from benchmarks.choices import CHOICES
from benchmarks.gradients import AND_GRADIENT, CALL, GRADIENT, LOCAL
from benchmarks.nuts import LIMIT
from benchmarks.programs import AUTO, FIXED, LOOP
from benchmarks.timing import load

DOCS = Path(__file__).parents[1] / "docs"
PAGES = [DOCS / name for name in ("performance.md", "gradients.md", "paper.md", "comparison.md", "accelerators.md")]


def nuts_table(problem: str) -> str:
    """Rows are systems, columns numbers of chains; each cell gradients a second, and its share of the limit."""
    by_chains = load(f"nuts_{problem}")["results"]
    names = list(dict.fromkeys(name for rows in by_chains.values() for name in rows))
    lines = [
        "| | " + " | ".join(map(_chains, by_chains)) + " |",
        "| --- |" + " --- |" * len(by_chains),
    ]
    for name in names:
        cells = [_cell(rows, name) for rows in by_chains.values()]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def systems_table(problem: str, chains: str) -> str:
    """Rows are systems; what each makes of this number of chains, and what it costs."""
    rows = load(f"nuts_{problem}")["results"][chains]
    columns = ["", "gradients a second", "of the limit", "utilization", "compiling, s", "peak memory, MiB"]
    lines = ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    for name, row in rows.items():
        share = row["gradients_per_second"] / rows[LIMIT]["gradients_per_second"]
        cells = [name, f"{row['gradients_per_second']:,.0f}", f"{share:.0%}", *_costs(row)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _costs(row: dict[str, float]) -> list[str]:
    used = f"{row['utilization']:.0%}" if "utilization" in row else "—"
    added = f"{row['added_bytes'] / 2**20:,.0f}" if "added_bytes" in row else "—"
    return [used, f"{row['first'] - row['median']:.1f}", added]


def programs_table() -> str:
    """Rows are programs; columns what the machine takes left to itself, its best fixed choice, and what others take."""
    columns = ["", "autobatch, ms", "utilization", "compiling, s", "peak memory, MiB"]
    columns += ["best fixed choice, ms", "others, ms", "a Python loop, s"]
    lines = ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    for name, rows in load("programs")["results"].items():
        times = {system: 1000 * row["median"] for system, row in rows.items()}
        best = min(FIXED, key=lambda choice: times[choice])
        peers = [f"{system} {_short(ms)}" for system, ms in times.items() if system not in (AUTO, LOOP, *FIXED)]
        others, loop = ", ".join(peers) or "—", _short(times[LOOP] / 1000)
        cells = [name, _short(times[AUTO]), *_costs(rows[AUTO]), f"{_short(times[best])} ({best})", others, loop]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def plain_table() -> str:
    """Rows are programs and systems, columns numbers of members, cells nanoseconds a member."""
    programs = load("plain")["results"]
    counts = list(dict.fromkeys(count for by_count in programs.values() for count in by_count))
    lines = ["| | | " + " | ".join(f"{int(count):,}" for count in counts) + " |", "|" + " --- |" * (len(counts) + 2)]
    for name, by_count in programs.items():
        for system in dict.fromkeys(system for rows in by_count.values() for system in rows):
            rows = [by_count.get(count, {}).get(system) for count in counts]
            cells = [
                _short(1e9 * row["median"] / int(count)) if row else "" for count, row in zip(counts, rows, strict=True)
            ]
            lines.append(f"| {name if system == AUTO else ''} | {system} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def gradients_table() -> str:
    """Rows are programs and numbers of members; milliseconds, and how many times a call or ours that is."""
    lines = [f"| program | members | {CALL}, ms | {GRADIENT} | {LOCAL} |", "| --- | --- | --- | --- | --- |"]
    for name, by_count in load("gradients")["results"].items():
        for count, rows in by_count.items():
            call, ours, local = (1000 * rows[system]["median"] for system in (CALL, GRADIENT, LOCAL))
            times = f"{_short(ours)} ({ours / call:.1f} calls)", f"{_short(local)} ({local / ours:.0f} times as long)"
            lines.append("| " + " | ".join([f"`{name}`", f"{int(count):,}", _short(call), *times]) + " |")
    return "\n".join(lines)


def gradients_peers_table() -> str:
    """Rows are programs, numbers of members and systems; milliseconds, and how many of our gradients that is."""
    lines = [f"| program | members | | {CALL}, ms | {GRADIENT} |", "| --- | --- | --- | --- | --- |"]
    for name, by_count in load("gradients")["results"].items():
        for count, rows in by_count.items():
            pairs = {"autobatch": (CALL, GRADIENT)}
            pairs |= {peer: (peer, peer + AND_GRADIENT) for peer in rows if peer + AND_GRADIENT in rows}
            for system, keys in pairs.items() if len(pairs) > 1 else ():
                call, both = (1000 * rows[key]["median"] for key in keys)
                times = both / (1000 * rows[GRADIENT]["median"])
                cells = [f"`{name}`", f"{int(count):,}", system, _short(call), f"{_short(both)} ({times:.1f} of ours)"]
                lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def ablation_table() -> str:
    """Rows are what is left out; for each program the time, against that with everything, steps, bytes of a lane."""
    programs = load("ablation")["results"]
    lines = ["| without | " + " | ".join(programs) + " |", "| --- |" + " --- |" * len(programs)]
    for name in next(iter(programs.values())):
        cells = []
        for rows in programs.values():
            row, share = rows[name], rows[name]["median"] / rows[EVERYTHING]["median"]
            time = f"{_short(1000 * row['median'])} ms ({share:.2f})"
            steps = [f"{row['steps']:,} steps"] if "steps" in row else []
            cells.append(", ".join([time, *steps, f"{row['lane_bytes']:,.0f} B"]))
        lines.append(f"| {'nothing' if name == EVERYTHING else f'`{name}`'} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def account_table(program: str = "") -> str:
    """Rows are blocks; runs, how full, the time of a run by itself and of all, and what it moves; then the sum."""
    name = f"account_{program}" if program else "account"
    rows = load(name)["results"]
    whole, copy = rows[ALL], rows[COPY]
    at_once = min(whole["parts"], load(name)["machine"]["cores"])
    columns = [
        "block, to line",
        "runs",
        "utilization",
        "a run, µs",
        "in all, ms",
        "of the time",
        "a run moves, MB",
        "GB/s",
    ]
    lines = ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    total = 0.0
    for name, row in rows.items():
        if name in (ALL, COPY):
            continue
        seconds = row["runs"] * row["seconds"] / at_once
        total += seconds
        cells = [
            f"{name}, {row['line']}",
            f"{row['runs']:,}",
            f"{row['utilization']:.0%}",
            f"{1e6 * row['seconds']:.1f}",
        ]
        cells += [f"{1e3 * seconds:.1f}", f"{seconds / whole['seconds']:.0%}"]
        lines.append("| " + " | ".join([*cells, f"{row['bytes'] / 1e6:.2f}", _rate(row)]) + " |")
    rest = whole["seconds"] - total
    for name, seconds in {"to choose and reach blocks, wait for the other core": rest, "all": whole["seconds"]}.items():
        lines.append(f"| {name} | | | | {1e3 * seconds:.1f} | {seconds / whole['seconds']:.0%} | | |")
    lines.append(
        f"| a copy of as many numbers, by itself | | | {1e6 * copy['seconds']:.1f} | | | "
        f"{copy['bytes'] / 1e6:.2f} | {_rate(copy)} |"
    )
    return "\n".join(lines)


def _rate(row: dict[str, float]) -> str:
    return f"{row['bytes'] / row['seconds'] / 1e9:.0f}"


def throughput_table() -> str:
    """Rows are series, columns numbers of chains, cells gradients a second."""
    return _by_chains(load("paper_throughput")["results"], "gradients_per_second", _short)


def utilization_table() -> str:
    return _by_chains(load("paper_utilization")["results"], "utilization", "{:.0%}".format)


def _by_chains(series: dict[str, dict[str, dict[str, float]]], value: str, shown: Callable[[float], str]) -> str:
    counts = sorted({int(count) for rows in series.values() for count in rows})
    lines = ["| chains | " + " | ".join(f"{count:,}" for count in counts) + " |", "|" + " --- |" * (len(counts) + 1)]
    for name, rows in series.items():
        cells = [shown(rows[str(count)][value]) if str(count) in rows else "" for count in counts]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def choices_table() -> str:
    """Rows are pairs of choices, columns programs."""
    programs = load("choices")["results"]
    lines = ["| | " + " | ".join(programs) + " |", "|" + " --- |" * (len(programs) + 1)]
    for choice in CHOICES:
        rows = [program[choice] for program in programs.values()]
        cells = [f"{_short(1e3 * r['median'])} ms, {r['runs']:,} runs, {r['utilization']:.0%}" for r in rows]
        lines.append(f"| {choice} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def refill_table() -> str:
    """Rows are ways to run all members; columns programs."""
    programs = load("refill")["results"]
    lines = ["| | " + " | ".join(programs) + " |", "|" + " --- |" * (len(programs) + 1)]
    for way in next(iter(programs.values())):
        cells = []
        for rows in programs.values():
            row = rows[way]
            used = f", {row['utilization']:.0%}, {row['state_bytes'] / 2**20:.3g} MiB" if "utilization" in row else ""
            cells.append(f"{_short(1e3 * row['median'])} ms{used}")
        lines.append(f"| {way} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def times_table(name: str) -> str:
    """Rows are systems; columns their first call, the median of the others, and gradients a second if there are any."""
    rows = load(name)["results"]
    rated = all("gradients_per_second" in row for row in rows.values())
    columns = ["", "first call, s", "median, ms", *(["gradients a second"] if rated else [])]
    lines = ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    for system, row in rows.items():
        cells = [system, f"{row['first']:.1f}", _short(1000 * row["median"])]
        if rated:
            cells.append(f"{row['gradients_per_second']:,.0f}")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


GRAPHS = ", loops as CUDA graphs"
ON_DEVICE = {
    "rounds": "autobatch, `rounds`",
    "guarded": "autobatch, `guarded`", f"guarded{GRAPHS}": f"autobatch, `guarded`{GRAPHS}",
    "switch_case": "autobatch, `switch_case`", "sweep": "autobatch, `sweep`",
    "numpyro": "NumPyro", "blackjax": "BlackJAX",
}  # fmt: skip


def on_device(device: str) -> dict[str, dict[str, dict[str, Any]]]:
    """What ran on a device, by program and number of members, and by dispatch or library."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for results, mark in (("", ""), ("_graphs", GRAPHS)):
        for row in load(f"{device}{results}")["results"]:
            found.setdefault(f"{row['program']} {row['members']}", {})[row["dispatch"] + mark] = row
    return found


def device_nuts_table(device: str) -> str:
    """Rows are dispatches and libraries, columns numbers of chains, cells millions of gradients a second."""
    kinds = {name.split()[1]: rows for name, rows in on_device(device).items() if name.startswith("nuts")}
    head = " | ".join(map(_chains, kinds))
    lines = [f"| million gradients a second | {head} |", "|" + " --- |" * (len(kinds) + 1)]
    for name, told in ON_DEVICE.items():
        rates = [f"{rows[name]['gradients'] / rows[name]['median'] / 1e6:.2f}" for rows in kinds.values()]
        lines.append(f"| {told} | " + " | ".join(rates) + " |")
    return "\n".join(lines)


def device_programs_table(device: str) -> str:
    """Rows are programs, columns dispatches, cells milliseconds."""
    dispatches = [name for name in ON_DEVICE if name not in ("numpyro", "blackjax")]
    lines = ["| ms | " + " | ".join(dispatches) + " |", "|" + " --- |" * (len(dispatches) + 1)]
    for name, rows in on_device(device).items():
        if not name.startswith("nuts"):
            program, members = name.split()
            times = [_short(1000 * rows[dispatch]["median"]) for dispatch in dispatches]
            lines.append(f"| {program}, {int(members):,} members | " + " | ".join(times) + " |")
    return "\n".join(lines)


def compiled_table(device: str, members: str) -> str:
    """Rows are programs and dispatches, columns what a device's compiler makes of a pass.

    members: of NUTS, of which all numbers are in the results.
    """
    lines = ["| | questions | kernels | copies | MB | held, MB | built, s |", "|" + " --- |" * 7]
    for row in load("accelerators")["results"]:
        is_other = row["program"].startswith("nuts") and row["members"] != int(members)
        if not row["device"].startswith(device) or is_other:
            continue
        cells = [f"{row['program']}, `{row['dispatch']}`", _short(row["questions"]), f"{row['kernels']:.0f}"]
        cells += [f"{row['copies']:.0f}", f"{row['copied'] / 1e6:.2f}"]
        cells += [f"{row['temporary'] / 1e6:.1f}", f"{row['compile']:.1f}"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def model_table(device: str) -> str:
    """Rows are programs, columns what a round was expected to take and what it took; and what was chosen."""
    measured = on_device(device)
    lines = ["| | rounds | expected, us each | measured, us each |", "|" + " --- |" * 4]
    for row in load("accelerators")["rounds"]:
        rows = measured.get(f"{row['program']} {row['members']}")
        if rows is not None and row["alike"]:
            each = 1e6 * rows["rounds"]["median"] / row["rounds"]
            cells = [f"{row['program']}, {row['members']:,}", f"{row['rounds']:,}", f"{1e6 * row['seconds']:.0f}"]
            lines.append("| " + " | ".join([*cells, f"{each:.0f}"]) + " |")
    return "\n".join(lines)


def load_table() -> str:
    lines = ["| | first call, s | second, s | the process grew by, MiB |", "| --- | --- | --- | --- |"]
    for name, row in load("load")["results"].items():
        second = _short(row["second"]) if "second" in row else ""
        lines.append(f"| {name} | {_short(row['first'])} | {second} | {row['mebibytes']:,.0f} |")
    return "\n".join(lines)


def _short(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def _chains(count: str) -> str:
    return f"{int(count):,} chain{'s' * (count != '1')}"


def _cell(rows: dict[str, dict[str, float]], name: str) -> str:
    if name not in rows:
        return "—"
    row = rows[name]
    text = f"{row['gradients_per_second']:,.0f}"
    if name != LIMIT:
        text += f" ({row['gradients_per_second'] / rows[LIMIT]['gradients_per_second']:.0%})"
    if "effective_per_second" in row:
        text += f", {row['effective_per_second']:,.0f} effective"
    return text


def write_tables() -> None:
    """Puts each table between its marks: ``<!-- nuts gaussian -->``, ``<!-- times fibonacci -->``; ``<!-- end -->``."""
    tables = {
        "nuts": nuts_table,
        "systems": systems_table,
        "times": times_table,
        "programs": programs_table,
        "plain": plain_table,
        "gradients": gradients_table,
        "gradients_peers": gradients_peers_table,
        "ablation": ablation_table,
        "account": account_table,
        "throughput": throughput_table,
        "utilization": utilization_table,
        "choices": choices_table,
        "refill": refill_table,
        "load": load_table,
        "device_nuts": device_nuts_table,
        "device_programs": device_programs_table,
        "device_compiled": compiled_table,
        "device_model": model_table,
    }

    def table(found: re.Match[str]) -> str:
        kind, *about = found[1].split()
        return f"<!-- {found[1]} -->\n{tables[kind](*about)}\n<!-- end -->"

    marks = rf"<!-- ((?:{'|'.join(tables)})[\w ]*) -->\n.*?<!-- end -->"
    for page in PAGES:
        page.write_text(re.sub(marks, table, page.read_text(), flags=re.DOTALL))
