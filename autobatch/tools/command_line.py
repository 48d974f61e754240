"""The command ``autobatch``: look at programs, profile them, check an installation.

What imports TensorFlow is imported by the commands that need it, so that help and completion come at once.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from autobatch import cache as kept
from autobatch import errors, quiet

if TYPE_CHECKING:
    import numpy as np

    from autobatch.api import Autobatched

HELP = "Look at programs, profile them, check an installation."
app = typer.Typer(help=HELP, no_args_is_help=True, pretty_exceptions_enable=False)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"autobatch {metadata.version('autobatch')}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    del version


class Stage(str, Enum):
    source = "source"
    ir = "ir"
    types = "types"
    stack = "stack"
    stablehlo = "stablehlo"
    dot = "dot"
    svg = "svg"


Target = Annotated[str, typer.Argument(help="file.py:function or module:function, one with @autobatch.")]
Args = Annotated[
    list[str],
    typer.Option(
        "--args",
        help="The batch of the next argument, as Python writes it: 7,3,5 or [[1,2],[3,4]] or {'a': [1,2]}; "
        "name=... for a keyword. Static arguments are taken as they are.",
    ),
]
Out = Annotated[Path | None, typer.Option(help="Write it to this file.")]


@app.command()
def show(target: Target, args: Args, stage: Stage = Stage.ir, out: Out = None) -> None:
    """Prints the program that a function becomes, at one stage of its way."""
    with _errors_in_words():
        function, positional, named = _call(target, args)
        lowered = function.lower(*positional, **named)
        match stage:
            case Stage.dot:
                text = lowered.to_dot()
            case Stage.svg:
                text = lowered.to_svg()
            case _:
                text = lowered.as_text(stage.value)
        if out is not None:
            out.write_text(text)
            return
    print(text)


@app.command()
def profile(
    target: Target,
    args: Args,
    lanes: Annotated[int | None, typer.Option(help="As for f.map: how many members are at work at a time.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page on which the run can be watched.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the run: a PNG, PDF or SVG.")] = None,
) -> None:
    """Runs a batch and says how often each line ran, and how full it was."""
    _import_tensorflow()
    from autobatch.profiling import profile as run_and_count

    with _errors_in_words():
        function, positional, named = _call(target, args)
        found = run_and_count(function, *positional, lanes=lanes, **named)
        Console().print(found.table())
        if plot is not None:
            found.plot(plot)
        if html is not None:
            found.to_html(html)


@app.command()
def doctor() -> None:
    """Says what is installed, and runs a short test of all backends."""
    _import_tensorflow()
    from autobatch.tools import self_test

    if not self_test.report(Console()):
        raise typer.Exit(1)


@app.command()
def cache(clear: Annotated[bool, typer.Option("--clear", help="Remove them all.")] = False) -> None:
    """Says where compiled programs are kept, and how much room they take."""
    where = kept.folder()
    if where is None:
        print(f"Compiled programs are not kept: {kept.SETTING} is {os.environ[kept.SETTING]}.")
        return
    if clear:
        kept.clear()
    print(f"{where}: {kept.size() / 2**20:.1f} MiB of at most {kept.MOST / 2**20:.0f} MiB")


def _import_tensorflow() -> None:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with quiet.without(*quiet.AT_IMPORT):
        importlib.import_module("tensorflow")


@contextmanager
def _errors_in_words() -> Iterator[None]:
    try:
        yield
    except (errors.AutobatchError, OSError, ValueError) as error:
        Console(stderr=True).print(f"{type(error).__name__}: {error}", style="red", markup=False, highlight=False)
        raise typer.Exit(1) from None


def _call(target: str, texts: list[str]) -> tuple[Autobatched, list[Any], dict[str, Any]]:
    """The function, and its positional and named arguments."""
    _import_tensorflow()
    from autobatch.frontend.source import signature

    function = _function(target)
    parameters = iter(signature(function.__wrapped__).parameters)  # type: ignore[attr-defined]
    positional, named = [], {}
    for text in texts:
        name, equals, literal = text.partition("=")
        if equals and name.isidentifier():
            named[name] = _value(literal, name in function._options.static_argnames)
        else:
            positional.append(_value(text, next(parameters, None) in function._options.static_argnames))
    try:
        signature(function.__wrapped__).bind(*function._receiver, *positional, **named)  # type: ignore[attr-defined]
    except TypeError as error:
        raise typer.BadParameter(f"{function.__name__}: {error}; --args is given once for each.") from None
    return function, positional, named


def _value(text: str, is_static: bool) -> Any:
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        raise typer.BadParameter(f"{text!r} is no Python value; write 7,3,5 or [[1.0, 2.0], [3.0, 4.0]].") from None
    if is_static:
        return value
    return {key: _batch(part) for key, part in value.items()} if isinstance(value, dict) else _batch(value)


def _batch(value: Any) -> np.ndarray:
    import numpy as np

    try:
        batch = np.atleast_1d(np.asarray(value))
    except ValueError:
        raise typer.BadParameter(f"{value!r} is ragged: all members' values must have one shape.") from None
    if batch.dtype == object:
        raise typer.BadParameter(f"{value!r} is no batch of numbers that fit 64 bits.")
    narrow = batch.astype({"int64": "int32", "float64": "float32"}.get(batch.dtype.name, batch.dtype))
    return batch if batch.dtype == np.int64 and not np.array_equal(batch, narrow) else narrow


def _function(target: str) -> Autobatched:
    from autobatch.api import Autobatched

    where, _, name = target.rpartition(":")
    if not where:
        raise typer.BadParameter(f"{target!r} names no function: write file.py:function or module:function.")
    sys.path.insert(0, "")
    try:
        module = _from_file(Path(where)) if where.endswith(".py") else importlib.import_module(where)
    except (FileNotFoundError, ModuleNotFoundError) as error:
        raise typer.BadParameter(str(error)) from None
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    if not isinstance(found, Autobatched):
        known = ", ".join(key for key, value in vars(module).items() if isinstance(value, Autobatched))
        raise typer.BadParameter(f"{where} has no autobatched function {name!r}; it has {known or 'none'}.")
    if found._is_method and not found._receiver:
        raise typer.BadParameter(
            f"{name} is a method: name that of an object of the module, as in model.{found.__name__}."
        )
    return found


def _from_file(path: Path) -> Any:
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    sys.path.insert(1, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    loader = spec and spec.loader
    assert spec is not None
    assert loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    loader.exec_module(module)
    return module
