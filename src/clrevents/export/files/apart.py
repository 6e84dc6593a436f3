"""Other processes that write some of a trace's tables, while this one writes the rest.

Each reads the whole trace, which must be a file that stays as it is. If anything goes wrong in one of them, all is to
be done again by this process alone: it says what was wrong, if it meets it too.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

from clrevents._util.workers import Workers, give_up_if_told
from clrevents.errors import ErrorMode, Limits, TraceError, TraceWarning
from clrevents.export.files.tables import EVERYTHING, Options, Share, Tables, WrittenTables, dealt
from clrevents.trace import Trace, passes_of

_LATE: Final = 3_500_000
"""Rows that could be written while another process starts, imports everything and looks at the trace."""


class Apart(Exception):
    """Something went wrong in another process, or the processes read different things."""


class Parts:
    """The shares of a trace's tables: this process's, and those that others are writing.

    `rows` are the numbers of all selected events.
    """

    def __init__(self, trace: Trace, tables: Tables, own: Share, others: Sequence[Future[WrittenTables]] = ()) -> None:
        self.rows = tables.rows
        self._passes = passes_of(trace)
        self._tables = tables
        self._own = own
        self._others = others

    def write(self) -> WrittenTables:
        """Write this process's share, and wait for the others. Raises what `Tables.write` raises, and `Apart`."""
        found = self._tables.write(self._own, self._look)
        if not self._others:
            return found
        whole = found.with_others(_result(future) for future in self._others)
        if whole.met >= self._passes.limits.problems:
            raise Apart("which problems are listed depends on which were met first")
        return whole

    def _look(self) -> None:
        """Raises what went wrong in another process meanwhile."""
        for future in self._others:
            if future.done():
                _result(future)


@contextmanager
def apart(trace: Trace, folder: Path, options: Options, processes: int) -> Iterator[Parts]:
    """At most so many processes, as many as are worth it; when this ends, no other one writes any more."""
    tables = Tables(trace, folder, options)
    passes = passes_of(trace)
    mark = passes.file_mark()
    # The first problem of all would end it, and declarations are known to their own process only.
    alone = processes == 1 or mark is None or passes.errors == "strict" or passes.registry.has_own
    own, *shares = [EVERYTHING] if alone else dealt(tables.rows, processes, _LATE)
    if not shares:
        yield Parts(trace, tables, own)
        return
    path = passes.info.path
    assert path is not None
    job = partial(_written, path, mark, passes.errors, passes.limits, folder, options)
    with _working(job, shares) as others:
        yield Parts(trace, tables, own, others)
    if mark != passes.file_mark():
        raise Apart("the file changed")


@contextmanager
def _working(
    job: Callable[[Share], WrittenTables], shares: Sequence[Share]
) -> Iterator[Sequence[Future[WrittenTables]]]:
    """What processes make of the shares; at the end none is left."""
    workers = None
    try:
        try:
            workers = Workers(len(shares))
            others = [workers.submit(job, share) for share in shares]
        except (OSError, RuntimeError) as error:
            raise Apart("no process can be started") from error
        yield others
    finally:
        if workers is not None:
            workers.end(wait=True)


def _result(future: Future[WrittenTables]) -> WrittenTables:
    try:
        return future.result()
    except TraceError as error:
        raise Apart(str(error)) from error
    except OSError:
        raise
    except Exception as error:
        raise Apart(f"{type(error).__name__}: {error}") from error


def _written(
    path: str, mark: object, errors: ErrorMode, limits: Limits, folder: Path, options: Options, share: Share
) -> WrittenTables:
    """Runs in another process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TraceWarning)
        with Trace(path, errors=errors, limits=limits, progress=give_up_if_told) as trace:
            found = Tables(trace, folder, options).write(share)
            if mark != passes_of(trace).file_mark():
                raise Apart("the file changed")
            return found
