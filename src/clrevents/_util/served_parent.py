"""Signals and lifetime of a process that works for another one. Knows nothing of the work."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from typing import Any


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
