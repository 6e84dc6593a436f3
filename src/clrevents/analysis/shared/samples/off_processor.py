"""Context switches of the Linux recorder → when each thread was off its processor, and why, by the kernel's frames.

An interval is written when a thread comes back to a processor: between two of them it ran; before its first and after
its last one nobody knows. Knows no runtime event; what a futex was for only the managed frames below can tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Final, Literal, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents._util.words import counted
from clrevents.analysis.framework.model.collector import Context, Kept, ReportChunk, narrowed
from clrevents.analysis.framework.vocabulary.answer_values import Note, TimeWindow
from clrevents.analysis.gathering.groups import Ints, groups
from clrevents.analysis.gathering.merged_stacks import MergedStacks, StackFrame
from clrevents.analysis.shared.samples.leaf_states import STATES, WAITING, ThreadState, stack_states
from clrevents.analysis.shared.weights.weighing import NO_THREAD, SampleColumns, WeighedColumns
from clrevents.table.table import Table

SWITCH: Final = "Universal.Events/cswitch"
SWITCH_EVENT: Final = ("Universal.Events", "cswitch")
SWITCH_COLUMNS: Final = ("time_ns", "thread_id", "stack_id", "Value")
OFF_CPU_CAVEAT: Final = (
    "context switches of the kernel: this is time that threads were off a processor, waiting for something or for a "
    "processor"
)
"""How to read their weights."""

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
_INTERRUPTS: Final = ("asm_sysvec_", "asm_common_interrupt", "asm_exc_nmi", "el1h_64_irq", "el0t_64_irq")
_CALLING: Final = ("do_syscall_64", "do_fast_syscall_32", "el0_svc")
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


@frozen
class WhyAway:
    """What a thread was off its processor for, and the system call that it was in; None for none that is known."""

    word: AwayWord
    system_call: str | None = None

    @property
    def state(self) -> ThreadState:
        """The state that it means."""
        return _STATES.get(self.word, "unknown")

    def state_with(self, leaf: ThreadState | None) -> ThreadState:
        """The state by the kernel, and by the methods below where these know for what a thread waits."""
        return leaf if leaf is not None and leaf in WAITING and self.state in WAITING else self.state


def _system_call(names: Iterable[str]) -> str | None:
    calls = (_SYSTEM_CALL.fullmatch(name) for name in names)
    return next((call[1] or call[2] for call in calls if call), None)


def kernel_entry(names: Sequence[str]) -> str:
    """What the kernel was entered for, by the names of its frames: a system call, a page fault or an interrupt."""
    call = _system_call(names)
    if call is not None:
        return f"[system call {call}]"
    if any(name in _FAULTS for name in names):
        return "[page fault]"
    if any(name in _CALLING for name in names):
        # On the way in or out, where the call has no frame of its own.
        return "[system call]"
    return "[interrupt]" if any(name.startswith(_INTERRUPTS) for name in names) else "[kernel]"


def why_away(frames: Iterable[StackFrame]) -> WhyAway:
    """What the kernel's frames say, which are the innermost ones."""
    names = [frame.name for frame in takewhile(lambda frame: frame.kind == "kernel", frames) if frame.reason is None]
    if not names:
        return WhyAway("unknown")
    call = _system_call(names)
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


@frozen(eq=False)
class Switches:
    """Times off a processor in order of thread and time, without overlap."""

    thread: Ints
    process: Ints
    start: Ints
    end: Ints
    stack_id: Ints
    cut: int = 0
    """How many of them the recording has longer: they overlapped, or ran past its end."""
    nobodys: int = 0
    """How many are left out because their thread is not told."""

    @classmethod
    def of(cls, table: Table, end_ns: int, process_id: int = -1) -> Switches:
        """Those of a table, in a trace that ends then; all of one process unless the table tells them."""
        if not len(table) or "Value" not in table or "int" not in table.column("Value").type.kind:
            none: Ints = np.zeros(0, dtype=np.int64)
            return cls(none, none, none, none, none)
        thread, start, stack = (
            table.column(name).filled(-1).astype(np.int64) for name in ("thread_id", "time_ns", "stack_id")
        )
        process = np.full(len(thread), process_id, dtype=np.int64)
        if "process_id" in table:
            process = table.column("process_id").filled(-1).astype(np.int64)
        took = table.column("Value").filled().astype(np.uint64)
        known = np.flatnonzero((thread >= 0) & (thread != NO_THREAD))
        order = known[np.lexsort((start[known], thread[known], process[known]))]
        thread, process, start, stack = (part[order] for part in (thread, process, start, stack))
        took = took[order]
        # Unsigned, where differences of times that a damaged clock gave wrap around to what they are.
        ends = np.array(min(end_ns, np.iinfo(np.int64).max), dtype=np.int64)
        begin = start.astype(np.uint64)
        room = np.where(start < ends, ends.astype(np.uint64) - begin, np.uint64(0))
        end = (begin + np.minimum(took, room)).astype(np.int64)
        cut = took > room
        # What reaches into the thread's next one ends with it: a thread is off once.
        same = (thread[:-1] == thread[1:]) & (process[:-1] == process[1:])
        over = same & (end[:-1] > start[1:])
        end[:-1] = np.where(over, start[1:], end[:-1])
        cut[:-1] |= over
        return cls(thread, process, start, end, stack, int(cut.sum()), len(table) - len(known))

    def __len__(self) -> int:
        return len(self.thread)

    def of_threads(self, thread_ids: Sequence[int] | None) -> Switches:
        """Those of some threads; None for all."""
        if thread_ids is None:
            return self
        rows = np.flatnonzero(np.isin(self.thread, list(thread_ids)))
        names = ("thread", "process", "start", "end", "stack_id")
        return attrs.evolve(self, **{name: getattr(self, name)[rows] for name in names})

    def weighed(self, window: TimeWindow) -> WeighedColumns:
        """Those that meet a window in order of time, each weighing its ns inside."""
        meets = np.flatnonzero(window.meets(self.start, self.end))
        meets = meets[np.argsort(self.start[meets], kind="stable")]
        rows = SampleColumns(self.start, self.thread, self.process, self.stack_id, None).take(meets)
        weight = window.overlap(self.start, self.end)[meets]
        return WeighedColumns(rows, np.maximum(rows.time, window.low), weight, "nanoseconds", away=True)

    def notes(self, spans: str, threads: str) -> list[Note]:
        """What a reader of these must know; the names are of the tables that it touches."""
        notes = []
        if self.cut:
            text = (
                f"{counted(self.cut, 'time')} off a processor overlapped the next one, or ran past the end: they are "
                "cut"
            )
            notes.append(Note("cut-switches", "warning", text, (spans,), {"switches": self.cut}))
        if self.nobodys:
            text = (
                f"{counted(self.nobodys, 'switch', 'switches')} of threads that exited are of no thread, and left out"
            )
            notes.append(Note("nobodys-switches", "info", text, (threads,), {"switches": self.nobodys}))
        return notes

    def within(self, threads: Iterable[int], starts: Iterable[int], ends: Iterable[int]) -> list[int | None]:
        """How long each of these threads was off its processor from a start to an end; None for threads that were never
        switched."""
        by_thread = dict(self.by_thread())
        lengths: list[int | None] = []
        for thread, start, end in zip(threads, starts, ends, strict=True):
            rows = by_thread.get(int(thread))
            if rows is None:
                lengths.append(None)
                continue
            first, last = np.searchsorted(self.end[rows], start, "right"), np.searchsorted(self.start[rows], end)
            inside = rows[int(first) : max(int(last), int(first))]
            lengths.append(int((np.minimum(self.end[inside], end) - np.maximum(self.start[inside], start)).sum()))
        return lengths

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

    def finish(self, context: Context) -> Switches:
        """All times off a processor."""
        process = -1 if context.process_id is None else context.process_id
        return Switches.of(self._kept.all((SWITCH,), context.nothing)[SWITCH].table, context.duration_ns, process)


def away_states(merged: MergedStacks) -> tuple[Ints, NDArray[np.bool_]]:
    """The place in `STATES` of what each stack says of a thread off its processor, and which say that it has ended."""
    leaf = stack_states(merged.frames, merged.offsets, merged.values).leaf_state.tolist()
    edges = merged.offsets.tolist()
    values = merged.values.tolist()
    states, ended = np.zeros(len(leaf), dtype=np.int64), np.zeros(len(leaf), dtype=np.bool_)
    for stack, tells in enumerate(leaf):
        why = why_away(merged.frames[frame] for frame in values[edges[stack] : edges[stack + 1]])
        states[stack] = STATES.index(why.state_with(STATES[tells] if tells >= 0 else None))
        ended[stack] = why.word == "exit"
    return states, ended


def switches_recorded(context: Context) -> bool:
    """Whether the kernel's switches were recorded, of this process or of any."""
    return any((kind.provider, kind.name) == SWITCH_EVENT for kind in context.kinds)
