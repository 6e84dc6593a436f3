"""How the command writes: plain lines in batches, tables that fit the terminal, one-line messages on stderr.

Nothing from a file reaches a terminal as a control sequence: all text passes through `safe`.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from types import TracebackType
from typing import Any, Final

import click

from clrevents._util.outputs import whole_file
from clrevents._util.words import safe as safe
from clrevents.export.files.json_pieces import json_pieces
from clrevents.schema.registry import SHORT_PROVIDERS

_BATCH: Final = 1000
_PIECES: Final = 1 << 7
_BRIEF: Final = {name: short for short, name in SHORT_PROVIDERS.items()}


def event_label(provider: str, name: str) -> str:
    """An event as a selector that fits a line: the runtime's providers by their short names."""
    return f"{_BRIEF.get(provider, provider)}/{name}"


def say(text: str) -> None:
    """Print one sentence on stderr."""
    click.echo(f"clrevents: {safe(text)}", err=True)


def write_file(out: str, data: bytes, said: str) -> None:
    """Write a file at once and say what it is; `-` is standard output, about which nothing is said."""
    if out == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    else:
        with whole_file(out) as target:
            target.write(data)
        say(f"{out}: {said}")


class Output:
    """Standard output. On a terminal each line is written at once; into a pipe many at a time."""

    def __init__(self) -> None:
        if sys.stdout is None:
            raise OSError(errno.EBADF, "standard output is closed")
        self._stream = sys.stdout
        self._lines: list[str] = []
        self.terminal = self._stream.isatty()
        self.colour = self.terminal and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
        reconfigure = getattr(self._stream, "reconfigure", None)
        if reconfigure is not None:
            # A terminal that cannot show a character must not end the command.
            reconfigure(errors="backslashreplace")

    def __enter__(self) -> Output:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None or (issubclass(kind, Exception) and not issubclass(kind, OSError)):
            self.flush()

    def shows(self, text: str) -> bool:
        """Whether the terminal, or the file, has all of these characters."""
        try:
            text.encode(self._stream.encoding or "ascii")
        except (LookupError, UnicodeEncodeError):
            return False
        return True

    def line(self, text: str = "") -> None:
        """Write a line that is already safe."""
        self._lines.append(text)
        if self.terminal or len(self._lines) >= _BATCH:
            self.flush()

    def lines(self, texts: Iterable[str]) -> None:
        for text in texts:
            self.line(text)

    def flush(self) -> None:
        if self._lines:
            self._lines.append("")
            text = "\n".join(self._lines)
            self._lines.clear()
            self._stream.write(text)
        self._stream.flush()

    def json(self, value: dict[str, Any]) -> None:
        """Write one object, indented and in ASCII; arrays in it may be iterators."""
        pieces = json_pieces(value)
        self.flush()
        while text := "".join(islice(pieces, _PIECES)):
            self._stream.write(text)
        self.line()

    def facts(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Write names and values, one per line."""
        shown = [(safe(name), safe(value)) for name, value in pairs]
        width = max(len(name) for name, _ in shown)
        for name, value in shown:
            self.line(f"{self.bold(name.ljust(width))}  {value}")

    def bold(self, text: str) -> str:
        return click.style(text, bold=True) if self.colour else text

    def filled(self, head: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[str] = ()) -> None:
        """Like `table`, without columns (other than marks) in which every row has at most a dash."""
        kept = [i for i, name in enumerate(head) if not name or any(row[i] not in ("", "-") for row in rows)]
        self.table([head[i] for i in kept], [[row[i] for i in kept] for row in rows], right)

    def table(self, head: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[str] = ()) -> None:
        """Write columns under headings; those named in `right` are numbers. Long cells wrap at the terminal's width."""
        cells = [[safe(cell) for cell in row] for row in rows]
        if self.terminal:
            self._rich_table(head, cells, right)
            return
        widths = [max(len(row[i]) for row in [list(head), *cells]) for i in range(len(head))]
        for row in [list(head), *cells]:
            padded = [c.rjust(w) if h in right else c.ljust(w) for h, c, w in zip(head, row, widths, strict=True)]
            self.line("  ".join(padded).rstrip())

    def _rich_table(self, head: Sequence[str], cells: list[list[str]], right: Collection[str]) -> None:
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        self.flush()
        table = Table(box=None, pad_edge=False, header_style="bold")
        for name in head:
            table.add_column(name, justify="right" if name in right else "left", overflow="fold")
        for row in cells:
            # As Text, so that brackets in a name are not markup.
            table.add_row(*map(Text, row))
        Console(file=self._stream, highlight=False, markup=False, emoji=False).print(table)
