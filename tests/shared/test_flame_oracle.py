"""Hot methods and speedscope files against the official tools' own, on the traces of which there are reports."""

from __future__ import annotations

import gzip
import json
import re
from typing import Any, Final

import attrs
import numpy as np
import pytest
from shared_files import SHARED, needs_shared

import clrevents
from clrevents.analysis.shared.samples.calltree import hottest
from clrevents.analysis.shared.samples.samples import Samples, read_samples
from clrevents.export.flame.flame_formats import speedscope
from clrevents.export.look import Look
from viewer_rules import check_speedscope

Interval = tuple[float, float, tuple[str, ...]]

TRACES: Final = ("net8-cpu", "net10-cpu")
RAW: Final = Look("t", raw=True)
_EXTRA: Final = {"net8-cpu": 0.0, "net10-cpu": 4003.0}
"""Milliseconds that the official list counts too much: the last sample of one thread, whose method it shows first."""
_ADDED: Final = re.compile(r"Process\d* |\(Non-Activities\)$|Threads$|Thread \(|(CPU_TIME|UNMANAGED_CODE_TIME)$")
"""Frames that the official conversion adds to the stacks."""


def samples_of(name: str) -> Samples:
    """As the official tools have it: all frames, and each sample until the next one of its thread, however late."""
    with clrevents.open(SHARED / f"traces/own/{name}.nettrace.gz") as trace:
        samples = read_samples(trace, artefacts=True).seen()
        rows = trace.table("ThreadSample", columns=("time_ns", "thread_id"))
    ids = np.array([thread.thread_id for thread in samples.threads])[samples.thread]
    times, weights = samples.time_ns.copy(), samples.weight.copy()
    for thread in set(ids.tolist()):
        mine = np.flatnonzero(ids == thread)
        times[mine] = rows["time_ns"][rows["thread_id"] == thread]
        weights[mine] = np.diff(times[mine], append=times[mine[-1:]])
    return attrs.evolve(samples, time_ns=times, weight=weights)


def shortened(raw: str) -> str:
    """A method as the official list calls it: no namespace, and a module only where there was no namespace."""
    module, _, rest = raw.rpartition("!") if "(" not in raw.partition("!")[0] else ("", "", raw)
    name, paren, arguments = rest.partition("(")
    owner, _, method = name.rpartition("..") if ".." in name else name.rpartition(".")
    method = f".{method}" if ".." in name else method
    if not owner:
        return rest
    if "." not in owner:
        return f"{module}!{owner}.{method}{paren}{arguments}"
    if method.startswith(".c"):
        return f"{method}{paren}{arguments}"
    return f"{owner.rpartition('.')[2]}.{method}{paren}{arguments}"


@needs_shared
@pytest.mark.parametrize("name", TRACES)
def test_top_equals_the_official_list(name: str) -> None:
    """To two decimals. Each of its ten lines is found, in this order, once what it counts too much is added here."""
    samples = samples_of(name)
    text = (SHARED / f"oracle/{name}.topn.txt").read_text(encoding="utf-8")
    rows = re.findall(r"^\d+\.\s+(\S.*?)\s{2,}([\d.]+)%\s+([\d.]+)%", text, re.MULTILINE)
    assert len(rows) == 10
    total = samples.total / 1e6 + _EXTRA[name]
    ours: dict[str, tuple[float, float]] = {}
    for hot in hottest(samples):
        found = (hot.inclusive / 1e6, hot.exclusive / 1e6)
        # It writes the module's name in small letters in one of the traces.
        label = shortened(hot.raw).lower()
        before = ours.get(label, (0.0, 0.0))
        ours[label] = (before[0] + found[0], before[1] + found[1])
    compared = 0
    for label, inclusive, exclusive in rows:
        if _EXTRA[name] and label == ".ctor(class System.Type)":
            # The one that is wrong: all of its time but a millisecond was never measured.
            assert float(exclusive) == pytest.approx(100 * _EXTRA[name] / total, abs=0.02)
            continue
        shares = tuple(f"{100 * part / total:.2f}" for part in ours[label.lower()])
        assert shares == (f"{float(inclusive):.2f}", f"{float(exclusive):.2f}"), label
        compared += 1
    assert compared == (9 if _EXTRA[name] else 10)


def official(name: str) -> dict[int, list[Interval]]:
    """By thread: from when to when (ms) it had which stack, without what the conversion adds."""
    with gzip.open(SHARED / f"oracle/{name}.speedscope.json.gz") as file:
        found = json.load(file)
    frames = [frame["name"] for frame in found["shared"]["frames"]]
    threads = {}
    for profile in found["profiles"]:
        number = re.search(r"\((\d+)\)", profile["name"])
        assert number is not None
        open_: list[str] = []
        intervals: list[Interval] = []
        last = profile["startValue"]
        for event in profile["events"]:
            if event["at"] != last:
                intervals.append((last, event["at"], tuple(f.lower() for f in open_ if not _ADDED.match(f))))
                last = event["at"]
            if event["type"] == "O":
                open_.append(frames[event["frame"]])
            else:
                assert open_.pop() == frames[event["frame"]]
        threads[int(number[1])] = joined(intervals)
    return threads


def joined(intervals: list[Interval]) -> list[Interval]:
    """Neighbours with the same stack are one. The official conversion's ends are sums of 32-bit floats and do not meet
    the next beginning: in between, for less than a microsecond or two, is half a stack, or none at the end."""
    found: list[Interval] = []
    for start, end, stack in intervals:
        if end - start < (0.001 if stack else 0.002):
            continue
        if found and found[-1][2] == stack:
            found[-1] = (found[-1][0], end, stack)
        else:
            found.append((start, end, stack))
    return found


def ours(file: Any) -> dict[int, list[Interval]]:
    """The same of a file that we wrote."""
    names = [frame["name"].lower() for frame in file["shared"]["frames"]]
    threads = {}
    for profile in file["profiles"]:
        now = profile["startValue"]
        intervals = []
        for stack, weight in zip(profile["samples"], profile["weights"], strict=True):
            intervals.append((now / 1e6, (now + weight) / 1e6, tuple(names[frame] for frame in stack)))
            now += weight
        assert now == profile["endValue"]
        threads[int(profile["name"].split()[1])] = joined(intervals)
    return threads


@needs_shared
@pytest.mark.parametrize("name", TRACES)
def test_speedscope_equals_the_official_conversion(name: str) -> None:
    """Every thread, every interval: the same stack, from and to the same microsecond; and so the sums by stack."""
    written = json.loads(speedscope(samples_of(name), RAW))
    check_speedscope(written)
    found, expected = ours(written), official(name)
    assert set(found) == set(expected)
    compared = 0
    for thread, intervals in expected.items():
        assert [stack for _, _, stack in found[thread]] == [stack for _, _, stack in intervals], thread
        for mine, theirs in zip(found[thread], intervals, strict=True):
            assert mine[:2] == pytest.approx(theirs[:2], abs=0.001), (thread, mine)
            compared += 1
    assert compared > 650
