"""Context switches of the Linux recorder → when each thread was off its processor, and why, by the kernel's frames.

An interval is written when a thread comes back to a processor: between two of them it ran; before its first and after
its last one nobody knows. Knows no runtime event; what a futex was for only the managed frames below can tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import Final, Literal, TypeAlias

import attrs
import numpy as np

from clrevents.analysis.framework.model.collector import Context, ReportChunk
from clrevents.analysis.framework.model.kept import Kept, narrowed
from clrevents.analysis.gathering.gather import Gathered
from clrevents.analysis.gathering.groups import groups
from clrevents.analysis.gathering.merged import StackFrame
from clrevents.analysis.shared.samples.leaf_states import ThreadState
from clrevents.analysis.shared.weights.cpu_samples import NO_THREAD
from clrevents.analysis.shared.weights.weighing import Ints

SWITCH: Final = "Universal.Events/cswitch"
SWITCH_EVENT: Final = ("Universal.Events", "cswitch")
SWITCH_COLUMNS: Final = ("time_ns", "thread_id", "stack_id", "Value")

AwayWord: TypeAlias = Literal[
    "preempted", "yielded", "futex", "sleep", "input", "output", "disk", "page_fault", "kernel", "exit", "unknown"
]

_STATES: Final[dict[AwayWord, ThreadState]] = {
    "preempted": "ready",
    "yielded": "ready",
    "futex": "wait",
    "sleep": "sleep",
    "input": "io",
    "output": "io",
    "disk": "io",
    "page_fault": "io",
    "kernel": "wait",
}
_SCHEDULING: Final = ("schedule", "__schedule")
_PREEMPTED: Final = (
    *("irqentry_exit", "raw_irqentry_exit", "exit_to_user_mode", "syscall_exit_to_user_mode", "el0_interrupt"),
    *("preempt_schedule", "arm64_preempt_schedule", "__cond_resched", "_cond_resched", "do_notify_resume"),
)
"""How frames begin that call the scheduler although the thread could go on."""
_FAULTS: Final = ("asm_exc_page_fault", "exc_page_fault", "do_page_fault", "do_mem_abort")
_DISK: Final = ("io_schedule", "wait_for_completion_io")
_SYSTEM_CALL: Final = re.compile(r"__(?:x64|ia32|arm64|riscv|s390x|se)_(?:compat_)?sys_(\w+)|ksys_(\w+)")
_CALLS: Final[dict[AwayWord, frozenset[str]]] = {
    "futex": frozenset(("futex", "futex_wait", "futex_waitv")),
    "sleep": frozenset(("nanosleep", "clock_nanosleep")),
    "input": frozenset(
        (
            *("poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait", "epoll_pwait2", "read", "readv"),
            *("pread64", "preadv", "preadv2", "recvfrom", "recvmsg", "recvmmsg", "accept", "accept4", "connect"),
            *("io_getevents", "io_uring_enter", "open", "openat", "openat2"),
        )
    ),
    "output": frozenset(
        (
            *("write", "writev", "pwrite64", "pwritev", "pwritev2", "sendto", "sendmsg", "sendmmsg", "sendfile"),
            *("fsync", "fdatasync", "msync", "sync_file_range"),
        )
    ),
}


@attrs.frozen
class WhyAway:
    """What a thread was off its processor for, and the system call that it was in; None for none that is known."""

    word: AwayWord
    system_call: str | None = None

    @property
    def state(self) -> ThreadState:
        """The state that it means."""
        return _STATES.get(self.word, "unknown")


def why_away(frames: Iterable[StackFrame]) -> WhyAway:
    """What the kernel's frames say, which are the innermost ones."""
    names = [frame.name for frame in takewhile(lambda frame: frame.kind == "kernel", frames) if frame.reason is None]
    if not names:
        return WhyAway("unknown")
    calls = (_SYSTEM_CALL.fullmatch(name) for name in names)
    call = next((found[1] or found[2] for found in calls if found), None)
    first = next((name for name in names if not name.startswith(_SCHEDULING)), "")
    if "do_task_dead" in names[:2]:
        return WhyAway("exit", call)
    if first.startswith(_PREEMPTED):
        return WhyAway("preempted", call)
    if call == "sched_yield":
        return WhyAway("yielded", call)
    if call is None and any(name in _FAULTS for name in names):
        return WhyAway("page_fault")
    if any(name.startswith(_DISK) for name in names):
        return WhyAway("disk", call)
    return WhyAway(next((word for word, known in _CALLS.items() if call in known), "kernel"), call)


@attrs.frozen(eq=False)
class Switches:
    """Times off a processor in order of thread and time, without overlap."""

    thread: Ints
    start: Ints
    end: Ints
    stack_id: Ints
    cut: int = 0
    """How many of them the recording has longer: they overlapped, or ran past its end."""
    nobodys: int = 0
    """How many are left out because their thread is not told."""

    @classmethod
    def of(cls, found: Gathered, end_ns: int) -> Switches:
        """Those of a process, in a trace that ends then."""
        if not len(found) or "Value" not in found.table or found.numbers("Value").dtype.kind not in "iu":
            none: Ints = np.zeros(0, dtype=np.int64)
            return cls(none, none, none, none)
        thread, start, stack = (
            found.column(name).filled(-1).astype(np.int64) for name in ("thread_id", "time_ns", "stack_id")
        )
        took = found.numbers("Value").astype(np.uint64)
        known = np.flatnonzero((thread >= 0) & (thread != NO_THREAD))
        order = known[np.lexsort((start[known], thread[known]))]
        thread, start, stack, took = thread[order], start[order], stack[order], took[order]
        room = np.maximum(end_ns - start, 0)
        end = start + np.minimum(took, room.astype(np.uint64)).astype(np.int64)
        cut = took > room.astype(np.uint64)
        # What reaches into the thread's next one ends with it: a thread is off once.
        over = (thread[:-1] == thread[1:]) & (end[:-1] > start[1:])
        end[:-1] = np.where(over, start[1:], end[:-1])
        cut[:-1] |= over
        return cls(thread, start, end, stack, int(cut.sum()), len(found) - len(known))

    def __len__(self) -> int:
        return len(self.thread)

    def by_thread(self) -> Iterator[tuple[int, Ints]]:
        """Each thread with its rows."""
        return groups(self.thread)


class SwitchFeed:
    """Takes the chunks of a collector that selects `SWITCH`, and leaves its other events alone."""

    def __init__(self) -> None:
        self._kept = Kept()

    def take(self, chunk: ReportChunk) -> None:
        """See the next events."""
        self._kept.take(narrowed(chunk, {SWITCH: SWITCH_COLUMNS}))

    def found(self, context: Context) -> Switches:
        """All times off a processor."""
        return Switches.of(self._kept.all((SWITCH,), context.nothing)[SWITCH], context.duration_ns)


def switches_recorded(context: Context) -> bool:
    """Whether the kernel's switches were recorded, of this process or of any."""
    return any((kind.provider, kind.name) == SWITCH_EVENT for kind in context.kinds)
