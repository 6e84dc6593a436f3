"""What every new trace needs, whatever it is made for: its file, and marks of what its originals lacked."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, BinaryIO, Final

from clrevents._util.outputs import whole_file
from clrevents.encode.values import MetadataRecord, Sink
from clrevents.rewrite.copy import Mark
from clrevents.schema.lack_mark import FIELDS, ID, LACKED, Lack, Lacking
from clrevents.trace import Loss, Trace, passes_of

_DESCRIBED: Final = MetadataRecord((1 << 31) - 3, LACKED[0], ID, name=LACKED[1], fields=FIELDS)
_FOREVER: Final = (1 << 63) - 1


@contextmanager
def new_trace(out: str | os.PathLike[str] | BinaryIO, *inputs: str | None) -> Iterator[Sink]:
    """The file `out`, which appears only when complete and is compressed if its name ends in `.gz`; or an open file.

    Equal traces make equal files. Raises what `whole_file` raises.
    """
    if not isinstance(out, str | os.PathLike):
        yield out
        return
    with whole_file(out, *inputs) as file, _packed(file, out) as sink:
        yield sink


@contextmanager
def _packed(file: IO[bytes], out: str | os.PathLike[str]) -> Iterator[Sink]:
    if not os.fspath(out).lower().endswith(".gz"):
        yield file
        return
    with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
        yield packed


def lacks(trace: Trace, destroyed: Iterable[Loss]) -> Iterator[Mark]:
    """Marks of what a trace lacks and sequence numbers cannot show; `destroyed` are those of its destroyed events that
    concern the copy.
    """
    scan = passes_of(trace).scan(raising=False)
    if not scan.complete:
        yield _mark(Lack(Lacking.END, start_ns=scan.known_ns))
    if not scan.losses_visible:
        yield _mark(Lack(Lacking.NUMBERS))
    places = scan.problems.severities["damage"] - scan.problems.counts["missing-events"]
    if places:
        yield _mark(Lack(Lacking.DAMAGE, places))
    for loss in destroyed:
        yield _mark(Lack(Lacking.EVENTS, loss.count, loss.thread_id, loss.start_ns, loss.end_ns))


def every_destroyed(trace: Trace) -> list[Loss]:
    """All of its events that were in damaged bytes, also those beyond the limit of what is listed."""
    scan = passes_of(trace).scan(raising=False)
    rest = scan.missing - sum(loss.count for loss in scan.destroyed)
    last = [Loss(-1, rest, scan.destroyed[-1].start_ns, _FOREVER)] if scan.destroyed and rest > 0 else []
    return [*scan.destroyed, *last]


def _mark(lack: Lack) -> Mark:
    return _DESCRIBED, lack.payload()
