"""The Python in the documentation runs."""

import inspect
import os
import re
from pathlib import Path

import pytest
import tensorflow as tf

import autobatch as ab
from autobatch import passes
from examples.fibonacci import fibonacci

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), flags=re.S | re.M)
    path = tmp_path / "page.py"
    path.write_text("import autobatch as ab, tensorflow as tf\n" + "\n".join(blocks))
    # As a script: of a module "page" pickle would import the file, and run it again within itself.
    exec(compile(path.read_text(), str(path), "exec"), {"__name__": "__main__"})


def test_printed_stages():
    """``make golden`` writes them anew."""
    path = ROOT / "docs" / "how_it_works.md"
    lowered = fibonacci.lower(tf.constant([3, 7, 4, 5]))

    def printed(match):
        return f"<!-- stage {match[1]} -->\n```\n{lowered.as_text(match[1]).strip()}\n```"

    text, count = re.subn(r"<!-- stage (\w+) -->\n```\n.*?```", printed, path.read_text(), flags=re.S)
    if os.environ.get("AUTOBATCH_WRITE_GOLDEN"):
        path.write_text(text)
    assert count == 4
    assert text == path.read_text()


def test_the_table_of_passes():
    """``make golden`` writes it anew."""
    path = ROOT / "CONTRIBUTING.md"
    rows = [
        f"| {each.name} | `{_file(each.function)}` | {_first_sentence(each.function)} "
        f"| {', '.join(f'`{name}`' for name in each.optimizations)} | {', '.join(f'`{s}`' for s in each.stages)} |"
        for each in passes.PASSES
    ]
    head = "| pass | file | what it does | optimizations | ends the stage |\n| --- | --- | --- | --- | --- |"
    table = "\n".join(["<!-- passes -->", head, *rows, "<!-- /passes -->"])
    text, count = re.subn(r"<!-- passes -->.*<!-- /passes -->", lambda _: table, path.read_text(), flags=re.S)
    if os.environ.get("AUTOBATCH_WRITE_GOLDEN"):
        path.write_text(text)
    assert count == 1
    assert text == path.read_text()


def _file(function):
    return Path(inspect.getsourcefile(inspect.unwrap(function))).name


def _first_sentence(function):
    return inspect.getdoc(function).split("\n\n")[0].split(". ")[0].replace("\n", " ").rstrip(".").replace("|", "\\|")


def test_the_reference_has_all_names():
    page = (ROOT / "docs" / "api.md").read_text()
    for module in (ab, ab.mcmc, ab.profiling):
        for name in set(module.__all__) - {"mcmc"}:
            assert re.search(rf"^::: autobatch\.([\w.]+\.)?{name}$", page, flags=re.M), name


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    prose = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.S | re.M)
    for link in re.findall(r"\]\(([^)#\s]+)", prose):
        assert "://" in link or (page.parent / link).exists(), link
