"""What every new trace needs, whatever it is made for: its file, and marks of what its originals lacked."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

from clrevents._util.outputs import whole_file
from clrevents.encode.values import Sink
from clrevents.schema.own_marks import LACKED, MOST, Lack, Lacking, Mark
from clrevents.trace import Loss, Trace, passes_of


@contextmanager
def new_trace(out: str | os.PathLike[str] | BinaryIO, *inputs: str | None) -> Iterator[Sink]:
    """The file `out`, which appears only when complete and is compressed if its name ends in `.gz`; or an open file.

    Equal traces make equal files. Raises what `whole_file` raises.
    """
    if not isinstance(out, str | os.PathLike):
        yield out
        return
    with whole_file(out, *inputs) as file:
        if not os.fspath(out).lower().endswith(".gz"):
            yield file
            return
        with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
            yield packed


def lacks(trace: Trace, destroyed: Iterable[Loss]) -> Iterator[tuple[Mark, bytes]]:
    """Marks of what a trace lacks and sequence numbers cannot show; `destroyed` are those of its destroyed events that
    concern the copy.
    """
    scan = passes_of(trace).scan(raising=False)
    if not scan.complete:
        yield LACKED, Lack(Lacking.END, start_ns=scan.known_ns).payload()
    if not scan.losses_visible:
        yield LACKED, Lack(Lacking.NUMBERS).payload()
    places = scan.problems.severities["damage"] - scan.problems.counts["missing-events"]
    if places:
        yield LACKED, Lack(Lacking.DAMAGE, places).payload()
    for loss in destroyed:
        yield LACKED, Lack(Lacking.EVENTS, loss.count, loss.thread_id, loss.start_ns, loss.end_ns).payload()


def every_destroyed(trace: Trace) -> list[Loss]:
    """All of its events that were in damaged bytes, also those beyond the limit of what is listed."""
    scan = passes_of(trace).scan(raising=False)
    rest = scan.missing - sum(loss.count for loss in scan.destroyed)
    last = [Loss(-1, rest, scan.destroyed[-1].start_ns, MOST)] if scan.destroyed and rest > 0 else []
    return [*scan.destroyed, *last]
