"""Many traces → one folder: which trace goes where, which is already there, exported in sequence or in parallel.

A trace that fails is a result like any other; only a failure to write ends everything. Prints nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Final

from clrevents._util.outputs import remove_unfinished
from clrevents._util.workers import Workers, give_up_if_told
from clrevents.errors import ErrorMode, Problem, SourceError, TraceError, TraceWarning
from clrevents.export.files.directory import FACTS, Apart, Written, export_directory
from clrevents.export.files.tables import Options, name_hash, trace_stem
from clrevents.trace import Trace

_HEAD: Final = 1 << 16


@dataclass(frozen=True)
class Job:
    """One trace (`file` is a path, or `-`) and the folder it is exported to; `beside` is what it is joined with."""

    file: str
    folder: Path
    options: Options
    errors: ErrorMode = "salvage"
    beside: str | None = None

    @property
    def source(self) -> dict[str, Any]:
        """The trace's origin: its path, and what distinguishes it from other files of that name."""
        return _origin(self.file)

    @property
    def about(self) -> dict[str, Any]:
        """Where everything in the folder is from."""
        return {"source": self.source, **({} if self.beside is None else {"with": _origin(self.beside)})}

    @property
    def there(self) -> bool:
        """Whether the folder already holds this trace, exported with the same options."""
        facts, about = _facts(self.folder), self.about
        same = facts.get("with") is None or "with" in about
        same = same and all(_same(facts.get(part), origin) for part, origin in about.items())
        return same and facts.get("export") == self.options.object()


def _origin(file: str) -> dict[str, Any]:
    if file == "-":
        return {"path": None, "size": None, "fingerprint": None}
    path = os.path.abspath(file)
    nothing = {"path": path, "size": None, "fingerprint": None}
    if not os.path.isfile(path):
        # A pipe would be waited for, and what came be lost.
        return nothing
    try:
        with open(path, "rb") as opened:
            head = hashlib.sha256(opened.read(_HEAD)).hexdigest()[:16]
        return {"path": path, "size": os.path.getsize(path), "fingerprint": head}
    except OSError:
        # Opening it for reading will report the fault.
        return nothing


def _same(facts: Any, origin: dict[str, Any]) -> bool:
    """Whether the facts of an export are of the same content."""
    alike = isinstance(facts, dict) and all(facts.get(key) == origin[key] for key in ("size", "fingerprint"))
    return alike and origin["size"] is not None


@dataclass(frozen=True)
class Outcome:
    """The result for one trace: `written`, or the `error`; neither if it already existed."""

    job: Job
    written: Written | None = None
    error: TraceError | None = None
    fault: str | None = None
    problems: tuple[Problem, ...] = ()
    lost: int = 0


def jobs(
    files: Sequence[str], out: Path, options: Options, errors: ErrorMode = "salvage", beside: str | None = None
) -> list[Job]:
    """A job for each file, in a folder with its name, or that and a hash if another trace has the name.

    A folder belongs to a trace according to the facts in it: the same path, or the same content. Raises OSError if no
    folder is available, or one of them holds a trace.
    """
    inputs = {parent for file in files if file != "-" for parent in Path(os.path.realpath(file)).parents}
    listed: list[Job] = []
    taken: set[str] = set()
    for file in dict.fromkeys(files):
        job = Job(file, out, options, errors, beside)
        stem = "stdin" if file == "-" else trace_stem(file)
        source = job.source
        hashes = (f"{source['size']} {source['fingerprint']}", str(source["path"]))
        names = [stem, *(f"{stem.partition('~')[0]}~{name_hash(text)}" for text in hashes)]
        name = next((n for n in names if n.casefold() not in taken and _free(out / n, source)), None)
        if name is None:
            raise FileExistsError(None, f"{out / stem} exists and is not an export of this trace")
        if Path(os.path.realpath(out / name)) in inputs:
            raise FileExistsError(
                None, "holds a trace that is to be exported, which replacing the folder would delete", str(out / name)
            )
        taken.add(name.casefold())
        listed.append(replace(job, folder=out / name))
    return listed


def _free(folder: Path, source: dict[str, Any]) -> bool:
    """Whether a trace may use this folder: it does not exist, or is an export of the trace."""
    if not folder.exists():
        return True
    facts = _facts(folder).get("source")
    if facts is None:
        return False
    return _same(facts, source) or facts.get("path") == source["path"]


def _facts(folder: Path) -> dict[str, Any]:
    """The facts in an export; empty if there are none."""
    if not (folder / FACTS).is_file():
        return {}
    try:
        with (folder / FACTS).open(encoding="ascii") as file:
            facts = json.load(file)
    except (OSError, ValueError, RecursionError):
        return {}
    return facts if isinstance(facts, dict) and isinstance(facts.get("source"), dict) else {}


class _Passes:
    """The progress of an export, from 0 to 1: a first scan of all headers, then the long pass."""

    def __init__(self, tell: Callable[[float], object]) -> None:
        self._tell = tell
        self._before, self._share = 0.0, 0.1

    def begun(self) -> None:
        self._before, self._share = 0.1, 0.9

    def progress(self, done: int, total: int) -> None:
        self._tell(self._before + self._share * done / max(total, 1))


def export_trace(
    job: Job, opened: BinaryIO | None = None, progress: Callable[[float], object] | None = None, processes: int = 1
) -> Outcome:
    """Export one trace; `progress` is called with the fraction done, from 0 to 1.

    `opened` is what to read if that is not the file: standard input, or the joined trace. At most so many `processes`
    write its tables.

    Raises OSError if it cannot be written; any fault of the trace is in the outcome.
    """
    try:
        return _exported(job, opened, progress, processes)
    except Apart:
        return _exported(job, opened, progress, 1)


def _exported(job: Job, opened: BinaryIO | None, progress: Callable[[float], object] | None, processes: int) -> Outcome:
    passes = _Passes(progress or (lambda share: None))
    tell = None if progress is None else passes.progress
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TraceWarning)
        try:
            about, inputs = job.about, (job.file, *([job.beside] if job.beside else []))

            def begun() -> None:
                # Another process may have written it since the folder was chosen.
                if not _free(job.folder, about["source"]):
                    raise FileExistsError(None, "was written meanwhile and is of another trace", str(job.folder))
                passes.begun()

            with Trace(job.file if opened is None else opened, errors=job.errors, progress=tell) as trace:
                written = export_directory(trace, job.folder, job.options, about, begun, processes, inputs)
                return Outcome(job, written, problems=written.problems, lost=trace.lost)
        except TraceError as error:
            return Outcome(job, error=error)
        except (OSError, ImportError, Apart):
            raise
        except Exception as error:
            if os.environ.get("CLREVENTS_TRACEBACK"):
                raise
            return Outcome(job, fault=f"{type(error).__name__}: {error}")


def export_side_by_side(todo: Sequence[Job], processes: int) -> Iterator[Outcome]:
    """Export traces in separate processes; yields the outcomes as they complete.

    If this ends early, the others are stopped and leave nothing incomplete.
    """
    workers = Workers(min(processes, len(todo)))
    lost = []
    try:
        given = {workers.submit(export_trace, job, progress=give_up_if_told): job for job in todo}
        for future in as_completed(given):
            try:
                yield future.result()
            except BrokenProcessPool:
                lost.append(given[future])
    finally:
        workers.end(wait=True)
    # One process died, and took with it what the others were doing: that is done again, each trace by a new process.
    for job in lost:
        alone = Workers(1)
        try:
            yield alone.submit(export_trace, job, progress=give_up_if_told).result()
        except BrokenProcessPool:
            remove_unfinished(job.folder)
            why = "the process that exported it died, perhaps for want of memory"
            yield Outcome(job, error=SourceError(why, path=job.file))
        finally:
            alone.end(wait=True)
