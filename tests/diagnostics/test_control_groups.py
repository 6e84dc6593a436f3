"""Limits of control groups and clocks of namespaces, by files as Linux shows them, which not every machine has."""

from __future__ import annotations

from pathlib import Path

import pytest

from clrevents.diagnostics.process_counts import GroupLimits, _offset, limits_of

STAT = """\
usage_usec 9021452
user_usec 8012345
system_usec 1009107
nr_periods 104
nr_throttled 82
throttled_usec 5123456
nr_bursts 0
burst_usec 0
"""


def mounted(place: Path, root: str = "/") -> str:
    return (
        "24 1 0:22 / /proc rw,nosuid,nodev,noexec,relatime shared:12 - proc proc rw\n"
        f"30 24 0:26 {root} {place} rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
    )


def group(folder: Path, cpu: str, memory: str = "max") -> None:
    folder.mkdir(parents=True)
    for name, text in (("cpu.max", cpu), ("cpu.stat", STAT), ("memory.max", memory), ("memory.current", "50331648")):
        (folder / name).write_text(f"{text.strip()}\n")


LIMITED = ((40_000_000, 100_000_000), (9_021_452_000, 104, 82, 5_123_456_000), (536_870_912, 50_331_648))


def test_the_tightest_group_around_a_process_limits_it(tmp_path: Path) -> None:
    group(tmp_path / "kube", "40000 100000", "536870912")
    group(tmp_path / "kube" / "pod", "200000 100000")
    group(tmp_path / "kube" / "pod" / "app", "max 100000")
    found = limits_of("0::/kube/pod/app\n", mounted(tmp_path))
    assert found == GroupLimits(tmp_path / "kube", *LIMITED)


def test_a_container_sees_its_own_part_as_if_it_was_all(tmp_path: Path) -> None:
    group(tmp_path / "app", "40000 100000", "536870912")
    found = limits_of("0::/docker/4f/app\n", mounted(tmp_path, "/docker/4f"))
    assert found == GroupLimits(tmp_path / "app", *LIMITED)


def test_without_a_limit_there_is_none(tmp_path: Path) -> None:
    group(tmp_path / "app", "max 100000")
    found = limits_of("0::/app\n", mounted(tmp_path))
    assert found is not None
    assert (found.processors, found.memory) == ((-1, -1), (-1, 50_331_648))


@pytest.mark.parametrize("groups", ["", "0::/elsewhere\n", "0::/../..\n", "4:memory:/app\n"])
def test_a_group_that_is_not_here_is_unknown(groups: str, tmp_path: Path) -> None:
    group(tmp_path / "app", "40000 100000")
    assert limits_of(groups, mounted(tmp_path / "app", "/app")) is None


def test_the_clock_of_a_namespace_is_ahead(tmp_path: Path) -> None:
    (tmp_path / "timens_offsets").write_text("monotonic    86400  250\nboottime         5    7\n")
    assert (_offset(str(tmp_path / "timens_offsets")), _offset(str(tmp_path / "none"))) == (86_400_000_000_250, 0)
