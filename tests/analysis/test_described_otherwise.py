"""Known events that a trace describes with other fields or types count as not recorded; so do marks of ours."""

from __future__ import annotations

import json
from typing import Any

import pytest

import clrevents
from clrevents.analysis.reports.pool.pool_events import ITEM_COLUMNS
from clrevents.analysis.reports.requests.request_parts import CONTINUATION_COLUMNS
from clrevents.analysis.reports.tasks.task_work import TASK_COLUMNS
from clrevents.analysis.reports.threads.thread_events import KEPT
from clrevents.decode.header_columns import HEADERS
from clrevents.events import ContentionStart_V2, ContentionStop_V1, GCStart_V2, MethodJittingStarted_V1
from clrevents.schema.codes import TypeCode
from clrevents.schema.registry import RUNTIME, provider_name
from clrevents.schema.self_described import SELF_DESCRIBED
from clrevents.testing.builder import TraceBuilder
from project_files import SHARED

STRING, INT32, INT64 = TypeCode.STRING, TypeCode.INT32, TypeCode.INT64
COUNT_AS_TEXT = {"Count": (STRING, "first"), "Depth": (STRING, "gen0")}


def opened(trace: TraceBuilder) -> clrevents.Trace:
    return clrevents.open(trace.build())


def notes(answer: Any) -> dict[str, str]:
    return {note.id: note.message for note in answer.notes}


def test_an_event_with_other_types_is_not_recorded_and_both_reports_and_check_say_so() -> None:
    trace = TraceBuilder().thread(1).event(ContentionStart_V2(0, 0, 1, 2, 3))
    trace.described(RUNTIME, "GCStart", COUNT_AS_TEXT, id=1)
    with opened(trace) as found:
        gc, locks = found.report("gc"), found.report("locks")
        checked = found.check()
        (event,) = found.events("GCStart")
    assert gc.coverage == "none"
    assert (gc.metrics["count"].value, gc.metrics["count"].reason) == (None, "not recorded")
    assert gc.notes[0].message == "not recorded: collections (no usable GCStart events)"
    assert notes(gc)["unfit-events"] == (
        f"1 event ({RUNTIME}/GCStart) cannot be used: the trace describes other fields, or their payloads are damaged; "
        "they count as not recorded"
    )
    # Who does not ask for it does not mention it, and what the trace says of it stays readable.
    assert "unfit-events" not in notes(locks)
    assert event.payload["Count"] == "first"
    assert [(problem.kind, problem.severity) for problem in checked.problems] == [("schema-drift", "note")]
    trusted = "2 events; complete: nothing lost, nothing damaged"
    assert checked.verdict == f"{trusted}; 1 known event is described differently"


def test_an_event_described_twice_counts_where_it_fits_and_is_a_lower_bound() -> None:
    trace = TraceBuilder().thread(1).event(GCStart_V2(1, 0, 0, 0, 0, 0))
    trace.described(RUNTIME, "GCStart", COUNT_AS_TEXT, id=1).event(GCStart_V2(2, 0, 0, 0, 0, 0))
    with opened(trace) as found:
        gc = found.report("gc")
    count = gc.metrics["count"]
    assert (count.value, count.low, count.high) == (2, 2, None)
    assert gc.coverage == "partial"
    assert notes(gc)["unfit-events"].startswith("1 event ")


def test_fields_in_another_order_with_one_more_are_read_by_their_names() -> None:
    """The registry's layout does not fit the payload, the description has all that is known."""
    fields = {
        "LockOwnerThreadID": (TypeCode.UINT64, 7),
        "Extra": (STRING, "more"),
        "ContentionFlags": (TypeCode.UINT8, 0),
        "ClrInstanceID": (TypeCode.UINT16, 0),
        "LockID": (TypeCode.UINT64, 5),
        "AssociatedObjectID": (TypeCode.UINT64, 6),
    }
    trace = TraceBuilder().thread(1).described(RUNTIME, "ContentionStart", fields, id=81)
    with opened(trace.event(ContentionStop_V1(0, 0, 0.0))) as found:
        (row,) = found.report("locks").contentions
    assert (row.lock_id, row.owner_thread_id) == (5, 7)


@pytest.mark.parametrize(
    ("name", "fields", "told"),
    [
        ("Cut", {"StartNs": (STRING, "0"), "EndNs": (INT64, 5)}, True),
        ("Cut", {"StartNs": (INT64, 5)}, True),
        ("Cut", {"StartNs": (INT64, 5), "EndNs": (INT64, 2)}, False),
        ("Joined", {"ProcessID": (INT64, 5)}, True),
        ("Joined", dict.fromkeys(("ProcessID", "ShiftNs", "UncertaintyNs", "Compared", "Contradicting", "ErrorNs",
                                  "StartNs", "StoppedNs", "EndNs"), (INT64, -1)), False),
    ],
    ids=["text", "half", "backwards", "one-field", "negative"],
)  # fmt: skip
def test_a_mark_that_cannot_be_is_no_mark_and_is_noted(name: str, fields: dict[str, Any], told: bool) -> None:
    trace = TraceBuilder().thread(1).sample(0x1000).described("clrevents", name, fields, id=2)
    with opened(trace) as found:
        answer = found.report("threads")
        kinds = [problem.kind for problem in found.check().problems]
    assert not {"cut", "joined"} & notes(answer).keys()
    assert notes(answer)["unfit-events"].startswith(f"1 event (clrevents/{name}) cannot be used")
    assert answer.coverage == "partial"
    # What the values say, only a report can judge.
    assert kinds == ["bad-mark"] * told


def test_a_module_without_its_assembly_names_nothing() -> None:
    trace = TraceBuilder().thread(1).sample(0x1004)
    trace.described(RUNTIME, "DomainModuleLoad", {"ModuleID": (INT64, 7)}, id=151).method_load("N", "M", address=0x1000)
    with opened(trace) as found:
        assert [module.module_id for module in found.methods.modules] == []
        assert [method.name for method in found.methods] == ["M"]


@pytest.mark.parametrize("code", [INT64, TypeCode.INT32, TypeCode.UINT64], ids=lambda code: code.name)
def test_a_module_is_known_whatever_sign_its_id_is_described_with(code: TypeCode) -> None:
    module_id = (1 << 64) - 5
    fields = {
        "ModuleID": (code, module_id if code == TypeCode.UINT64 else -5),
        "Extra": (STRING, ""),
        "AssemblyID": (TypeCode.UINT64, 5),
        "ModuleFlags": (TypeCode.UINT32, 8),
        "Reserved1": (TypeCode.UINT32, 0),
        "ModuleILPath": (STRING, "/app/App.dll"),
        "ModuleNativePath": (STRING, ""),
        "ClrInstanceID": (TypeCode.UINT16, 0),
    }
    trace = TraceBuilder().thread(1).described(RUNTIME, "ModuleLoad", fields, id=152)
    with opened(trace.event(MethodJittingStarted_V1(1, module_id, 6, 10, "N.T", "M", "()", 0))) as found:
        (module,) = found.report("modules").modules
    assert (module.name, module.module_id, module.jitted) == ("App", module_id, 1)


FINDS = ("known-module-without-assembly", "lie-one-of-each", "broadcast-30", "cut-text")


@pytest.mark.shared
@pytest.mark.parametrize("name", FINDS)
def test_finds_are_answered(name: str) -> None:
    with clrevents.open(SHARED / "finds" / f"{name}.nettrace") as trace:
        for answer in trace.reports().values():
            json.dumps(answer.to_dict(), allow_nan=False)
        trace.doctor()
        kinds = {problem.kind for problem in trace.check().problems}
    assert kinds == {"bad-mark" if name == "cut-text" else "schema-drift"}


@pytest.mark.parametrize("columns", [TASK_COLUMNS, ITEM_COLUMNS, CONTINUATION_COLUMNS, KEPT])
def test_every_field_that_is_read_of_a_self_described_event_has_a_known_type(columns: Any) -> None:
    for selector, names in columns.items():
        provider, _, event = selector.partition("/")
        known = SELF_DESCRIBED.get((provider_name(provider), event))
        if known is not None:
            assert {*names} - {*HEADERS} <= {field.name for field in known}, selector
