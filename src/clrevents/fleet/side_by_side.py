"""Asks many traces in processes side by side; outcomes come in the order of the traces, few at a time.

A process that dies costs one trace and no other. Knows nothing of what is asked.
"""

from __future__ import annotations

import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from typing import Final, Generic, TypeVar

import attrs

from clrevents._util.value_classes import frozen
from clrevents._util.workers import Workers, give_up_if_told, needs_main
from clrevents.fleet.questions import UNREAD, Opening, Question, TraceOutcome, TraceProblem, asked
from clrevents.fleet.trace_paths import bundled, file_size
from clrevents.schema.registry import Registry

T = TypeVar("T")

_AHEAD: Final = 8
"""Bundles per process that are asked ahead of their turn: as many values may wait for a slow one."""
_BUNDLE: Final = 16
_BUNDLE_BYTES: Final = 1 << 20
"""The most traces that a process gets at once, and bytes of their files."""
_HERE: Final = 0.1
"""Seconds of asking here after which starting other processes pays off."""
_NO_START: Final = (
    "the processes that read traces cannot be started: in a script, call this under `if __name__ == '__main__':`, or "
    "pass jobs=1"
)


@frozen(eq=False)
class _Waiting(Generic[T]):
    """Traces that were given to a process."""

    paths: tuple[str, ...]
    pool: Workers
    future: Future[list[TraceOutcome[T]]]

    @property
    def lost(self) -> bool:
        """Whether the processes died before there was an answer."""
        return not self.future.done() or isinstance(self.future.exception(), BrokenProcessPool)


class SideBySide:
    """Asks questions of traces, `jobs` at a time. Processes start with the first question and stay until `close`."""

    def __init__(self, jobs: int, opening: Opening) -> None:
        self._opening = opening
        self._lock = threading.Lock()
        self._declared_in_main = "__main__" in _declaring_modules(opening.registry)
        # What an interactive session declares is known to its own process only.
        here = self._declared_in_main and not hasattr(sys.modules["__main__"], "__file__")
        self._jobs = 1 if here else jobs
        # The processes that have this program's main module, and those that need not.
        self._pools: dict[bool, Workers] = {}
        self._closed = False

    def ask(self, question: Question[T], paths: Sequence[str], *, here: bool = False) -> Iterator[TraceOutcome[T]]:
        """The outcome of each trace, in order. Raises RuntimeError if processes cannot be started.

        With `here` small traces at the beginning are asked in this process, while the others start: for questions that
        cannot end it.
        """
        if self._closed:
            raise ValueError("the traces are closed; ask inside `with`, or open them again")
        if self._jobs == 1 or len(paths) < 2:
            for path in paths:
                yield asked(question, path, self._opening)
            return
        main = self._declared_in_main or needs_main(question)
        done = 0
        began = time.monotonic()
        while here and done < len(paths) and _size(paths[done]) < _BUNDLE_BYTES and not self._ready_since(began, main):
            yield asked(question, paths[done], self._opening)
            done += 1
        waiting: deque[_Waiting[T]] = deque()
        try:
            # Small traces together, as sending a question costs as much as reading one; but enough bundles for all.
            most = max(1, min(_BUNDLE, (len(paths) - done) // (_AHEAD * self._jobs)))
            for bundle in bundled(paths[done:], _size, _BUNDLE_BYTES, most):
                waiting.append(self._submit(question, bundle, main))
                if len(waiting) >= _AHEAD * self._jobs:
                    yield from self._next(question, waiting, main)
            while waiting:
                yield from self._next(question, waiting, main)
        finally:
            for one in waiting:
                one.future.cancel()

    def _ready_since(self, began: float, main: bool) -> bool:
        """Whether processes wait for questions; starts them if there was enough to do since then."""
        late = time.monotonic() - began > _HERE
        return (late or bool(self._pools)) and self._started(main).ready.is_set()

    def _started(self, main: bool) -> Workers:
        with self._lock:
            pool = self._pools.get(main) or self._pools.get(True)
            if pool is None or pool.broken:
                pool = self._pools[main] = self._pool_of(self._jobs, main)
                weakref.finalize(self, pool.end, wait=False)
            return pool

    def _submit(self, question: Question[T], paths: tuple[str, ...], main: bool) -> _Waiting[T]:
        pool = self._started(main)
        try:
            return _Waiting(paths, pool, pool.submit(_asked, question, paths))
        except BrokenProcessPool:
            pool.broken = True
            return self._submit(question, paths, main)

    def _next(self, question: Question[T], waiting: deque[_Waiting[T]], main: bool) -> list[TraceOutcome[T]]:
        first = waiting.popleft()
        try:
            return first.future.result()
        except BrokenProcessPool:
            first.pool.broken = True
        lost = [place for place, one in enumerate(waiting) if one.pool is first.pool and one.lost]
        # Processes take bundles in order, and one is on its way to them: it may have been any of these.
        suspects, others = lost[: self._jobs + 1], lost[self._jobs + 1 :]
        paths = [*first.paths, *(path for place in suspects for path in waiting[place].paths)]
        outcomes = deque(self._alone(question, paths, main))
        outcomes_of_bundle = [outcomes.popleft() for _ in first.paths]
        for place in suspects:
            future: Future[list[TraceOutcome[T]]] = Future()
            future.set_result([outcomes.popleft() for _ in waiting[place].paths])
            waiting[place] = attrs.evolve(waiting[place], future=future)
        for place in others:
            waiting[place] = self._submit(question, waiting[place].paths, main)
        return outcomes_of_bundle

    def _alone(self, question: Question[T], paths: Sequence[str], main: bool) -> list[TraceOutcome[T]]:
        """Ask traces again, one by one, that were asked when a process died: it may have been another one's fault."""
        outcomes: list[TraceOutcome[T]] = []
        pool: Workers | None = None
        for path in paths:
            pool = pool or self._one(main)
            try:
                outcomes += pool.submit(_asked, question, (path,)).result()
            except BrokenProcessPool:
                pool = None
                why = "the process that read it died, perhaps because it ran out of memory"
                row = TraceProblem(path, "process-died", UNREAD, why, impact="the answer has nothing of this trace")
                outcomes.append(TraceOutcome(path, problems=(row,)))
        if pool is not None:
            pool.end(wait=True)
        return outcomes

    def _pool_of(self, jobs: int, main: bool) -> Workers:
        declaring = _declaring_modules(self._opening.registry)
        return Workers(
            jobs,
            modules=sorted(declaring - {"__main__"}),
            prepare=partial(_open_like, self._opening),
            main=main,
        )

    def _one(self, main: bool) -> Workers:
        """A process that has started. Raises RuntimeError if none does."""
        pool = self._pool_of(1, main)
        try:
            pool.submit(bool).result()
        except BrokenProcessPool:
            pool.end(wait=True)
            raise RuntimeError(_NO_START) from None
        return pool

    def close(self) -> None:
        """End the processes; they abandon whatever they are reading."""
        with self._lock:
            self._closed = True
            while self._pools:
                self._pools.popitem()[1].end(wait=True)


def _size(path: str) -> int:
    """How large a file is; a remote one counts as large."""
    return file_size(path, remote=_BUNDLE_BYTES)


def _declaring_modules(registry: Registry) -> set[str]:
    """The modules that declare events which are not built in."""
    own = [entry for entry in registry.entries() if not entry.module]
    infos = (registry.get(entry.provider, entry.id, version) for entry in own for version in entry.versions)
    return {info.record.__module__ for info in infos if info is not None}


_how: Opening | None = None
"""How the traces are opened, in a process that reads them."""


def _open_like(opening: Opening) -> None:
    global _how
    _how = opening


def _asked(question: Question[T], paths: tuple[str, ...]) -> list[TraceOutcome[T]]:
    assert _how is not None
    return [asked(question, path, _how, give_up_if_told) for path in paths]
