"""What goes wrong in a process that draws a page's charts: each stands for the function that draws one."""

from __future__ import annotations

import os
import time
from typing import Any


def dies(*_: Any) -> Any:
    os._exit(9)


def breaks(*_: Any) -> Any:
    raise ZeroDivisionError("only here")


def never_ends(*_: Any) -> Any:
    time.sleep(1000)
