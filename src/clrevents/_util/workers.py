"""Processes that work for this one: how they start, when they are ready, how they are told to stop, how they end.

On Linux, a program without other threads is simply forked. Where that is not safe, a fork server with this program's
imports forks them; elsewhere they are new programs. Knows nothing about what they do.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import importlib
import multiprocessing
import os
import signal
import site
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from importlib.machinery import PathFinder
from multiprocessing.reduction import ForkingPickler
from types import ModuleType
from typing import Any, Final, Literal, ParamSpec, TypeAlias, TypeVar

from clrevents._util.process import tune_process

T = TypeVar("T")
P = ParamSpec("P")

StartMethod: TypeAlias = Literal["fork", "forkserver", "spawn"]

_PACKAGE: Final = __name__.partition(".")[0]
_TASKS: Final = "/proc/self/task"
_FILES: Final = "/proc/self/maps"
_THREADS_OF_OPENBLAS: Final = tuple(
    f"{before}openblas_get_num_threads{after}" for before in ("scipy_", "") for after in ("64_", "")
)
"""What tells how many threads it has, with the one that calls it; numpy brings a build with names of its own."""


class Workers:
    """Up to `jobs` processes that call what they are given. `ready` says that they have started, or that they cannot.

    Each first imports `modules` and then calls `prepare`. Set `broken` on finding that one died. Only with `main` do
    they import the program's main module, for what it declares: that runs the program again if it has no main guard.
    """

    def __init__(
        self,
        jobs: int,
        method: StartMethod | None = None,
        *,
        modules: Iterable[str] = (),
        prepare: Callable[[], object] | None = None,
        main: bool = False,
    ) -> None:
        self.method = method or start_method()
        self.main = main
        context: Any = multiprocessing.get_context(self.method)
        if self.method == "forkserver":
            # One process imports what the others need, for as long as this program runs: a third of the start.
            loaded = sorted(name for name in sys.modules if name.startswith(f"{_PACKAGE}."))
            context.set_forkserver_preload([f"{_PACKAGE}._util.one_thread", *loaded])
        self._stop = context.Event()
        self._executor = ProcessPoolExecutor(
            jobs, context, _begin, (__file__, self.method, self._stop, tuple(modules), prepare)
        )
        # The executor forgets them when it is told to end, though they may not have ended.
        self._processes = self._executor._processes
        self._program = os.getpid()
        _known.add(self)
        self.broken = False
        self.ready = threading.Event()
        if self.method == "fork":
            # All of them, before there is a thread that serves them.
            try:
                self.submit(_ready)
            except BaseException:
                self.end(wait=False)
                raise
            self.ready.set()
        else:
            # Starting waits for imports.
            threading.Thread(target=self._start, args=(jobs,), daemon=True).start()

    def _start(self, jobs: int) -> None:
        # Whoever asks next meets the same error.
        with suppress(RuntimeError, OSError, CancelledError):
            first, *_ = [self.submit(_ready) for _ in range(jobs)]
            first.result()
        self.ready.set()

    def wait_for_one(self) -> None:
        """Return when a process has started. Raises BrokenProcessPool if none does."""
        self.submit(_ready).result()

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


def start_method() -> StartMethod:
    """The cheapest safe way to start processes, at this moment."""
    if sys.platform != "linux":
        return "spawn"
    if _runs_alone():
        return "fork"
    return "forkserver" if _found_anew() else "spawn"


def _runs_alone() -> bool:
    """Whether this process has one thread: a lock that another holds in the moment of the fork would stay held."""
    # A process that is being started runs the program again, if that has no main guard; only other methods refuse it.
    importing = getattr(multiprocessing.current_process(), "_inheriting", False)
    if importing or threading.active_count() > 1:
        return False
    try:
        return len(os.listdir(_TASKS)) == 1 + _threads_of_openblas()
    except OSError:
        return False


def _threads_of_openblas() -> int:
    """How many threads of OpenBLAS wait, which numpy brings along: they end when a process forks, and hold nothing."""
    with open(_FILES, encoding="utf-8", errors="surrogateescape") as files:
        libraries = {line.split(maxsplit=5)[-1].rstrip("\n") for line in files if "openblas" in line}
    found = 0
    for library in map(ctypes.CDLL, libraries):
        name = next((name for name in _THREADS_OF_OPENBLAS if hasattr(library, name)), None)
        found += 0 if name is None else int(getattr(library, name)()) - 1
    return found


def _found_anew() -> bool:
    """Whether a new interpreter finds this very clrevents: before Python 3.12 the server of forks knows nothing of
    what was done to `sys.path` meanwhile.
    """
    variable = "" if sys.flags.ignore_environment else os.environ.get("PYTHONPATH", "")
    places = [os.getcwd(), *filter(None, variable.split(os.pathsep)), *site.getsitepackages()]
    found = PathFinder.find_spec(_PACKAGE, places)
    return found is not None and found.origin == sys.modules[_PACKAGE].__file__


_stop: Any = None


def _begin(
    file: str, method: StartMethod, stop: Any, modules: tuple[str, ...], prepare: Callable[[], object] | None
) -> None:
    """Runs in each process."""
    global _stop
    if file != __file__:
        # The server of forks found another clrevents after all.
        os._exit(1)
    _stop = stop
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
    if prepare is not None:
        prepare()


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
