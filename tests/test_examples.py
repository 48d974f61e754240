"""The gallery runs, at a small size, and what it prints is right."""

import importlib
import inspect
from pathlib import Path

import pytest

from examples import against_a_loop

FOLDER = Path(against_a_loop.__file__).parent
SMALL = {
    "a_star": {"maps": 6, "side": 8},
    "billiards": {"shots": 20, "steps": 3},
    "breast_cancer": {"chains": 8, "warm_up": 20, "draws": 20},
    "cart_pole": {"policies": 12, "generations": 2},
    "comets": {"comets": 8, "steps": 3},
    "connect_four": {"games": 2, "lessons": 60, "matches": 2},
    "eight_schools": {"chains": 4, "draws": 100},
    "formulas": {"steps": 3, "width": 4, "batch": 16, "tests": 20},
    "funnel": {"chains": 8, "draws": 30},
    "line_search": {"side": 6},
    "lorenz": {"members": 20},
    "many_machines": {"members": 1000, "share": 100, "workers": 2},
    "mandelbrot": {"width": 30, "limit": 20},
    "n_queens": {"largest": 5},
    "nuts_by_hand": {"chains": 4, "draws": 8},
    "particle_filter": {"particles": 20, "counts": 3, "rates": 3},
    "quadrature": {"members": 12},
    "sphere_tracing": {"width": 16, "bounces": 1},
    "stack_machine": {"members": 24},
    "sudoku": {"boards": 4, "holes": 30},
    "tree_lstm": {"trees": 10, "width": 4},
}
PRINTED = {
    "line_search": "100.0% end in a minimum",
    "many_machines": "1,000 numbers; 871 takes longest, 178 steps: right",
    "sudoku": "4 of 4 solved",
    "stack_machine": "1 2 6 24 120 720 5040 40320 ",
}


@pytest.mark.filterwarnings("ignore::autobatch.mcmc.SamplingWarning")
@pytest.mark.parametrize("name", sorted(SMALL))
def test_an_example(name, tmp_path, capsys):
    main = importlib.import_module(f"examples.{name}").main
    has_out = "out" in inspect.signature(main).parameters
    main(**SMALL[name], **({"out": tmp_path} if has_out else {}))
    printed = capsys.readouterr().out
    assert PRINTED.get(name, "") in printed
    assert "wrong" not in printed
    assert [path.read_bytes()[:4] for path in tmp_path.glob("*")] == ([b"\x89PNG"] if has_out else [])


def test_all_are_here():
    written = {path.stem for path in FOLDER.glob("*.py")} - {"__init__", "against_a_loop", "fibonacci", "forest"}
    assert written == set(SMALL)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_examples_are_short(path):
    assert sum(1 for line in path.read_text().splitlines() if line.strip()) < 80
