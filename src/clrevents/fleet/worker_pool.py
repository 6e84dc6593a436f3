"""Processes that are asked about traces: how they start, when they are ready, how they end.

A program on Linux that runs no other thread is simply forked. Where that is not safe a server forks them, which has
imported what this program has, and elsewhere they are new programs. Knows nothing of bundles, order or deaths.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import multiprocessing
import os
import signal
import site
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor
from contextlib import suppress
from importlib.machinery import PathFinder
from typing import Any, Final, Literal, TypeAlias, TypeVar

import numpy as np

from clrevents._util.process import serve_parent, tune_process
from clrevents.fleet.outcome import Opening, Question, TraceOutcome, asked
from clrevents.schema.registry import Registry

T = TypeVar("T")

StartMethod: TypeAlias = Literal["fork", "forkserver", "spawn"]

_PACKAGE: Final = __name__.partition(".")[0]
_TASKS: Final = "/proc/self/task"
_NUMBER_OF_THREADS: Final = (
    "scipy_openblas_get_num_threads64_",
    "scipy_openblas_get_num_threads",
    "openblas_get_num_threads64_",
    "openblas_get_num_threads",
)
"""What tells how many threads numpy's linear algebra library has, with the one that calls it."""


class WorkerPool:
    """Processes, and the flag that makes them give up. `ready` says that they have started, or that they cannot."""

    def __init__(self, jobs: int, opening: Opening, method: StartMethod) -> None:
        context: Any = multiprocessing.get_context(method)
        if method == "forkserver":
            # One process imports what the others need, for as long as this program runs: a third of the start. They
            # also import the program's main module, and with it what is loaded here.
            loaded = sorted(name for name in sys.modules if name.startswith(f"{_PACKAGE}."))
            context.set_forkserver_preload([f"{_PACKAGE}.one_thread", *loaded])
        self.method = method
        self._stop = context.Event()
        modules = sorted(declaring_modules(opening.registry) - {"__main__"})
        self._executor = ProcessPoolExecutor(jobs, context, _begin, (__file__, opening, modules, self._stop, method))
        self.broken = False
        self.ready = threading.Event()
        if method == "fork":
            # All of them, before there is a thread that serves them.
            self._executor.submit(_ready)
            self.ready.set()
        else:
            # Starting waits for imports.
            threading.Thread(target=self._start, args=(jobs,), daemon=True).start()

    def _start(self, jobs: int) -> None:
        # Whoever asks next meets the same error.
        with suppress(RuntimeError, OSError, CancelledError):
            first, *_ = [self._executor.submit(_ready) for _ in range(jobs)]
            first.result()
        self.ready.set()

    def wait_for_one(self) -> None:
        """Return when a process has started. Raises BrokenProcessPool if none does."""
        self._executor.submit(_ready).result()

    def ask(self, question: Question[T], paths: tuple[str, ...]) -> Future[list[TraceOutcome[T]]]:
        """The outcomes of these traces, from one of the processes."""
        return self._executor.submit(_asked, question, paths)

    def end(self, wait: bool) -> None:
        """End the processes; what they are reading is given up."""
        self._stop.set()
        self._executor.shutdown(wait=wait, cancel_futures=True)


def start_method() -> StartMethod:
    """The cheapest safe way to start processes, at this moment."""
    if sys.platform != "linux":
        return "spawn"
    if _runs_alone():
        return "fork"
    return "forkserver" if _found_anew() else "spawn"


def _runs_alone() -> bool:
    """Whether this process has one thread: another may hold a lock in the moment of the fork, and it would stay held.
    Those of the linear algebra library end when a process forks.
    """
    # A process that is being started runs the program again, if that has no main guard; only other methods refuse it.
    importing = getattr(multiprocessing.current_process(), "_inheriting", False)
    if importing or threading.active_count() > 1:
        return False
    try:
        return len(os.listdir(_TASKS)) == _linear_algebra_threads()
    except OSError:
        return False


def _linear_algebra_threads() -> int:
    numpy: Any = np.linalg
    library = ctypes.CDLL(numpy._umath_linalg.__file__)
    for name in _NUMBER_OF_THREADS:
        if hasattr(library, name):
            return int(getattr(library, name)())
    return 1


def _found_anew() -> bool:
    """Whether a new interpreter finds this very clrevents: before Python 3.12 the server of forks knows nothing of
    what was done to `sys.path` meanwhile.
    """
    variable = "" if sys.flags.ignore_environment else os.environ.get("PYTHONPATH", "")
    places = [os.getcwd(), *filter(None, variable.split(os.pathsep)), *site.getsitepackages()]
    found = PathFinder.find_spec(_PACKAGE, places)
    return found is not None and found.origin == sys.modules[_PACKAGE].__file__


def declaring_modules(registry: Registry) -> set[str]:
    """The modules that declare events which are not built in."""
    own = [entry for entry in registry.entries() if not entry.module]
    infos = (registry.get(entry.provider, entry.id, version) for entry in own for version in entry.versions)
    return {info.record.__module__ for info in infos if info is not None}


_how: Opening | None = None
_stop: Any = None


def _begin(file: str, opening: Opening, modules: Sequence[str], stop: Any, method: StartMethod) -> None:
    """Runs in each process, which only reads traces."""
    global _how, _stop
    if file != __file__:
        # The server of forks found another clrevents after all.
        os._exit(1)
    _how, _stop = opening, stop
    if method == "fork":
        # What the program does when it is told to end is not this one's to do, nor are its objects to be looked
        # through: that would copy them.
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.set_wakeup_fd(-1)
        gc.freeze()
    serve_parent()
    tune_process()
    for module in modules:
        importlib.import_module(module)


def _ready() -> bool:
    return True


def _asked(question: Question[T], paths: tuple[str, ...]) -> list[TraceOutcome[T]]:
    assert _how is not None
    return [asked(question, path, _how, _stopping) for path in paths]


def _stopping(done: int, total: int) -> None:
    if _stop is not None and _stop.is_set():
        raise KeyboardInterrupt
