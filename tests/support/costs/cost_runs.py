"""What each way of reading some bytes costs: processor time, and how far memory grows.

Every input gets a process of its own, forked from one that has read a trace already, so that nothing is paid twice and
nothing survives; its memory and time are limited by the operating system. Linux only. Knows neither inputs nor modes.
"""

from __future__ import annotations

import ctypes
import gc
import os
import pickle
import resource
import signal
import struct
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType
from typing import Final

import attrs

FIXED_SECONDS: Final = 2.0
SECONDS_PER_BYTE: Final = 20e-6
FIXED_MEMORY: Final = 64 << 20
MEMORY_PER_BYTE: Final = 448
"""Together with `FIXED_MEMORY` 512 MiB for a mebibyte."""
_OVER: Final = 1.2
"""A mode is stopped when it takes this much more time than allowed, and no further one is begun then."""
_ADDRESS_SPACE: Final = 1536 << 20
_LENGTH: Final = struct.Struct("<I")


def seconds_allowed(size: int) -> float:
    """The processor time that an input of this many bytes may take in one mode."""
    return FIXED_SECONDS + SECONDS_PER_BYTE * size


@attrs.frozen
class Cost:
    """What one mode took; `fault` is the trace of an exception that must not be, or what ended the process."""

    seconds: float
    memory: int
    fault: str = ""

    def shares(self, size: int, fixed: float = 1.0) -> tuple[float, float]:
        """Of time and memory, with this part of what is allowed whatever the size."""
        seconds = FIXED_SECONDS * fixed + SECONDS_PER_BYTE * size
        return self.seconds / seconds, self.memory / (FIXED_MEMORY * fixed + MEMORY_PER_BYTE * size)


class Overtime(BaseException):
    """Ends a mode that takes more than the time allowed."""


def measure(data: bytes, modes: Mapping[str, Callable[[bytes], None]]) -> dict[str, Cost]:
    """The cost of each mode, up to one that takes too long.

    A mode that ends the process ends the measurement, and has its reason as `fault`.
    """
    out, into = os.pipe()
    child = os.fork()
    if not child:
        os.close(out)
        _child(data, modes, into)
    os.close(into)
    with os.fdopen(out, "rb") as pipe:
        costs: dict[str, Cost] = {}
        begun = ""
        while head := pipe.read(_LENGTH.size):
            name, cost = pickle.loads(pipe.read(*_LENGTH.unpack(head)))
            if cost is None:
                begun = name
            else:
                costs[name], begun = cost, ""
    _, status, usage = os.wait4(child, 0)
    if begun:
        before = sum(cost.seconds for cost in costs.values())
        seconds = max(usage.ru_utime + usage.ru_stime - before, 0.0)
        code = os.waitstatus_to_exitcode(status)
        reason = f"killed by {signal.Signals(-code).name}" if code < 0 else f"left with {code}"
        costs[begun] = Cost(seconds, 0, reason)
    return costs


def _child(data: bytes, modes: Mapping[str, Callable[[bytes], None]], into: int) -> None:
    try:
        # What the parent holds is not to be looked through again.
        gc.freeze()
        # What does not listen to the signal below.
        limit = int(2 * len(modes) * seconds_allowed(len(data)))
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        space = _statm()[0] + _ADDRESS_SPACE
        resource.setrlimit(resource.RLIMIT_AS, (space, space))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGPROF, _stop)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        with os.fdopen(into, "wb") as pipe:
            for name, mode in modes.items():
                _send(pipe, (name, None))
                cost = _one(data, mode)
                _send(pipe, (name, cost))
                if cost.seconds > seconds_allowed(len(data)):
                    break
    except BrokenPipeError:
        # Nobody waits any more.
        pass
    except BaseException:
        traceback.print_exc()
    os._exit(0)


def _send(pipe: object, item: object) -> None:
    body = pickle.dumps(item)
    pipe.write(_LENGTH.pack(len(body)) + body)  # type: ignore[attr-defined]
    pipe.flush()  # type: ignore[attr-defined]


def _one(data: bytes, mode: Callable[[bytes], None]) -> Cost:
    fault = ""
    gc.collect()
    _release()
    resident = _statm()[1]
    Path("/proc/self/clear_refs").write_text("5")
    begin = time.process_time()
    try:
        signal.setitimer(signal.ITIMER_PROF, _OVER * seconds_allowed(len(data)))
        try:
            mode(data)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    except Overtime:
        pass
    except MemoryError:
        return Cost(time.process_time() - begin, _ADDRESS_SPACE)
    except Exception:
        fault = traceback.format_exc()
    return Cost(time.process_time() - begin, max(_peak() - resident, 0), fault)


def _stop(number: int, frame: FrameType | None) -> None:
    raise Overtime


def _statm() -> tuple[int, int]:
    """Address space and resident memory, in bytes."""
    total, resident = Path("/proc/self/statm").read_text().split()[:2]
    return int(total) * resource.getpagesize(), int(resident) * resource.getpagesize()


def _peak() -> int:
    """The most memory that was resident since it was last reset."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) << 10
    return 0


def _release() -> None:
    """Give freed memory back to the operating system, so that the next mode does not get it for nothing."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
