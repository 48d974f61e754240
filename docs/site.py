"""What the site shows of the repository outside docs/: the README as its first page, and all that pages link to."""

from __future__ import annotations

import os
import re
from pathlib import Path
from posixpath import dirname, normpath, relpath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
LINK = re.compile(r"(\[[\w/]+\.md)?\]\(([^)#\s]+)")
PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    own = [f"docs/{file.src_uri}" for file in files.documentation_pages()]
    outside = dict.fromkeys(PAGES)
    for path in [*own, *PAGES]:
        outside |= dict.fromkeys(to for to in _links(path) if not to.startswith("docs/"))
    for path in outside:
        text = (ROOT / path).read_text()
        content = text if path.endswith(".md") else f"# {path}\n\n```python\n{text}```\n"
        files.append(File.generated(config, _uri(path), content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    uri = page.file.src_uri
    source = next((path for path, name in PAGES.items() if name == uri), f"docs/{uri}")
    if not (ROOT / source).exists():  # code
        return markdown

    def moved(link: re.Match) -> str:
        to = _target(source, link[2])
        if to is None:
            return link[0]
        # Where the repository is read, files have names; here they have titles.
        name = "[" + (ROOT / to).read_text().partition("\n")[0].removeprefix("# ") if link[1] else ""
        return f"{name}]({relpath(_uri(to), dirname(uri) or '.')}"

    return LINK.sub(moved, markdown)


def _links(path: str) -> list[str]:
    """The files of the repository to which this one has links."""
    found = (_target(path, link) for _, link in LINK.findall((ROOT / path).read_text()))
    return [to for to in found if to is not None]


def _target(source: str, link: str) -> str | None:
    path = normpath(os.path.join(dirname(source), link))
    return path if (ROOT / path).is_file() else None


def _uri(path: str) -> str:
    """Where the site has a file of the repository."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return PAGES.get(path, path.removesuffix(".py") + ".md")
