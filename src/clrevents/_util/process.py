"""A process that mostly reads: how many processors it may use, and settings of its threads, memory and garbage
collector, which the library itself never touches."""

from __future__ import annotations

import gc
import os
import sys
from types import ModuleType
from typing import Final

# Larger than what is allocated for a few windows before it is freed, smaller than glibc's largest threshold.
_FREED: Final = 24 << 20
_THRESHOLDS: Final = (50_000, 20, 50)


def tune_process() -> None:
    """Trade memory of the whole process for faster reading, as the command `clrevents` does.

    Sets two switches that belong to the program, so the library never sets them by itself; call it once, at the start,
    in programs that mostly read traces:

    * The garbage collector runs less often: its thresholds become at least 50,000, 20 and 50. A collector that was
      disabled stays so.
    * With glibc, memory freed by one read serves the next, and up to 48 MiB of it stay with the process. pyarrow then
      uses glibc's memory too, unless it was imported before or `ARROW_DEFAULT_MEMORY_POOL` is set: that variable
      becomes `system`, in processes started by this one as well. Other allocators are not affected.

    docs/performance.md shows the effect.
    """
    # glibc returns free memory at the top of its heap to the system, and gets it back page by page, unless a block as
    # large as this was freed before (mallopt(3), M_MMAP_THRESHOLD).
    bytes(_FREED)
    if "CS_GNU_LIBC_VERSION" in getattr(os, "confstr_names", ()):
        # Its own allocator keeps what is free for itself, beside what is free here.
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    first, *rest = gc.get_threshold()
    if first:
        gc.set_threshold(*map(max, (first, *rest), _THRESHOLDS))


def repeat_lost_interrupts() -> None:
    """Let an interrupt that came at a bad moment end the program all the same.

    Python raises KeyboardInterrupt in whatever runs next. After a collection of garbage that is often the callback of a
    weak reference, from which nothing can be raised: it is reported as ignored, and the program goes on.
    """
    report = sys.unraisablehook

    def repeat(lost: sys.UnraisableHookArgs) -> None:
        if issubclass(lost.exc_type, KeyboardInterrupt):
            import signal
            import threading

            # From another thread, a moment later: at once, it would be lost again.
            main = threading.main_thread().ident
            threading.Timer(0.01, signal.pthread_kill, (main, signal.SIGINT)).start()
        else:
            report(lost)

    if sys.platform != "win32":
        sys.unraisablehook = repeat


def lean_numpy() -> None:
    """Before numpy is imported: on import, its linear algebra library starts threads, which takes 50 to 100 ms, and a
    module writes docstrings, an eighth of the rest. Neither is used here. Changes the environment of the process."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.modules.setdefault("numpy._core._add_newdocs", ModuleType("_add_newdocs"))


def usable_processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
