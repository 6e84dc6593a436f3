"""One pass over a trace → files of its tables: all of them, or the share of one process among several.

Which tables a process writes changes nothing in any of them. Names of files are valid on every system and depend on the
names in the trace alone, so that an event has the same one for every trace. Knows no other process, and no facts but
those that every table has.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Final, TypeAlias

from clrevents.errors import Problem, UnknownEventError
from clrevents.export.files.buffered import TableFile, TableFiles
from clrevents.export.files.formats import Format
from clrevents.table.read import stack_table
from clrevents.table.table import ACTIVITY_HEADERS, DEFAULT_HEADERS, EVENT_HEADERS, Table
from clrevents.trace import FilterOptions, Trace, passes_of

Event: TypeAlias = tuple[str, str]
"""(provider, name)."""

_HEADER: Final = 1.5
_READ: Final = 0.7
"""What a row costs in the table of headers, and in a process that does not write it: what it costs in its event's table
is 1, a seventh of a microsecond."""
_TABLE: Final = 24_000
"""What a table costs besides its rows, for classes, schemas and files."""
_OTHERS: Final = 400_000
"""What it costs to have others: to start them, and to end them."""
_GAIN: Final = 0.8
"""The share of the time that is left at most if one more process is to be worth it."""
_LONGEST: Final = 100
"""Bytes; with suffixes and a temporary one this stays far below the limit of 255 that file systems have."""
_PLAIN: Final = "-_.+(),"
_RESERVED: Final = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])(\..*)?", re.IGNORECASE)
_ENDINGS: Final = re.compile(r"\.(nettrace|netperf)$", re.IGNORECASE)


@dataclass(frozen=True)
class Share:
    """The tables that a process writes: those of `events` (None: of all), and that of `headers`, that of `stacks`."""

    events: frozenset[Event] | None = None
    headers: bool = True
    stacks: bool = True

    def __contains__(self, event: Event) -> bool:
        return self.events is None or event in self.events


EVERYTHING: Final = Share()


def dealt(rows: Mapping[Event, int], processes: int, late: int) -> list[Share]:
    """A share for each process that is worth having, at most `processes`; `rows` are the numbers of events.

    Processes other than the first begin `late`: in that time it could write so many rows.
    """
    best, cost = _dealt(rows, 1, late)
    for number in range(2, processes + 1):
        shares, takes = _dealt(rows, number, late)
        if takes > _GAIN * cost:
            break
        best, cost = shares, takes
    return best


def _dealt(rows: Mapping[Event, int], processes: int, late: int) -> tuple[list[Share], float]:
    """The largest tables first, each to the process that will be done soonest; and how long the last one takes."""
    reading = _READ * sum(rows.values()) + (_OTHERS if processes > 1 else 0)
    until = [reading, *(reading + late for _ in range(processes - 1))]
    events: list[set[Event]] = [set() for _ in until]
    headers = until.index(min(until))
    until[headers] += _HEADER * sum(rows.values())
    for event, number in sorted(rows.items(), key=lambda item: (-item[1], item[0])):
        soonest = until.index(min(until))
        events[soonest].add(event)
        until[soonest] += number + _TABLE
    return [Share(frozenset(own), place == headers, place == headers) for place, own in enumerate(events)], max(until)


@dataclass(frozen=True)
class Options:
    """The contents of an export; a folder exported with other options is a different export.

    `known`: an unknown name is an error, and nothing is written. `spreadsheet`: no text in CSV is a formula.
    """

    format: Format = "parquet"
    selectors: tuple[str, ...] = ()
    names: bool = False
    known: bool = False
    activity_ids: bool = False
    spreadsheet: bool = False
    process_id: int | None = None

    @property
    def filters(self) -> FilterOptions:
        """Which events of those selected."""
        return {"process_id": self.process_id}

    @property
    def columns(self) -> tuple[str, ...]:
        """The header columns of every table."""
        return (*DEFAULT_HEADERS, *ACTIVITY_HEADERS) if self.activity_ids else DEFAULT_HEADERS

    @property
    def headers(self) -> tuple[str, ...]:
        """The columns of the table of all headers."""
        return (*EVENT_HEADERS, *ACTIVITY_HEADERS) if self.activity_ids else EVENT_HEADERS

    def object(self) -> dict[str, object]:
        return {
            "format": self.format,
            "selectors": sorted(set(self.selectors)),
            "names": self.names,
            "activity_ids": self.activity_ids,
            "spreadsheet": self.spreadsheet,
            **({} if self.process_id is None else {"process_id": self.process_id}),
        }


@dataclass(frozen=True)
class WrittenTables:
    """What was written: rows and place of each event's table; `unknown` is the error for names not known here.

    `files` are the places of all files. `problems` are those of payloads, by their places in the trace; `met` is how
    many problems there are, listed or not.
    """

    tables: Mapping[Event, tuple[int, str]]
    files: tuple[str, ...]
    unknown: UnknownEventError | None
    problems: tuple[Problem, ...]
    met: int

    def with_others(self, others: Iterable[WrittenTables]) -> WrittenTables:
        """This and what other processes have written, as if one had."""
        parts = (self, *others)
        tables = {event: table for part in parts for event, table in part.tables.items()}
        files = tuple(file for part in parts for file in part.files)
        problems = (problem for part in parts for problem in part.problems)
        return WrittenTables(
            tables, files, self.unknown, tuple(sorted(problems, key=_place)), sum(part.met for part in parts)
        )


def _place(problem: Problem) -> tuple[object, ...]:
    return problem.offset or 0, problem.kind, problem.event or "", problem.field or ""


def _brief(trace: Trace) -> dict[str, object]:
    """The facts that are short and apply to every table."""
    info = trace.info
    return {
        "file": info.path,
        "format": info.format,
        "format_version": info.version,
        "process_id": info.process_id,
        "pointer_size": info.pointer_size,
        "start": None if info.start is None else info.start.isoformat(),
        "duration_ns": trace.duration_ns,
        "frequency": info.frequency,
    }


class Tables:
    """The tables of a trace, to be written to `folder`; a scan of its headers tells what there is."""

    def __init__(self, trace: Trace, folder: Path, options: Options) -> None:
        self._passes = passes_of(trace)
        self._folder = folder
        self._options = options
        self._named = self._passes.named(*options.selectors)
        self._rows: Counter[Event] = Counter()
        for key, count in trace.event_counts().items():
            self._rows[key.provider, key.name] += count
        self._brief = {"trace": json.dumps(_brief(trace))}
        self._providers = Names()
        self._names: dict[str, Names] = {}
        for event in self._named:
            # Of names that clash, the first one is given the plain name: the same one in every process.
            self._path(event)
        self._files = TableFiles(options.format, spreadsheet=options.spreadsheet)
        self._tables: dict[Event, TableFile] = {}

    @property
    def rows(self) -> dict[Event, int]:
        """How many events each of the selected ones has, in any process."""
        return {event: self._rows[event] for event in self._named}

    def write(self, share: Share = EVERYTHING, look: Callable[[], object] = lambda: None) -> WrittenTables:
        """Write the tables of a share; `look` is called now and then.

        Raises what reading raises, and OSError if something cannot be written.
        """
        with self._files:
            for event in self._named:
                # The trace lacks an event requested by name.
                if not self._rows[event] and event in share:
                    self._file(event)
            unknown = self._pass(share, look)
            if unknown is None or not self._options.known:
                self._files.close()
        tables = {event: (file.rows, self._relative(file.path)) for event, file in self._tables.items()}
        problems = sorted(self._passes.found_in_payloads, key=_place)
        files = tuple(map(self._relative, self._files.paths))
        return WrittenTables(tables, files, unknown, tuple(problems), self._passes.most_met)

    def _pass(self, share: Share, look: Callable[[], object]) -> UnknownEventError | None:
        options = self._options
        chunks = self._passes.table_chunks(
            *options.selectors,
            columns=options.columns,
            enum_names=options.names,
            headers=options.headers if share.headers else (),
            stacks=share.stacks,
            filters=options.filters,
            only=share.__contains__,
        )
        headers = stacks = None
        try:
            for chunk in chunks:
                look()
                if share.headers:
                    headers = self._own(headers, "_headers", chunk.headers)
                if share.stacks:
                    stacks = self._own(stacks, "_stacks", stack_table(chunk.stacks))
                for event, table in chunk.tables.items():
                    self._files.write(self._tables.get(event) or self._file(event), table)
        except UnknownEventError as error:
            # Raised after the last event. Another trace may have such events.
            return error
        return None

    def _own(self, file: TableFile | None, name: str, table: Table) -> TableFile:
        if file is None:
            file = self._files.add(self._folder / f"{name}.{self._options.format}", table, self._brief)
        self._files.write(file, table)
        return file

    def _file(self, event: Event) -> TableFile:
        # Not before: a crafted trace may have very many events without a table.
        table = self._passes.schema(event, self._options.names, self._options.columns)
        file = self._tables[event] = self._files.add(self._path(event), table, {**table.metadata, **self._brief})
        return file

    def _path(self, event: Event) -> Path:
        provider, name = event
        names = self._names.setdefault(provider, Names())
        return self._folder / self._providers.of(provider) / f"{names.of(name)}.{self._options.format}"

    def _relative(self, path: Path) -> str:
        return path.relative_to(self._folder).as_posix()


def safe_name(name: str) -> str:
    """A file name without suffix: the name itself if it is harmless, otherwise a similar text and a hash.

    Distinct names give distinct results: `~`, which precedes the hash, is in no harmless name.
    """
    shown = "".join(c if c.isalnum() or c in _PLAIN else "_" for c in unicodedata.normalize("NFC", name))
    # A leading dot hides a file, a leading underscore is reserved for us, and Windows drops trailing dots.
    shown = shown.lstrip("._-").rstrip(".")
    if _RESERVED.fullmatch(shown):
        shown = shown.replace(".", "_")
    elif name and shown == name and len(shown.encode()) <= _LONGEST:
        return shown
    cut = shown.encode()[: _LONGEST - 9].decode(errors="ignore")
    return f"{cut or 'unnamed'}~{name_hash(name)}"


def name_hash(name: str, digits: int = 8) -> str:
    """Hex digits that distinguish names, up to 64. Eight distinguish all but those made to have the same."""
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:digits]


class Names:
    """Names inside one folder, distinct even if they differ only by case or were made to have equal hashes."""

    def __init__(self) -> None:
        self._taken: dict[str, str] = {}
        self._given: dict[str, str] = {}

    def of(self, name: str) -> str:
        """The file's name; the same for every call."""
        if name not in self._given:
            safe = safe_name(name)
            shown = safe.partition("~")[0]
            tries = (safe, f"{shown}~{name_hash(name)}", f"{shown}~{name_hash(name, 64)}")
            self._given[name] = next(file for file in tries if self._taken.setdefault(_folded(file), name) == name)
        return self._given[name]


def _folded(name: str) -> str:
    """What a case-insensitive file system compares."""
    return unicodedata.normalize("NFC", name.casefold())


def trace_stem(file: str) -> str:
    """A trace's name from its file name: without folder, `.gz` and `.nettrace`."""
    name = PurePath(file).name
    if name.lower().endswith(".gz"):
        name = name[:-3]
    return safe_name(_ENDINGS.sub("", name))
