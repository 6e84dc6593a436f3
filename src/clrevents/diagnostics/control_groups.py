"""The limits of a process's control groups (versions 1 and 2), and how often they stopped it, from Linux.

Of nested groups the one with the tightest limit counts. Looks only at what is mounted here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from math import inf
from pathlib import Path
from typing import Final

from clrevents._util.value_classes import frozen

_NO_LIMIT: Final = 1 << 60
"""Version 1 has such a number for no limit of memory."""


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
    found = dict(_folders(paths, mounts))
    unified, cpu, account, memory = (found.get(kind, []) for kind in ("", "cpu", "cpuacct", "memory"))
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
    held = -1 if not limited else _number((folder or limited[0][2]) / names[1])
    counted = (used, stat.get("nr_periods", -1), stat.get("nr_throttled", -1), stopped)
    return GroupLimits(group, (processors[0], processors[1]), counted, (limit, held))


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
    found = (inf, folders[0], -1, -1)
    for folder in folders:
        with suppress(OSError, ValueError):
            if unified:
                quota, period = (folder / "cpu.max").read_text().split()
            else:
                quota, period = ((folder / f"cpu.cfs_{name}_us").read_text().strip() for name in ("quota", "period"))
            if quota not in ("max", "-1") and int(quota) / int(period) < found[0]:
                found = int(quota) / int(period), folder, 1000 * int(quota), 1000 * int(period)
    return found[1:]


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
