"""What fell inside requests: by activity, by whose code a thread ran, by time; and what merely happened meanwhile."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from built_requests import HOSTING, HTTP, INT, TEXT, Web
from built_waits import signaled, start, stop, task_done, task_wait, waiting
from clrevents.analysis.reports.requests import RequestsReport, request_parts
from clrevents.analysis.reports.requests.request_parts import UNACCOUNTED, TimedPart, cut_parts, filled
from clrevents.encode.values import NO_GUID
from clrevents.events import (
    ExceptionThrown_V1,
    ExceptionThrownFlags,
    GCRestartEEBegin_V1,
    GCRestartEEEnd_V1,
    GCSuspendEEBegin_V1,
    GCSuspendEEEnd_V1,
    GCSuspendEEReason,
)
from clrevents.schema.registry import TPL

NOBODY = (99).to_bytes(16, "little")


def inside(report: RequestsReport) -> list[tuple[object, ...]]:
    return [(row.request_row, row.kind, row.evidence, row.start_ns, row.end_ns) for row in report.inside]


def parts(report: RequestsReport, row: int = 0) -> list[tuple[str, int]]:
    return [(part.part, part.duration_ns) for part in report.parts if part.request_row == row]


def part_ended(web: Web, task: int) -> None:
    web.builder.described(TPL, "TaskWaitContinuationComplete", {"TaskID": (INT, task)}, id=13)


def pause(web: Web, began: int, ended: int, reason: int = 1, thread: int = 99) -> None:
    web.builder.thread(thread)
    web.builder.at(began).event(GCSuspendEEBegin_V1(GCSuspendEEReason(reason), 0, 0))
    web.builder.at(began).event(GCSuspendEEEnd_V1(0)).at(ended).event(GCRestartEEBegin_V1(0))
    web.builder.at(ended).event(GCRestartEEEnd_V1(0)).thread(1)


def test_waits_lie_in_the_request_of_their_id() -> None:
    web = Web()
    served = web.serve("/a", "A")
    web.builder.activity(served[1]).at(100).event(start()).at(150).event(stop(50))
    web.builder.at(200).event(waiting()).at(260).event(signaled())
    task_wait(web.builder.at(300), 5, 1)
    task_done(web.builder.at(370), 5)
    web.builder.at(400)
    web.served(served)
    report = web.asked()
    assert inside(report) == [
        (0, "lock", "activity", 100, 150),
        (0, "handle", "activity", 200, 260),
        (0, "task", "activity", 300, 370),
    ]
    (row,) = report.requests
    assert (row.locks, row.lock_ns, row.waits, row.blocked_ns, row.nearby) == (1, 50, 2, 130, 0)
    assert parts(report) == [
        ("unaccounted", 100),
        ("lock", 50),
        ("unaccounted", 50),
        ("blocked", 60),
        ("unaccounted", 40),
        ("blocked", 70),
        ("unaccounted", 40),
    ]


def continued(*, id: bytes = NO_GUID, resumed_by: int = 8, waiter: int = 8, lose: bool = False) -> RequestsReport:
    """A request awaits task 5, and thread 8 then goes on with it; a lock there has this id."""
    web = Web()
    mine = web.client("/a")
    task_wait(web.builder.activity(mine), 5, 2)
    web.builder.activity(NO_GUID).thread(resumed_by).at(100)
    task_done(web.builder, 5)
    if lose:
        web.builder.lose(3)
    web.builder.activity(id).thread(waiter).at(110).event(start()).at(130).event(stop(20)).activity(NO_GUID)
    web.builder.thread(resumed_by)
    part_ended(web, 5)
    web.builder.thread(waiter).at(200).event(start()).at(210).event(stop(10)).thread(1)
    web.done(mine, 200)
    return web.asked()


def test_without_an_id_it_is_the_code_that_the_thread_ran() -> None:
    report = continued()
    assert inside(report) == [(0, "lock", "continuation", 110, 130)]
    assert report.requests[0].nearby == 1, "the lock after the end of that code"
    assert [(row.kind, row.start_ns, row.end_ns) for row in report.nearby] == [("lock", 200, 210)]
    assert parts(report) == [("unaccounted", 10), ("await", 90), ("unaccounted", 10), ("lock", 20), ("unaccounted", 90)]


@pytest.mark.parametrize(
    "case",
    [{"id": NOBODY}, {"waiter": 9}, {"lose": True}],
    ids=["an id that no request has", "another thread", "events lost since the code began"],
)
def test_what_is_not_certain_is_in_no_request(case: dict[str, Any]) -> None:
    report = continued(**case)
    assert inside(report) == []
    assert (report.requests[0].locks, report.requests[0].nearby) == (0, 2)
    assert "lock" not in {part for part, _ in parts(report)}


def test_of_two_awaits_of_one_task_nobody_knows_which_resumed() -> None:
    web = Web()
    ids = [web.client("/a"), web.client("/b")]
    for mine in ids:
        task_wait(web.builder.activity(mine), 5, 2)
    for thread in (8, 9):
        task_done(web.builder.activity(NO_GUID).thread(thread), 5)
        web.builder.event(start()).event(stop(1))
        part_ended(web, 5)
    web.builder.thread(1)
    for mine in ids:
        web.done(mine, 200)
    report = web.asked()
    assert inside(report) == []
    assert {part.part for part in report.parts} == {"unaccounted"}


def test_code_inside_of_other_code_is_its_own() -> None:
    web = Web()
    ids = [web.client("/a"), web.client("/b")]
    for task, mine in enumerate(ids, 5):
        task_wait(web.builder.activity(mine), task, 2)
    web.builder.activity(NO_GUID).thread(8)
    for task in (5, 6):
        task_done(web.builder, task)
    web.builder.at(1000).event(start()).at(1001).event(stop(1))
    part_ended(web, 6)
    web.builder.at(2000).event(start()).at(2001).event(stop(1))
    part_ended(web, 5)
    web.builder.thread(1)
    for mine in ids:
        web.done(mine, 200)
    assert inside(web.asked()) == [(1, "lock", "continuation", 1000, 1001), (0, "lock", "continuation", 2000, 2001)]


def test_a_wait_that_outlives_its_request_counts_until_that_ends() -> None:
    web = Web()
    mine = web.client("/a")
    child = web.begin(HTTP, "ResponseContent", None, mine)
    web.builder.thread(8).activity(child).at(100).event(start()).thread(1).at(150)
    web.done(mine, 200)
    web.builder.thread(8).activity(child).at(300).event(stop(200)).event(
        ExceptionThrown_V1("Late", "", 0, 0, ExceptionThrownFlags(0), 0)
    )
    report = web.asked()
    assert inside(report) == [(0, "lock", "activity", 100, 150)]
    assert (report.requests[0].lock_ns, report.requests[0].exceptions) == (50, 0)


def test_pauses_are_in_all_requests_of_their_time() -> None:
    web = Web()
    ids = [web.client("/a")]
    pause(web, 50, 90)
    pause(web, 95, 97, reason=0)
    web.builder.at(100)
    ids.append(web.client("/b"))
    pause(web, 150, 250)
    web.builder.at(200)
    ids.append(web.client("/c"))
    for id, at in zip(ids, (210, 400, 410), strict=True):
        web.builder.at(at)
        web.done(id, 200)
    report = web.asked()
    assert [(row.gc_pauses, row.gc_ns) for row in report.requests] == [(2, 100), (1, 100), (1, 50)]
    assert inside(report) == [
        (0, "gc", "time", 50, 90),
        (0, "gc", "time", 150, 210),
        (1, "gc", "time", 150, 250),
        (2, "gc", "time", 200, 250),
    ]
    assert parts(report) == [("unaccounted", 50), ("gc", 40), ("unaccounted", 60), ("gc", 60)]


def test_where_too_many_pauses_fell_in_requests_they_are_only_summed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_parts, "MOST_PAUSES", 1)
    web = Web()
    mine = web.client("/a")
    pause(web, 50, 90)
    pause(web, 150, 190)
    web.builder.at(200)
    web.done(mine, 200)
    report = web.asked()
    assert (report.requests[0].gc_pauses, report.requests[0].gc_ns) == (2, 80)
    assert inside(report) == []
    assert parts(report) == [("unaccounted", 200)]
    assert "too-many-pauses" in {note.id for note in report.notes}


def test_what_was_not_recorded_is_unknown() -> None:
    web = Web()
    web.done(web.client("/a"), 200)
    (row,) = web.asked().requests
    assert (
        row.gc_pauses,
        row.gc_ns,
        row.locks,
        row.lock_ns,
        row.waits,
        row.blocked_ns,
        row.exceptions,
        row.nearby,
    ) == (None,) * 8


def test_a_request_that_goes_on_met_no_known_pauses() -> None:
    web = Web()
    web.client("/a")
    pause(web, 50, 90)
    (row,) = web.asked().requests
    assert (row.gc_pauses, row.gc_ns) == (None, None)


def by_chance(rng: Random) -> Web:
    """Requests with parts, waits, exceptions, awaits and pauses in an order that chance made, some of them lost."""
    web = Web()
    open_: list[tuple[str, str, bytes]] = []
    for _ in range(60):
        web.builder.thread(rng.choice((1, 2, 3))).wait(rng.choice((0, 5, 70)))
        ids = [NO_GUID, *(id for _, _, id in open_)]
        match rng.randrange(9):
            case 0 | 1:
                kind = rng.choice(
                    [(HTTP, "Request"), (HTTP, "RequestHeaders"), (HTTP, "ResponseHeaders"), (HOSTING, "Request")]
                )
                fields = {"pathAndQuery": (TEXT, "/a")} if kind == (HTTP, "Request") else None
                open_.append((*kind, web.begin(*kind, fields, rng.choice(ids))))
            case 2 if open_:
                web.end(*open_.pop(rng.randrange(len(open_))))
            case 3:
                web.builder.activity(rng.choice(ids)).event(start() if rng.random() < 0.5 else stop(3))
            case 4:
                web.builder.activity(rng.choice(ids)).event(waiting() if rng.random() < 0.5 else signaled())
            case 5:
                task_wait(web.builder.activity(rng.choice(ids)), rng.randrange(3), rng.choice((1, 2)))
            case 6:
                task_done(web.builder.activity(NO_GUID), rng.randrange(3))
            case 7:
                part_ended(web, rng.randrange(3))
            case 8:
                reason = GCSuspendEEReason(rng.choice((0, 1, 6)))
                web.builder.thread(99).event(GCSuspendEEBegin_V1(reason, 0, 0)).wait(rng.choice((0, 40)))
                web.builder.event(GCRestartEEEnd_V1(0))
        if rng.random() < 0.05:
            web.builder.lose(2)
    return web


@pytest.mark.parametrize("seed", range(30))
def test_whatever_happens_parts_tile_requests_and_what_is_inside_is_inside(seed: int) -> None:
    report = by_chance(Random(seed)).asked()
    requests = {row.row: row for row in report.requests}
    tiles: dict[int, list[tuple[int, int]]] = {}
    unaccounted: Counter[int] = Counter()
    for part in report.parts:
        tiles.setdefault(part.request_row, []).append((part.start_ns, part.end_ns))
        unaccounted[part.request_row] += part.duration_ns if part.part == UNACCOUNTED else 0
    for row in requests.values():
        mine = tiles.get(row.row, [])
        edges = [row.start_ns, *(end for _, end in mine)]
        assert [start for start, _ in mine] == edges[:-1]
        assert row.end_ns is None or edges[-1] == row.end_ns
        assert row.unaccounted_ns is None or row.unaccounted_ns == unaccounted[row.row]
        assert row.gc_ns is None or row.duration_ns is None or 0 <= row.gc_ns <= row.duration_ns
    for one in report.inside:
        around = requests[one.request_row]
        assert around.start_ns <= one.start_ns
        assert around.end_ns is None or (one.start_ns <= around.end_ns and (one.end_ns or 0) <= around.end_ns)
    counts = Counter((one.request_row, one.kind) for one in report.inside)
    for row in requests.values():
        assert row.gc_pauses in (None, counts[row.row, "gc"])
        assert row.locks in (None, counts[row.row, "lock"])
        assert row.waits in (None, sum(counts[row.row, kind] for kind in ("handle", "monitor", "task")))


pieces = st.lists(st.tuples(st.sampled_from("abc"), st.integers(-3, 33), st.integers(-3, 33)), max_size=8)


@given(st.lists(pieces, max_size=3), st.integers(1, 30))
def test_parts_of_several_kinds_add_up_and_take_only_what_others_leave(
    layers: list[list[tuple[str, int, int]]], end: int
) -> None:
    found = [TimedPart(UNACCOUNTED, 0, end)]
    wanted = [UNACCOUNTED] * end
    for layer in layers:
        timed = [TimedPart(part, low, high) for part, low, high in layer]
        found = filled(found, cut_parts(0, end, timed))
        mine = [UNACCOUNTED] * end
        for part in sorted(timed, key=lambda part: (part.start, part.end, part.part)):
            for moment in range(max(part.start, 0), min(part.end, end)):
                if mine[moment] == UNACCOUNTED:
                    mine[moment] = part.part
        wanted = [b if a == UNACCOUNTED else a for a, b in zip(wanted, mine, strict=True)]
    assert all(part.start < part.end for part in found)
    assert [part.part for part in found for _ in range(part.start, part.end)] == wanted
    assert [part.start for part in found] == [0, *(part.end for part in found[:-1])]
    assert found[-1].end == end
