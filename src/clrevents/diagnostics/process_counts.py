"""Reads what Linux counts for the threads of a process, and facts about it and its machine, as events of our own; and
has a thread put them into the stream of a recording.

Keeps its files open: opening costs more than reading, and a number that another process got later is not read. Of
nested control groups, of those that are mounted here, the one with the tightest limit counts. Times are
CLOCK_MONOTONIC. Whatever goes wrong, the recording is as without (docs/processor-time.md).
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from math import inf
from pathlib import Path
from typing import Final

import attrs

from clrevents._util.value_classes import frozen
from clrevents.diagnostics.transports import Connection, SocketConnection, peer_of
from clrevents.diagnostics.weave import OwnEvent, StreamClock, Weave, own_event

SECOND: Final = 1_000_000_000
_UNKNOWN: Final = -1
_ENOUGH: Final = 4096
_KEPT_SHARE: Final = 3
"""A third of the files that may be open is for threads: two recordings overlap. Those of more threads are opened each
time."""
_YOUNG: Final = 3
"""So many times the name of a new thread is read: it has that of its parent at first."""
_NO_LIMIT: Final = 1 << 60
"""Version 1 has such a number for no limit of memory."""
_GONE: Final = (FileNotFoundError, ProcessLookupError)


class Uncountable(Exception):
    """Why a process cannot be counted, for people."""


@attrs.define
class _CountedThread:
    """A thread that was seen, and its counts when it was read last."""

    id: int
    file: int | None
    read_ns: int
    raw: bytes = b""
    counts: tuple[int, int, int] = (0, 0, 0)
    name: str | None = None
    young: int = _YOUNG


class ProcessCounts:
    """A process by its id in /proc. Raises Uncountable if its threads cannot be seen. Close it."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._threads: dict[str, _CountedThread] = {}
        self._listed_ns = self._process_ns = self._second_ns = 0
        self._process_time = 0
        self._last: dict[str, tuple[object, tuple[int, ...]]] = {}
        self._opened: dict[str, int] = {}
        """Files that stay open, by their paths."""
        try:
            self._tasks = self._path(f"/proc/{pid}/task")
            # In the namespace of the process, which its trace speaks of.
            self.inner_pid = self._inner(str(pid))
            self._exact = int(self._once(f"{pid}/schedstat").split()[0]) > 0
        except FileNotFoundError:
            if not self._opened:
                raise Uncountable(f"/proc does not show process {pid}") from None
            self._exact = False
        except (OSError, ValueError, IndexError) as error:
            self.close()
            raise Uncountable(f"/proc/{pid} cannot be read: {getattr(error, 'strerror', None) or error}") from None
        self._tick_ns = SECOND // os.sysconf("SC_CLK_TCK")
        self._counter = "schedstat" if self._exact else "stat"
        self._room = _files_allowed() // _KEPT_SHARE

    def close(self) -> None:
        """Close all files."""
        for file in (*self._opened.values(), *(one.file for one in self._threads.values() if one.file is not None)):
            with suppress(OSError):
                os.close(file)
        self._opened, self._threads = {}, {}

    def begin(self, every: float) -> list[OwnEvent]:
        """The first reading, which is the base: how it is counted, and the names of threads."""
        events = self.read()
        unread = (name not in self._last for name in ("limits", "machine"))
        unknown = (self._clock() is None, self._last["facts"][1][1] < 0, *unread)
        missing = sum(flag << bit for bit, flag in enumerate((not self._exact, *unknown)))
        step = 1 if self._exact else self._tick_ns
        allowed, online = self._allowed(), os.sysconf("SC_NPROCESSORS_ONLN")
        began = events[0].time_ns
        return [own_event(began, "ProcessorCounting", step, int(every * SECOND), online, allowed, missing), *events]

    def read(self, last: bool = False) -> list[OwnEvent]:
        """All that changed since the last reading; with the `last`, also what is read once a second.

        Raises OSError when the process has ended.
        """
        cost = time.thread_time_ns()
        base = not self._listed_ns
        events: list[OwnEvent] = []
        listed = os.listdir(self._tasks)
        now = time.monotonic_ns()
        for key in listed:
            try:
                thread = self._threads.get(key) or self._meet(key, now if base else self._listed_ns)
                self._count(key, thread, events, base)
            except _GONE:
                self._end(key, events)
        for key in self._threads.keys() - set(listed):
            self._end(key, events)
        self._listed_ns = now
        whole = self._process(events, base, cost)
        if base or last or whole - self._second_ns >= SECOND:
            for key, thread in () if base else self._threads.items():
                with suppress(*_GONE):
                    self._name(key, thread, events)
            self._each_second(events)
        return events

    def last(self) -> list[OwnEvent]:
        """What the process's own clock says when its threads cannot be read any more."""
        events: list[OwnEvent] = []
        with suppress(OSError, IndexError):
            # It is still the same process.
            self._proc("stat")
            self._threads.clear()
            self._process(events, False, time.thread_time_ns())
        return events

    def _meet(self, key: str, since_ns: int) -> _CountedThread:
        """A thread that is new, which began after this time."""
        inner = int(key) if self.inner_pid == self.pid else self._inner(key)
        file = None
        if len(self._threads) < self._room:
            file = os.open(f"{key}/{self._counter}", os.O_RDONLY, dir_fd=self._tasks)
        thread = self._threads[key] = _CountedThread(inner, file, since_ns)
        return thread

    def _count(self, key: str, thread: _CountedThread, events: list[OwnEvent], base: bool) -> None:
        """What a thread used since it was read last."""
        raw = self._once(f"{key}/{self._counter}") if thread.file is None else os.pread(thread.file, _ENOUGH, 0)
        now = time.monotonic_ns()
        if raw != thread.raw:
            counts = self._counts(raw)
            before = thread.counts
            if counts[0] < before[0]:
                # The number is another thread's now.
                raise ProcessLookupError
            if thread.young:
                thread.young -= 1
                self._name(key, thread, events)
            if not base and counts != before:
                used = (a - b if a >= 0 else a for a, b in zip(counts, before, strict=True))
                events.append(own_event(now, "ProcessorTime", thread.id, now - thread.read_ns, *used))
            thread.raw, thread.counts = raw, counts
        thread.read_ns = now

    def _counts(self, raw: bytes) -> tuple[int, int, int]:
        """Nanoseconds on a processor, nanoseconds ready, and how often it got a processor."""
        if self._exact:
            used, ready, times = raw.split()
            return int(used), int(ready), int(times)
        return self._ticked_ns(raw), _UNKNOWN, _UNKNOWN

    def _ticked_ns(self, stat: bytes) -> int:
        """Time on a processor by a `stat`, which counts it in ticks."""
        fields = _after_name(stat)
        return (int(fields[11]) + int(fields[12])) * self._tick_ns

    def _name(self, key: str, thread: _CountedThread, events: list[OwnEvent]) -> None:
        # It may be cut inside a character, and may hold a line break itself.
        name = self._once(f"{key}/comm").decode("utf-8", "replace").removesuffix("\n")
        if name != thread.name:
            thread.name = name
            events.append(own_event(time.monotonic_ns(), "ThreadName", thread.id, name))

    def _end(self, key: str, events: list[OwnEvent]) -> None:
        thread = self._threads.pop(key, None)
        if thread is None:
            return
        if thread.file is not None:
            os.close(thread.file)
        if thread.name is not None:
            now = time.monotonic_ns()
            events.append(own_event(now, "ThreadEnd", thread.id, now - thread.read_ns))

    def _process(self, events: list[OwnEvent], base: bool, cost: int) -> int:
        """The process's own clock has what ended threads took with them."""
        used = self._clock()
        if used is None:
            used = self._ticked_ns(self._proc("stat"))
        now = time.monotonic_ns()
        if not base:
            took = time.thread_time_ns() - cost
            more = used - self._process_time
            events.append(
                own_event(now, "ProcessProcessorTime", now - self._process_ns, more, len(self._threads), took)
            )
        self._process_ns, self._process_time = now, used
        return now

    def _clock(self) -> int | None:
        """CLOCK_PROCESS_CPUTIME_ID of another process, as Linux numbers it."""
        try:
            return time.clock_gettime_ns((~self.pid << 3) | 2)
        except OSError:
            return None

    def _each_second(self, events: list[OwnEvent]) -> None:
        now = time.monotonic_ns()
        interval = now - self._second_ns
        self._second_ns = now
        resident = int(self._proc("statm").split()[1]) * os.sysconf("SC_PAGE_SIZE")
        io = self._numbers("io")
        stored = (io.get(name, _UNKNOWN) for name in (b"read_bytes", b"write_bytes"))
        added = self._added("facts", (int(_after_name(self._proc("stat"))[9]), *stored))
        if added:
            events.append(own_event(now, "ProcessFacts", interval, resident, *added, self._allowed()))
        with suppress(OSError, ValueError):
            mounts = Path("/proc/self/mountinfo").read_text()
            limits = limits_of(self._proc("cgroup").decode(errors="replace"), mounts)
            if limits is not None and (added := self._added("limits", limits.counted, limits.group)):
                events.append(own_event(now, "ProcessLimits", interval, *limits.processors, *added, *limits.memory))
        with suppress(OSError, ValueError, IndexError):
            lines = os.pread(self._path("/proc/stat"), 1 << 20, 0).split(b"\n")
            user, nice, system, idle, io_wait, irq, soft, *stolen = map(int, lines[0].split()[1:9])
            added = self._added("machine", (user + nice + system + irq + soft, idle + io_wait, sum(stolen)))
            online = sum(line[:3] == b"cpu" for line in lines) - 1
            running = next((int(line.split()[1]) for line in lines if line.startswith(b"procs_running")), _UNKNOWN)
            if added:
                used = (each * self._tick_ns for each in added)
                events.append(own_event(now, "MachineProcessorTime", interval, online, *used, running))

    def _added(self, name: str, counts: tuple[int, ...], of: object = None) -> list[int]:
        """What was added to counts since they were read last, of the same thing; unknown where either is.

        Empty if they never were. What is counted for a group may begin anew.
        """
        last = self._last.get(name)
        self._last[name] = of, counts
        if last is None or last[0] != of:
            return []
        return [max(a - b, 0) if a >= 0 <= b else _UNKNOWN for a, b in zip(counts, last[1], strict=True)]

    def _allowed(self) -> int:
        with suppress(OSError):
            return len(os.sched_getaffinity(self.pid))
        return _UNKNOWN

    def _inner(self, key: str) -> int:
        """The number of a thread in the innermost namespace."""
        for line in self._once(f"{key}/status").splitlines():
            if line.startswith(b"NSpid:"):
                return int(line.split()[-1])
        return int(key)

    def _numbers(self, name: str) -> dict[bytes, int]:
        with suppress(OSError, ValueError):
            lines = self._proc(name).splitlines()
            return {key: int(value) for key, _, value in (line.partition(b": ") for line in lines)}
        return {}

    def _once(self, name: str) -> bytes:
        """A file of a thread, read and closed."""
        file = os.open(name, os.O_RDONLY, dir_fd=self._tasks)
        try:
            return os.read(file, _ENOUGH)
        finally:
            os.close(file)

    def _proc(self, name: str) -> bytes:
        """A file of the process."""
        return os.pread(self._path(f"/proc/{self.pid}/{name}"), _ENOUGH, 0)

    def _path(self, path: str) -> int:
        """A file that stays open."""
        if path not in self._opened:
            self._opened[path] = os.open(path, os.O_RDONLY)
        return self._opened[path]


def _after_name(stat: bytes) -> list[bytes]:
    """The fields of a `stat` after the name of the program, which may have brackets and spaces in it."""
    return stat.rpartition(b")")[2].split()


def _files_allowed() -> int:
    import resource

    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


@frozen
class GroupLimits:
    """One reading, in nanoseconds and bytes; -1 is unknown, or no limit."""

    group: Path
    """Which one limits the processors: the process's own if none does."""
    processors: tuple[int, int]
    """Quota and period."""
    counted: tuple[int, int, int, int]
    """Time used, periods, those in which a limit stopped it, and for how long, since the group was made."""
    memory: tuple[int, int]
    """Limit and use."""


def limits_of(groups: str, mounts: str) -> GroupLimits | None:
    """Of the texts of /proc/PID/cgroup and /proc/self/mountinfo; None if no group of it can be seen."""
    lines = [line.split(":", 2) for line in groups.splitlines()]
    paths = {kind: path for _, kinds, path in lines for kind in kinds.split(",")}
    folders_of_groups = dict(_folders(paths, mounts))
    unified, cpu, account, memory = (folders_of_groups.get(kind, []) for kind in ("", "cpu", "cpuacct", "memory"))
    if not (cpu or unified):
        return None
    group, *processors = _tightest(cpu or unified, not cpu)
    stat = _numbers(group / "cpu.stat")
    if cpu:
        # The same group in another hierarchy, which may be divided otherwise.
        same = account if paths["cpu"] == paths.get("cpuacct") else []
        used = _number(same[cpu.index(group)] / "cpuacct.usage") if len(same) == len(cpu) else -1
        stopped = stat.get("throttled_time", -1)
    else:
        used, stopped = (1000 * stat[name] if name in stat else -1 for name in ("usage_usec", "throttled_usec"))
    names = ("memory.limit_in_bytes", "memory.usage_in_bytes") if memory else ("memory.max", "memory.current")
    limited = [(_number(folder / names[0]), -at, folder) for at, folder in enumerate(memory or unified)]
    # Nothing is limited to nothing: a limit of 0 is one that is not known.
    limit, _, folder = min((one for one in limited if 0 < one[0] < _NO_LIMIT), default=(-1, 0, None))
    memory_limit = -1 if not limited else _number((folder or limited[0][2]) / names[1])
    counted = (used, stat.get("nr_periods", -1), stat.get("nr_throttled", -1), stopped)
    return GroupLimits(group, (processors[0], processors[1]), counted, (limit, memory_limit))


def _folders(paths: Mapping[str, str], mounts: str) -> Iterator[tuple[str, list[Path]]]:
    """For each kind of limit (`""` in version 2) the folder of the process's group and of those around it."""
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        (_, _, _, root, place, *_), (system, _, options) = before.split(), after.split(" ", 2)
        kinds = set(options.split(",")) if system == "cgroup" else {""} if system == "cgroup2" else set()
        for kind in kinds & paths.keys():
            # A container may see only its own part, mounted as if it was all.
            above = root.rstrip("/") if paths[kind] != "/" else ""
            folder = Path(place + paths[kind].removeprefix(above))
            seen = f"{paths[kind]}/".startswith(f"{above}/")
            if seen and ".." not in folder.parts and folder.is_dir():
                yield kind, [one for one in (folder, *folder.parents) if one.is_relative_to(place)]


def _tightest(folders: list[Path], unified: bool) -> tuple[Path, int, int]:
    """The group with the smallest share of processors, its quota and its period in nanoseconds."""
    tightest = (inf, folders[0], -1, -1)
    for folder in folders:
        with suppress(OSError, ValueError):
            if unified:
                quota, period = (folder / "cpu.max").read_text().split()
            else:
                quota, period = ((folder / f"cpu.cfs_{name}_us").read_text().strip() for name in ("quota", "period"))
            if quota not in ("max", "-1") and int(quota) / int(period) < tightest[0]:
                tightest = int(quota) / int(period), folder, 1000 * int(quota), 1000 * int(period)
    return tightest[1:]


def _number(path: Path) -> int:
    """The number in a file; -1 for `max`, or if there is none."""
    with suppress(OSError, ValueError):
        return int(path.read_text())
    return -1


def _numbers(path: Path) -> dict[str, int]:
    """The numbers of a file by their names."""
    with suppress(OSError, ValueError):
        return {name: int(value) for name, value in (line.split() for line in path.read_text().splitlines())}
    return {}


INTERVAL: Final = 0.05
"""Between two readings, in seconds."""
_SHARE: Final = 0.02
"""The share of a processor that reading may take: with more threads it is done less often."""
_MOST_WAITING: Final = 100_000
"""Events that wait for the stream to go on. Until it does nothing is read: the next reading has it all."""
_APART_NS: Final = 10 * SECOND
"""How far the time in a trace's header may be from that of the first reading, if both are the same clock's."""
_JOIN_SECONDS: Final = 1.0


class Counting(Weave):
    """The stream of a session with what is counted of its process, every so many seconds; None: the stream alone."""

    def __init__(self, every: float | None) -> None:
        super().__init__(self._begun, self._stop)
        self.why: str | None = None
        """Why not all was counted; None if it was, or was not asked for."""
        self._every = every or INTERVAL
        self._counts: ProcessCounts | None = None
        self._shifted = self._first_ns = 0
        self._over = self._uncounted = every is None
        self._marks: tuple[OwnEvent, ...] = ()
        self._enough = threading.Event()
        self._reader = threading.Thread(target=self._read, name="clrevents-processor", daemon=True)

    def mark(self, *events: OwnEvent) -> None:
        """Also have these at the beginning of the trace, whether the process can be counted or not."""
        self._marks = events
        self.pending.extend(events)
        self._over = self._over and not events

    def begin(self, connection: Connection) -> None:
        """Begin to count, when the session has begun and before its process goes on."""
        if self._uncounted:
            return
        try:
            self._counts = _counts_of(connection)
            events = self._counts.begin(self._every)
            self._shifted = _clock_shift(self._counts.pid)
        except (Uncountable, OSError, ValueError, IndexError) as error:
            self._give_up(str(error))
        else:
            self._first_ns = events[0].time_ns
            self.pending.extend(events)
            self._reader.start()

    def close(self) -> None:
        """Read nothing more."""
        counts, self._counts = self._counts, None
        if self._halted() and counts is not None:
            counts.close()

    def _halted(self) -> bool:
        """End the thread; whether it has ended."""
        self._enough.set()
        if self._reader.is_alive():
            self._reader.join(_JOIN_SECONDS)
        return not self._reader.is_alive()

    def _begun(self, clock: StreamClock | None) -> int | None:
        """Whether the trace is of the process that is counted, in a clock that can be read here."""
        if clock is None:
            self._give_up("the recording is not NetTrace 4")
        elif self._counts is None:
            return 0
        elif clock.process_id != self._counts.inner_pid:
            self._give_up(f"another process answers for process {clock.process_id}")
        elif clock.frequency != SECOND or abs(clock.ticks - self._first_ns - self._shifted) > _APART_NS:
            self._give_up("the clock of the process cannot be read here")
        else:
            return self._shifted
        return None if self._over else 0

    def _give_up(self, why: str) -> None:
        """Count nothing; marks need no clock but the trace's own."""
        self.why = None if self._uncounted else why
        self._over = not self._marks
        self.close()
        self.pending.clear()
        self.pending.extend(self._marks)

    def _stop(self) -> None:
        """The last reading."""
        counts = self._counts
        if counts is not None and self._halted():
            try:
                self.pending.extend(counts.read(last=True))
            except (OSError, ValueError, IndexError):
                self.pending.extend(counts.last())
        self.close()

    def _read(self) -> None:
        """Until it is enough, or the process has ended."""
        counts = self._counts
        assert counts is not None
        usual = 0.0
        pause = self._every
        while not self._enough.wait(pause):
            began, cost = time.monotonic(), time.thread_time()
            if len(self.pending) < _MOST_WAITING:
                try:
                    events: list[OwnEvent] = counts.read()
                except (OSError, ValueError, IndexError) as error:
                    if not isinstance(error, FileNotFoundError | ProcessLookupError):
                        self.why = f"reading it failed: {error}"
                    return
                self.pending.extend(events)
            cost = time.thread_time() - cost
            usual = cost if not usual else 0.8 * usual + 0.2 * cost
            pause = max(self._every, usual / _SHARE) - (time.monotonic() - began)


def _counts_of(connection: Connection) -> ProcessCounts:
    """The process at the other end. Raises Uncountable."""
    if sys.platform != "linux":
        raise Uncountable("only Linux counts it so that others can read it")
    peer = peer_of(connection.socket) if isinstance(connection, SocketConnection) else None
    if peer is None:
        raise Uncountable("the process is not reached through a Unix socket")
    if not peer.process:
        raise Uncountable("the process is in another namespace, out of sight from here")
    return ProcessCounts(peer.process)


def _clock_shift(pid: int) -> int:
    """What to add to our CLOCK_MONOTONIC for that of the process, which may be in another time namespace."""
    return _offset(f"/proc/{pid}/timens_offsets") - _offset("/proc/self/timens_offsets")


def _offset(path: str) -> int:
    with suppress(OSError, ValueError):
        for line in Path(path).read_text().splitlines():
            name, seconds, nanoseconds = line.split()
            if name == "monotonic":
                return int(seconds) * SECOND + int(nanoseconds)
    return 0
