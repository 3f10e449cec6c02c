#!/usr/bin/env python3
"""Puts what a site of the documentation is made of into a folder: `scripts/site.py FOLDER`.

Every document keeps its place in the repository, so that links between documents are right without a change. A file that a
document links to comes along as it is, and a folder as a page that lists its files. Notebooks come as they were executed
(scripts/notebooks.sh). The reference of the Python package is a page that mkdocstrings fills from its stubs and docstrings.
"""

import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = ["*.md", "docs/**/*", "crates/README.md", "fuzz/README.md", "bench/README.md", "examples/notebooks/*.ipynb"]
LINK = re.compile(r'(\]\(|src=")([^)"#\s]+)([#)"])')
MODULES = ["sim", "trace", "path", "transport", "estimators", "figures", "ray", "errors"]


def copy(source: Path, target: Path) -> None:
    """Copies a file, or says in a page what a folder holds."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_file():
        shutil.copyfile(source, target)
        return
    names = sorted(path.name + "/" * path.is_dir() for path in source.iterdir())
    target.mkdir(exist_ok=True)
    listed = "".join(f"- `{name}`\n" for name in names)
    (target / "index.md").write_text(f"# {source.relative_to(ROOT)}/\n\nA folder of the repository:\n\n{listed}")


def linked(document: Path, pages: Path) -> str:
    """The text of a document, after all that it links to has come along; a folder is linked by its page."""

    def link(found: re.Match[str]) -> str:
        before, place, after = found.groups()
        source = (document.parent / place).resolve()
        if "://" in place or not source.exists() or not source.is_relative_to(ROOT):
            return found.group()
        target = pages / source.relative_to(ROOT)
        if not target.exists():
            copy(source, target)
        if source.is_dir():
            page = "README.md" if (target / "README.md").exists() else "index.md"
            return f"{before}{place.rstrip('/')}/{page}{after}"
        return found.group()

    return LINK.sub(link, document.read_text())


def main() -> None:
    """Fills the folder."""
    pages = Path(sys.argv[1])
    shutil.rmtree(pages, ignore_errors=True)
    files = [path for pattern in DOCUMENTS for path in sorted(ROOT.glob(pattern)) if path.is_file()]
    for file in files:
        copy(file, pages / file.relative_to(ROOT))
    for file in files:
        if file.suffix == ".md":
            (pages / file.relative_to(ROOT)).write_text(linked(file, pages))
        if file.suffix == ".ipynb":
            shutil.copyfile(ROOT / "target/notebooks" / file.name, pages / file.relative_to(ROOT))
    reference = "".join(f"\n## isobath.{module}\n\n::: isobath.{module}\n" for module in MODULES)
    (pages / "python").mkdir(exist_ok=True)
    (pages / "python/reference.md").write_text(f"# The Python package\n\n::: isobath\n{reference}")


if __name__ == "__main__":
    main()
