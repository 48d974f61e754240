"""Imports go one way; files stay small."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "autobatch"

# Each line may import from the lines below it, and within a package.
LAYERS = [
    ["__init__"],
    ["mcmc"],
    ["command_line"],
    ["self_test"],
    ["profiling"],
    ["api"],
    ["stages"],
    ["mapping", "runs", "distribution"],
    ["program"],
    ["runtime", "fingerprint"],
    [
        "passes.block_order",
        "passes.costs",
        "passes.item_writes",
        "passes.jump_threading",
        "passes.leaf_flow",
        "passes.stack_lowering",
        "passes.storage",
        "passes.tail_duplication",
        "passes.visit_order",
    ],
    ["arguments", "inference"],
    ["passes", "frontend", "regions", "dot", "types"],
    ["operators"],
    ["indexing"],
    ["values", "structs"],
    ["explain"],
    ["ir", "random", "context", "options", "streams", "run_file", "recent", "exporting"],
    ["errors"],
]


def layer(module: str) -> int:
    parts = module.split(".")
    for size in range(len(parts), 0, -1):
        for depth, names in enumerate(LAYERS):
            if ".".join(parts[:size]) in names:
                return depth
    raise AssertionError(f"{module} is in no layer: add it to the map here and in CONTRIBUTING.md")


def imports(path: Path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "autobatch":
            base = node.module.removeprefix("autobatch").lstrip(".")
            for alias in node.names:
                name = f"{base}.{alias.name}".lstrip(".")
                is_module = (ROOT / name.replace(".", "/")).with_suffix(".py").exists() or (ROOT / name).is_dir()
                yield name if is_module else base


MODULES = sorted(p for p in ROOT.rglob("*.py") if p.name != "__init__.py" or p.parent == ROOT)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_imports_go_down(path):
    module = path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
    for imported in imports(path):
        assert layer(imported) >= layer(module), f"{module} imports {imported}"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_files_are_small(path):
    assert len(path.read_text().splitlines()) <= 500
