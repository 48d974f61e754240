"""The Python in the documentation runs."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), flags=re.S | re.M)
    path = tmp_path / "page.py"
    path.write_text("import autobatch as ab, tensorflow as tf\n" + "\n".join(blocks))
    exec(compile(path.read_text(), str(path), "exec"), {"__name__": "page"})
