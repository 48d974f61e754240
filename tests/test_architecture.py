"""Imports go one way; files stay small."""

import ast
import graphlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "autobatch"

# Each line may import from the lines below it; within a line, imports make no circle.
LAYERS = [
    ["__init__"],
    ["mcmc", "profiling", "tools"],
    ["api", "batched", "stages"],
    ["calls"],
    ["backends"],
    ["machine", "options"],
    ["frontend", "passes"],
    ["tracing"],
    ["ir"],
    ["language"],
    ["cache", "context", "errors", "files", "flags", "progress", "quiet", "random", "reads", "tracebacks"],
]


def layer(module: str) -> int:
    for depth, names in enumerate(LAYERS):
        if module.split(".")[0] in names:
            return depth
    raise AssertionError(f"{module} is in no layer: add it to the map here and in CONTRIBUTING.md")


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in sorted(ROOT.rglob("*.py"))}


def imports(path: Path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "autobatch":
            base = node.module.removeprefix("autobatch").lstrip(".")
            for alias in node.names:
                name = f"{base}.{alias.name}".lstrip(".")
                yield name if name in MODULES else base


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_down(module):
    for imported in imports(MODULES[module]):
        assert layer(imported) >= layer(module), f"{module} imports {imported}"


def test_imports_make_no_circle():
    """Those for type checkers included."""
    graphlib.TopologicalSorter({module: set(imports(path)) for module, path in MODULES.items()}).prepare()


@pytest.mark.parametrize("module", MODULES)
def test_files_are_small(module):
    assert len(MODULES[module].read_text().splitlines()) <= 500


def test_rooms_say_what_they_are_for():
    for path in ROOT.rglob("__init__.py"):
        assert ast.get_docstring(ast.parse(path.read_text())), path


def test_the_map_is_that_of_contributing():
    told = (ROOT.parent / "CONTRIBUTING.md").read_text()
    assert "\n".join(f"    {', '.join(row)}" for row in LAYERS) in told


SLOW = {"arviz", "matplotlib", "pandas", "tensorflow_probability", "xarray"}  # seconds to import
WHERE_NEEDED = {  # imported by functions that need them
    "mcmc.archive", "mcmc.joint_distribution", "mcmc.kernel", "mcmc.predictive", "mcmc.summary", "mcmc.with_arviz",
}  # fmt: skip


def run_at_import(statements):
    """Those outside of functions, but for what type checkers alone look at."""
    for node in statements:
        if isinstance(node, ast.With):
            yield from run_at_import(node.body)
        yield node


@pytest.mark.parametrize("module", sorted(MODULES.keys() - WHERE_NEEDED))
def test_slow_imports_wait_until_they_are_needed(module):
    for node in run_at_import(ast.parse(MODULES[module].read_text()).body):
        names = [alias.name for alias in getattr(node, "names", ())] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names] + [str(node.module)]
        assert not SLOW & {name.split(".")[0] for name in names}
        assert not WHERE_NEEDED & {name.removeprefix("autobatch.") for name in names}
