"""How the command writes: plain lines in batches, tables that fit the terminal, one-line messages on stderr.

Nothing from a file reaches a terminal as a control sequence: this is the one door for text, and all of it is escaped
here. Only `verbatim`, for pipes and files, leaves it as it is.
"""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from types import TracebackType
from typing import Final

import click

from clrevents._util.fitting import Fitted, Kind, TextColumn, fitted_table, wrapped
from clrevents._util.words import safe as safe
from clrevents.cli.options import PIPED, given_wide
from clrevents.errors import DamageError, PayloadError, TraceError

GOOD, USAGE, UNREADABLE, DAMAGED, UNMET, UNTOLD, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130
"""Exit codes. `DAMAGED` is for all that makes a trace unreliable, and for a recording that lacks something; `UNMET` is
for a condition that does not hold, `UNTOLD` for one of which that cannot be told."""
_BATCH: Final = 1000
# No characters, which stand for styles until a line is written: text from a trace can make itself bold at most.
_BOLD, _DIM, _PLAIN = "\ufdd0", "\ufdd1", "\ufdd2"
_CODES: Final = {_BOLD: "\x1b[1m", _DIM: "\x1b[2m", _PLAIN: "\x1b[0m"}
_STYLES: Final = "[\ufdd0-\ufdd2]"
_PIECES: Final = 1 << 7


def exit_code_of(error: TraceError) -> int:
    """The exit code of a command that this error ends."""
    if isinstance(error, LookupError):
        return USAGE
    return DAMAGED if isinstance(error, DamageError | PayloadError) else UNREADABLE


def say(text: str, record: str = "") -> None:
    """Print one sentence on stderr, with the command that records these providers behind it.

    On a terminal it is wrapped between words, and the command is on lines of its own, for copying.
    """
    width = terminal_width() if sys.stderr is not None and sys.stderr.isatty() else None
    if record and width is None:
        text = f"{text} {record_lines(record, None)[0]}"
    for line in wrapped(f"clrevents: {safe(text)}", width, 2):
        click.echo(line, err=True)
    if record and width is not None:
        click.echo("\n".join(record_lines(record, width)), err=True)


def terminal_width(otherwise: int = 80) -> int:
    """In columns, or as `COLUMNS` says; `otherwise` where there is no terminal."""
    import shutil

    return shutil.get_terminal_size((otherwise, 24)).columns


def record_lines(providers: str, width: int | None) -> list[str]:
    """The command that records these providers; on a narrow terminal on several lines that a shell reads as one."""
    line = f"dotnet-trace collect --providers {providers}"
    if width is None or len(line) <= width:
        return [line]
    head, *rest = line.split(",")
    first, _, provider = head.rpartition(" ")
    # A line that goes on must not be indented: the blanks would end the list.
    return [f"{first} \\", *(f"{part},\\" for part in [provider, *rest][:-1]), (rest or [provider])[-1]]


def write_file(out: str, data: bytes, said: str, inputs: Sequence[str | None]) -> None:
    """Write a file at once, as private as the inputs, and say what it is; for `-`, standard output, say nothing."""
    if out == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    else:
        # Few commands write a file.
        from clrevents._util.outputs import whole_file

        with whole_file(out, *inputs) as target:
            target.write(data)
        say(f"{out}: {said}")


class Output(AbstractContextManager["Output"]):
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
        """Write a line, with everything in it escaped that a terminal would obey, but what `bold` and `dim` made."""
        text = "\n".join(map(safe, text.split("\n")))
        if self.colour:
            text = re.sub(_STYLES, lambda style: _CODES[style[0]], text)
        self.verbatim(text)

    def verbatim(self, text: str) -> None:
        """Write a line as it is."""
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

    def json(self, value: dict[str, object]) -> None:
        """Write one object, indented and in ASCII; arrays in it may be iterators."""
        from clrevents.export.files.json_pieces import json_pieces

        pieces = json_pieces(value)
        self.flush()
        while text := "".join(islice(pieces, _PIECES)):
            self._stream.write(text)
        self.line()

    @property
    def width(self) -> int | None:
        """The terminal's width; None if the output is not a terminal: then no sentence is wrapped."""
        return terminal_width() if self.terminal else None

    @property
    def table_width(self) -> int | None:
        """How wide a table of long names may be, in a pipe too; None if all was asked for."""
        return None if given_wide() else terminal_width(PIPED)

    def facts(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Write names and values, one per line; on a terminal, long values are wrapped below themselves."""
        shown = [(safe(name), safe(value)) for name, value in pairs]
        width = max(len(name) for name, _ in shown)
        for name, value in shown:
            head = name.ljust(width)
            first, *more = wrapped(f"{head}  {value}", self.width, width + 2)
            self.line(self.bold(head) + first[width:])
            self.lines(more)

    def text(self, text: str, indent: int = 0) -> None:
        """Write a sentence, wrapped between words if it is longer than the terminal is wide."""
        self.lines(wrapped(text, self.width, indent))

    def bold(self, text: str) -> str:
        return f"{_BOLD}{text}{_PLAIN}" if self.colour else text

    def dim(self, text: str) -> str:
        return f"{_DIM}{text}{_PLAIN}" if self.colour else text

    def table(
        self,
        head: Sequence[str],
        rows: Sequence[Sequence[str]],
        right: Collection[str] = (),
        *,
        keep: Collection[str] = (),
    ) -> None:
        """Write columns under headings: those named in `right` are numbers, others are texts.

        If a terminal has no room for all, texts are shortened and columns dropped from the right, those in `keep` last.
        """
        kinds: list[Kind] = ["number" if title in right else "text" for title in head]
        columns = [
            TextColumn(title, [safe(row[place]) for row in rows], kinds[place], 0 if title in keep else 2)
            for place, title in enumerate(head)
        ]
        self.fitted(fitted_table(columns, self.width))

    def fitted(self, table: Fitted, more: str = "") -> None:
        """Write a table that was made to fit, and in one line what had no room; `more` says how to see it."""
        head, *rows = table.lines
        self.line(self.bold(head))
        self.lines(rows)
        for text in table.not_shown(more):
            self.lines(map(self.dim, wrapped(text, self.width)))
