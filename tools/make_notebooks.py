#!/usr/bin/env python
"""Run the example notebooks of docs/notebooks/ and keep what their cells show.

`--check` writes nothing: it fails if a cell fails, if one says something else than what is kept, or if a notebook or an
output is too large. Pictures are not compared: their letters are as wide as the machine's fonts.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import nbformat
from nbclient import NotebookClient

FOLDER: Final = Path(__file__).resolve().parent.parent / "docs" / "notebooks"
MOST_BYTES: Final = 3_000_000
MOST_OUTPUT: Final = 100_000
"""Of a cell, unless it shows an interactive page."""


def executed(path: Path) -> Any:
    """A notebook with new outputs, and nothing that would be different next time."""
    book = nbformat.read(path, as_version=4)
    NotebookClient(book, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(FOLDER)}}).execute()
    book.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    for number, cell in enumerate(book.cells):
        cell.metadata = {}
        cell.id = f"cell-{number}"
    return book


def complaints(path: Path, book: Any) -> Iterator[str]:
    """What is wrong with an executed notebook."""
    size = len(nbformat.writes(book).encode())
    if size > MOST_BYTES:
        yield f"{path.name} has {size:,} bytes"
    for number, cell in enumerate(book.cells):
        for output in cell.get("outputs", ()):
            size = sum(len(str(text).encode()) for text in output.get("data", {}).values())
            if size > MOST_OUTPUT and ".show(" not in cell.source:
                yield f"{path.name}: cell {number} shows {size:,} bytes"
            if output.output_type == "stream" and output.name == "stderr":
                yield f"{path.name}: cell {number} complains: {output.text[:200]}"


def said(book: Any) -> list[list[str]]:
    """The texts of each cell's outputs."""
    cells = [cell.outputs for cell in book.cells if cell.cell_type == "code"]
    return [[o.text if o.output_type == "stream" else o.data.get("text/plain", "") for o in cell] for cell in cells]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if something changed")
    check = parser.parse_args().check
    wrong: list[str] = []
    for path in sorted(FOLDER.glob("*.ipynb")):
        book = executed(path)
        wrong += complaints(path, book)
        if check:
            if said(book) != said(nbformat.read(path, as_version=4)):
                wrong.append(f"{path.name} says something else: run python tools/make_notebooks.py")
        else:
            nbformat.write(book, path)
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
