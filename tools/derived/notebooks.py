"""The notebooks of docs/notebooks/ with what their cells show now.

A cell that fails or complains ends it, and so does an output that is too large. Pictures are not compared: their
letters are as wide as the machine's fonts.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import nbformat
from nbclient import NotebookClient

FOLDER: Final = Path(__file__).resolve().parents[2] / "docs" / "notebooks"
MOST_BYTES: Final = 3_000_000
MOST_OUTPUT: Final = 100_000
"""Of a cell, unless it shows an interactive page."""


def files() -> dict[Path, str]:
    """The notebooks, executed."""
    books = {path: executed(path) for path in sorted(FOLDER.glob("*.ipynb"))}
    if wrong := [line for path, book in books.items() for line in complaints(path, book)]:
        sys.exit("\n".join(wrong))
    return {path: nbformat.writes(book) for path, book in books.items()}


def same(one: str, other: str) -> bool:
    """Whether two notebooks say the same."""
    kept, new = (said(nbformat.reads(text, as_version=4)) for text in (one, other))
    return bool(kept == new)


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
