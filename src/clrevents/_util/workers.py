"""Processes that work for this one: how they start, when they are ready, how they are told to stop, how they end.

They are new programs on every system: a fork would copy locks that other threads hold. Knows nothing about what they
do.
"""

from __future__ import annotations

import atexit
import importlib
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing.reduction import ForkingPickler
from types import ModuleType
from typing import Any, Final, ParamSpec, TypeVar

from clrevents._util.process import lean_numpy, tune_process

T = TypeVar("T")
P = ParamSpec("P")


class Workers:
    """Up to `jobs` processes that call what they are given. `ready` says that they have started, or that they cannot.

    Each first imports `modules` and then calls `prepare`. Set `broken` on finding that one died. Only with `main` do
    they import the program's main module, for what it declares: that runs the program again if it has no main guard.
    """

    def __init__(
        self,
        jobs: int,
        *,
        modules: Iterable[str] = (),
        prepare: Callable[[], object] | None = None,
        main: bool = False,
    ) -> None:
        self.main = main
        context: Any = multiprocessing.get_context("spawn")
        self._stop = context.Event()
        self._executor = ProcessPoolExecutor(
            jobs, context, _begin, (self._stop, tuple(modules), bytes(ForkingPickler.dumps(prepare)))
        )
        # The executor forgets them when it is told to end, though they may not have ended.
        self._processes = self._executor._processes
        self._program = os.getpid()
        _known.add(self)
        self.broken = False
        self.ready = threading.Event()
        # Starting waits for imports.
        threading.Thread(target=self._start, args=(jobs,), daemon=True).start()

    def _start(self, jobs: int) -> None:
        # Whoever asks next meets the same error.
        with suppress(RuntimeError, OSError, CancelledError):
            first, *_ = [self.submit(_ready) for _ in range(jobs)]
            first.result()
        self.ready.set()

    def submit(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """The value returned by one of the processes."""
        with _starting(self.main):
            return self._executor.submit(function, *args, **kwargs)

    def end(self, wait: bool) -> None:
        """End the processes; they give up their work where they call `give_up_if_told`.

        An interrupt meanwhile ends them at once.
        """
        self._stop.set()
        self._executor.shutdown(wait=False, cancel_futures=True)
        try:
            # Before Python 3.13, an interrupt of `join` is taken for the end of the thread that tells processes to end.
            # The program would then close their queue, and wait for processes that wait for the queue.
            while wait and self._ending:
                time.sleep(_TURN)
        except BaseException:
            self.kill()
            raise

    @property
    def _ending(self) -> bool:
        """Whether there is still a thread that sees to the processes."""
        return any(getattr(thread, "processes", None) is self._processes for thread in threading.enumerate())

    def kill(self) -> None:
        """End the processes whatever they do."""
        if os.getpid() != self._program:
            # What the program has forked is not to end them.
            return
        for process in list(self._processes.values()):
            process.kill()
        for _ in range(_TURNS):
            if not self._ending:
                break
            time.sleep(_TURN)


_TURN: Final = 0.002
_TURNS: Final = 1000
"""Seconds, and how many times, to wait for a thread that has little to do."""
_known: Final[weakref.WeakSet[Workers]] = weakref.WeakSet()


def _kill_all() -> None:
    """At the end of the program, when those that were told to end have ended."""
    for workers in list(_known):
        workers.kill()


atexit.register(_kill_all)


_one_starts: Final = threading.RLock()


@contextmanager
def _starting(main: bool) -> Iterator[None]:
    """While processes may start an interrupt waits: one in a process that has not yet learned to ignore it would leave
    the others waiting for ever. Without `main` they do not see where the main module is."""
    program = sys.modules["__main__"]
    with _one_starts:
        was = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if hasattr(signal, "pthread_sigmask") else None
        if not main:
            sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = program
            if was is not None:
                signal.pthread_sigmask(signal.SIG_SETMASK, was)


def needs_main(value: object) -> bool:
    """Whether another process needs this program's main module to be given a value."""
    try:
        return b"__main__" in bytes(ForkingPickler.dumps(value))
    except Exception:
        # Whoever sends it meets the error.
        return True


_stop: Any = None


def _begin(stop: Any, modules: tuple[str, ...], prepare: bytes) -> None:
    """Runs in each process, before it knows anything that imports numpy."""
    global _stop
    lean_numpy()
    _stop = stop
    serve_parent()
    tune_process()
    for module in modules:
        importlib.import_module(module)
    if (begin := pickle.loads(prepare)) is not None:
        begin()


def _ready() -> bool:
    return True


def give_up_if_told(*progress: float) -> None:
    """To be called now and then in a process that works for another, as its function of progress: raises
    KeyboardInterrupt if that one ends its processes."""
    if _stop is not None and _stop.is_set():
        raise KeyboardInterrupt


def serve_parent() -> None:
    """Leave interrupts to the process that started this one, and end when that one has ended.

    If it was killed, this process would otherwise wait for work forever.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_after, args=(parent,), name="end with parent", daemon=True).start()


def _end_after(parent: Any) -> None:
    parent.join()
    os._exit(1)
