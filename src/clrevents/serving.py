"""`serve_parent`: what a process does that works for another one, which started it.

Knows processes, and nothing of traces.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from typing import Any


def serve_parent() -> None:
    """Leave interrupts to the process that started this one, and end when that one has ended.

    If it was killed, this process would otherwise wait for more to do for ever.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_after, args=(parent,), name="end with parent", daemon=True).start()


def _end_after(parent: Any) -> None:
    parent.join()
    os._exit(1)
