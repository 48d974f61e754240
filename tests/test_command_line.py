"""The command ``autobatch``."""

import os
import subprocess
import sys
from importlib import metadata

import pytest
from typer.testing import CliRunner

import autobatch as ab
from autobatch.tools.command_line import app

FIBONACCI = "examples/fibonacci.py:fibonacci"


def run(*words):
    result = CliRunner().invoke(app, list(words), env={"COLUMNS": "200", "TERMINAL_WIDTH": "200"})
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.mark.parametrize(
    ("stage", "part"),
    [
        ("source", "def fibonacci(n)"),
        ("ir", "call fibonacci"),
        ("types", "n: int32[]"),
        ("stack", "push n = arg"),
        ("stablehlo", "stablehlo.while"),
        ("dot", "digraph {"),
        ("svg", "<svg"),
    ],
)
def test_show(stage, part):
    result = run("show", FIBONACCI, "--args", "7,3,5", "--stage", stage)
    assert result.exit_code == 0
    assert part in result.stdout


def test_show_into_a_file(tmp_path):
    out = tmp_path / "f.svg"
    assert run("show", FIBONACCI, "--args", "7,3", "--stage", "svg", "--out", str(out)).exit_code == 0
    assert "</svg>" in out.read_text()


def test_profile(tmp_path):
    html, plot = tmp_path / "f.html", tmp_path / "f.png"
    result = run("profile", FIBONACCI, "--args", "7,3,5", "--html", str(html), "--plot", str(plot))
    assert "fibonacci: 3 members" in result.stdout
    assert "fibonacci" in html.read_text()
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_a_module_names_and_static_arguments(tmp_path, monkeypatch):
    (tmp_path / "own_program.py").write_text(
        "import autobatch as ab\n"
        "@ab.autobatch(static_argnames='times')\n"
        "def repeated(x, y, times):\n"
        "    for _ in range(times):\n"
        "        x = x * y\n"
        "    return x\n"
    )
    monkeypatch.chdir(tmp_path)
    result = run(
        "show",
        "own_program:repeated",
        "--args",
        "[[1.0, 2.0]]",
        "--args",
        "times=3",
        "--args",
        "y=5.0",
        "--stage",
        "types",
    )
    assert result.exit_code == 0, result.output
    assert "x: float32[2]" in result.stdout
    assert "y: float32[]" in result.stdout


def test_dicts_and_methods(tmp_path, monkeypatch):
    (tmp_path / "own_model.py").write_text(
        "import autobatch as ab\n"
        "class Model:\n"
        "    @ab.autobatch\n"
        "    def total(self, state, n):\n"
        "        return state['sum'] + n\n"
        "model = Model()\n"
    )
    monkeypatch.chdir(tmp_path)
    arguments = ("--args", "{'sum': [1, 2]}", "--args", "3,4")
    result = run("profile", "own_model.py:model.total", *arguments)
    assert "total: 2 members" in result.stdout, result.output
    assert "as in model.total" in run("show", "own_model.py:Model.total", *arguments).output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["show", "fibonacci", "--args", "1"], "names no function"),
        (["show", "nowhere.py:f", "--args", "1"], "There is no file nowhere.py"),
        (["show", "nowhere:f", "--args", "1"], "No module named"),
        (["show", "examples/fibonacci.py:fib", "--args", "1"], "it has fibonacci"),
        (["show", FIBONACCI, "--args", "7,x"], "is no Python value"),
        (["show", FIBONACCI], "Missing option '--args'"),
        (["show", FIBONACCI, "--args", "m=3"], "missing a required argument: 'n'"),
        (["show", FIBONACCI, "--args", "'a'"], "TypeMismatchError"),
    ],
)
def test_errors_are_words(words, said):
    result = run(*words)
    assert result.exit_code != 0
    assert said in result.output
    assert "Traceback" not in result.output


def test_doctor():
    result = run("doctor")
    assert result.exit_code == 0
    assert "All is well." in result.stdout
    assert "tensorflow" in result.stdout


def test_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("AUTOBATCH_CACHE", str(tmp_path))
    (tmp_path / "a.program").write_bytes(bytes(2**20))
    assert run("cache").stdout.split(": ")[1] == "1.0 MiB of at most 2048 MiB\n"
    assert run("cache", "--clear").stdout.split(": ")[1] == "0.0 MiB of at most 2048 MiB\n"
    monkeypatch.setenv("AUTOBATCH_CACHE", "off")
    assert run("cache").stdout == "Compiled programs are not kept: AUTOBATCH_CACHE is off.\n"


def test_version():
    assert run("--version").output == f"autobatch {metadata.version('autobatch')}\n"


@pytest.mark.parametrize(
    "work",
    [
        "import autobatch; autobatch.errors, autobatch.cache",
        "from autobatch.tools.command_line import app; app(['--help'])",
    ],
)
def test_help_and_completion_do_not_wait_for_tensorflow(work):
    code = f"import atexit, sys\natexit.register(lambda: print('tensorflow' in sys.modules))\n{work}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"


@pytest.mark.parametrize(
    "code",
    [
        f"from autobatch.tools.command_line import app; app(['show', {FIBONACCI!r}, '--args', '3'])",
        "from examples.fibonacci import fibonacci; import numpy; print(fibonacci.lower(numpy.array([3])))",
    ],
)
def test_tensorflow_says_nothing_of_the_machine(code):
    own = {name: value for name, value in os.environ.items() if name != "TF_CPP_MIN_LOG_LEVEL"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=own, check=True)
    assert "block 0" in done.stdout
    assert done.stderr == ""


def test_the_package_has_what_it_says_it_has():
    assert set(ab.__all__) <= set(dir(ab))
    assert all(getattr(ab, name) is not None for name in ab.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = ab.nothing
