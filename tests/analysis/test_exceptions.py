"""The exceptions report: what real programs say of themselves, and the odd cases in small built traces."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from clrevents._util.varying import message_pattern
from clrevents.analysis.gathering.groups import FAR_NS
from clrevents.analysis.reports.exceptions import ExceptionsReport
from clrevents.analysis.reports.exceptions.exception_build import Handler, accepted, handler_name
from clrevents.events import (
    ExceptionCatchStart_V0,
    ExceptionCatchStop_V0,
    ExceptionFilterStart_V0,
    ExceptionFilterStop_V0,
    ExceptionFinallyStart_V0,
    ExceptionFinallyStop_V0,
    ExceptionThrown_V0,
    ExceptionThrown_V1,
    ExceptionThrownFlags,
    ExceptionThrownStop_V0,
)
from clrevents.testing.builder import TraceBuilder
from project_files import SHARED, fixture, without_shared
from reading import asked
from thrown_program import ThrowingProgram

answered = partial(asked, "exceptions")

NESTED, RETHROWN = ExceptionThrownFlags.Nested, ExceptionThrownFlags.ReThrown
NONE = ExceptionThrownFlags(0)
DISPATCH, MAIN, OUTER, INNER, CAPTURE, AWAITER, MOVE = (0x1000 * n for n in range(1, 8))
METHODS = {
    DISPATCH: ("System.Runtime.EH", "DispatchEx"),
    MAIN: ("App", "Main"),
    OUTER: ("App", "Outer"),
    INNER: ("App", "Inner"),
    CAPTURE: ("System.Runtime.ExceptionServices.ExceptionDispatchInfo", "Throw"),
    AWAITER: ("System.Runtime.CompilerServices.TaskAwaiter", "ThrowForNonSuccess"),
    MOVE: ("App+<Later>d__1", "MoveNext"),
}


class Script:
    """The events of exceptions in the order of a program; frames are methods, innermost first."""

    def __init__(self, managed: bool = True, **options: Any) -> None:
        self.builder = TraceBuilder(**options)
        self._managed = managed
        self._built: bytes | None = None
        for address, (owner, name) in METHODS.items():
            self.builder.method_load(owner, name, address=address, size=0x800)

    def throw(
        self, *frames: int, type: str = "App.Bad", message: str = "bad", flags: ExceptionThrownFlags = NONE
    ) -> Script:
        stack = [frame + 4 for frame in ((DISPATCH, *frames) if self._managed else frames)]
        address = 0 if self._managed else 0x7F00
        self.builder.event(ExceptionThrown_V1(type, message, address, 0x80131500, flags, 1), stack)
        return self

    def catch(self, *frames: int, at: int = 0x100) -> Script:
        return self._begin(ExceptionCatchStart_V0, frames, frames, at)

    def finally_(self, *frames: int, above: tuple[int, ...] = (), at: int = 0x80) -> Script:
        return self._begin(ExceptionFinallyStart_V0, frames, (*above, *frames), at)

    def filter(self, *frames: int, above: tuple[int, ...] = (), at: int = 0x90) -> Script:
        return self._begin(ExceptionFilterStart_V0, frames, (*above, *frames), at)

    def end(self, *kinds: str) -> Script:
        records = {
            "catch": ExceptionCatchStop_V0,
            "filter": ExceptionFilterStop_V0,
            "finally": ExceptionFinallyStop_V0,
            "all": ExceptionThrownStop_V0,
        }
        for kind in kinds:
            self.builder.event(records[kind]())
        return self

    def caught(self, *frames: int, at: int = 0x100) -> Script:
        return self.catch(*frames, at=at).end("catch", "all")

    def report(self, **options: Any) -> ExceptionsReport:
        if self._built is None:
            self._built = self.builder.rundown().build()
        return answered(self._built, **options)

    def _begin(self, record: Any, frames: tuple[int, ...], stack: tuple[int, ...], at: int) -> Script:
        name = "void [App] {}::{}()".format(*METHODS[frames[0]])
        self.builder.event(record(frames[0] + at, frames[0], name, 1), [frame + 4 for frame in stack])
        return self


def real(name: str, **options: Any) -> ExceptionsReport:
    path = SHARED / name
    if not path.exists():
        pytest.skip(without_shared(name))
    return answered(path, **options)


def counts(report: ExceptionsReport) -> tuple[int | float | None, ...]:
    return tuple(report.metrics[name].value for name in ("thrown", "rethrown", "nested", "filtered"))


def outcomes(report: ExceptionsReport) -> list[tuple[str | None, str | None]]:
    return [(one.message, one.outcome) for one in report.exceptions]


BY_GROUP = {
    ("StormException", 17, 0, 0, 17),
    ("System.ArgumentNullException", 16, 16, 0, 0),
    ("System.FormatException", 0, 0, 16, 0),
    ("System.IO.InvalidDataException", 16, 0, 0, 0),
}


def test_a_program_says_the_same_of_itself() -> None:
    """The figures are those that the program counted while it ran: see `Scenarios.Exceptions`."""
    report = answered(fixture("net10-exceptions"))
    assert counts(report) == (49, 16, 16, 17)
    assert {(g.type, g.thrown, g.rethrown, g.nested, g.filtered) for g in report.groups} == BY_GROUP
    methods = {(g.throwing_method, g.catching_method) for g in report.groups}
    assert methods == {("Scenarios.Exceptions(Random)",) * 2}
    assert outcomes(report)[:2] == [("storm 0", "caught"), ("Value cannot be null.", "caught")]
    assert [one.outcome for one in report.exceptions] == ["caught"] * 65
    assert report.facts.rethrows_by == "handlers"
    first = report.exceptions[0]
    assert (first.dispatch_ns, first.handling_ns, first.duration_ns) == (87_602, 5_217, 92_819)
    assert first.hresult == "0x80131500"
    # A third of the loop's rounds throws one inside of a handler: it lies in that of the round before it.
    nested = [one for one in report.exceptions if one.nested]
    assert all(one.nested_in_row == one.row - 1 for one in nested)
    assert {(m.message, m.count, m.distinct) for m in report.messages} == {
        ("storm #", 17, 17),
        ("Value cannot be null.", 16, 1),
        ("inner #", 16, 16),
        ("data #", 16, 16),
    }


@pytest.mark.parametrize(
    ("name", "by"),
    [
        ("net11-exceptions-31", "handlers"),
        ("net10-exceptions-11", "handlers"),
        ("net8-exceptions-44", "events"),
        ("net31-exceptions-44", "events"),
    ],
)
@pytest.mark.shared
def test_every_runtime_says_the_same_of_a_program(name: str, by: str) -> None:
    report = real(f"scenarios/{name}.nettrace.gz")
    truth = json.loads((SHARED / f"scenarios/{name}.truth.json").read_text())
    assert counts(report) == tuple(truth[key] for key in ("thrown", "rethrown", "nested", "filtered"))
    assert report.facts.rethrows_by == by
    by_type = {g.type: g for g in report.groups}
    assert by_type["System.ArgumentNullException"].rethrown == truth["rethrown"]
    assert by_type["System.FormatException"].nested == truth["nested"]
    assert by_type["StormException"].filtered == truth["filtered"]
    assert {(g.throwing_method, g.catching_method) for g in report.groups} == {("Scenarios.Exceptions(Random)",) * 2}


def test_names_are_chosen() -> None:
    raw = answered(fixture("net10-exceptions"), raw=True).groups[0]
    assert raw.throwing_method == raw.catching_method == "Scenarios.Exceptions(class System.Random)"


@pytest.mark.parametrize("managed", [True, False])
def test_a_rethrow_is_counted_once(managed: bool) -> None:
    """`throw;` raises an event up to .NET 8; later it shows by the next handler only."""
    script = Script(managed).throw(INNER, OUTER, MAIN).catch(INNER, OUTER, MAIN)
    if not managed:
        script.throw(INNER, OUTER, MAIN, flags=RETHROWN)
    script.finally_(OUTER, MAIN, above=(INNER,)).end("finally").caught(MAIN)
    report = script.report()
    assert counts(report) == (1, 1, 0, 0)
    (only,) = report.exceptions
    assert (only.throwing_method, only.catching_method) == ("App.Inner()", "App.Main()")
    assert (only.outcome, only.rethrown, only.finallys) == ("caught", 1, 1)
    # One event after the other, 1 µs each: what comes after the first handler is handling on every runtime.
    assert (only.dispatch_ns, only.duration_ns) == (1_000, only.handling_ns + 1_000)


def test_a_nested_exception_has_its_own_time() -> None:
    script = Script().throw(INNER, MAIN, message="first").catch(MAIN, at=0x200)
    script.throw(INNER, MAIN, message="second", flags=NESTED).filter(INNER, MAIN, at=0x90).end("filter")
    script.caught(INNER, MAIN, at=0xA0).end("catch", "all")
    report = script.report()
    first, second = report.exceptions
    assert counts(report) == (1, 0, 1, 1)
    assert (second.nested, second.nested_in_row, second.filters, second.filtered) == (True, first.row, 1, 1)
    assert (second.dispatch_ns, second.handling_ns, second.duration_ns) == (3_000, 2_000, 5_000)
    assert (first.dispatch_ns, first.handling_ns, first.duration_ns) == (1_000, 3_000, 9_000)
    assert report.metrics["dispatch_total"].value == 4_000
    assert report.metrics["handling_total"].value == 5_000
    assert {g.dispatch_ns for g in report.groups} == {1_000, 3_000}


def test_one_that_leaves_a_handler_replaces_what_it_handled() -> None:
    """Such as `catch (Exception e) { throw new Wrapped(e); }`: the first one never ends by an event of its own."""
    script = Script().throw(INNER, OUTER, MAIN, message="first").catch(OUTER, MAIN)
    script.throw(OUTER, MAIN, message="wrapped", flags=NESTED).caught(MAIN)
    script.throw(INNER, MAIN, message="next").caught(MAIN)
    report = script.report()
    assert outcomes(report) == [("first", "replaced"), ("wrapped", "caught"), ("next", "caught")]
    first, wrapped, after = report.exceptions
    assert first.end_ns == wrapped.start_ns + 1_000
    assert (wrapped.nested_in_row, after.nested, after.nested_in_row) == (first.row, False, None)
    assert counts(report) == (2, 0, 1, 0)


def test_handlers_of_one_method_lie_in_order() -> None:
    """A handler before the running one is inside of it, one after it is around it unless both end."""
    around = Script().throw(MAIN, message="first").catch(MAIN, at=0x200)
    around.throw(MAIN, message="second", flags=NESTED).caught(MAIN, at=0x300)
    assert outcomes(around.report()) == [("first", "replaced"), ("second", "caught")]
    inside = Script().throw(MAIN, message="first").catch(MAIN, at=0x200)
    inside.throw(MAIN, message="second", flags=NESTED).caught(MAIN, at=0x100).end("catch", "all")
    assert outcomes(inside.report()) == [("first", "caught"), ("second", "caught")]
    # Since .NET 11 it may lie after it: that the first one ends tells.
    after = Script().throw(MAIN, message="first").catch(MAIN, at=0x200)
    after.throw(MAIN, message="second", flags=NESTED).caught(MAIN, at=0x300).end("catch", "all")
    assert outcomes(after.report()) == [("first", "caught"), ("second", "caught")]
    assert (*counts(after.report()), after.report().metrics["unmatched"].value) == (1, 0, 1, 0, 0)


def test_one_that_leaves_a_filter_ends_there() -> None:
    script = Script().throw(INNER, OUTER, MAIN, message="first").filter(OUTER, MAIN, above=(DISPATCH, INNER))
    script.throw(INNER, OUTER, MAIN, message="in the filter", flags=NESTED).end("filter").caught(MAIN)
    report = script.report()
    assert outcomes(report) == [("first", "caught"), ("in the filter", "rejected")]
    assert counts(report) == (1, 0, 1, 0)
    # The same without the event that says that the filter ended.
    script = Script().throw(INNER, OUTER, MAIN, message="first").filter(OUTER, MAIN, above=(DISPATCH, INNER))
    script.throw(INNER, OUTER, MAIN, message="in the filter", flags=NESTED).caught(MAIN)
    assert outcomes(script.report()) == [("first", "caught"), ("in the filter", "rejected")]


def test_an_await_throws_what_was_captured() -> None:
    later = (MOVE, MAIN)
    script = Script().throw(INNER, *later, message="no 1").caught(*later)
    script.builder.thread(2)
    script.throw(CAPTURE, AWAITER, *later, message="no 1").catch(*later)
    # The continuation runs inside of the handler.
    script.throw(CAPTURE, AWAITER, *later, message="no 1", flags=NESTED).caught(*later, at=0x80).end("catch", "all")
    # A task that was cancelled makes its awaiter throw a new one.
    script.throw(AWAITER, *later, type="System.Threading.Tasks.TaskCanceledException", message="cancelled")
    script.caught(*later)
    report = script.report()
    assert counts(report) == (2, 0, 0, 0)
    assert report.metrics["rethrown_by_await"].value == 2
    assert report.metrics["rethrown_by_await"].evidence == "inferred"
    first, second, third, cancelled = report.exceptions
    assert [one.by_await for one in report.exceptions] == [False, True, True, False]
    assert (second.repeats_row, third.repeats_row, cancelled.repeats_row) == (first.row, second.row, None)
    assert third.nested
    assert first.catching_method == "App.Later(...)"
    groups = {(g.type, g.throwing_method): (g.thrown, g.rethrown_by_await) for g in report.groups}
    assert groups["App.Bad", "App.Inner()"] == (1, 0)
    assert groups["App.Bad", "System.Runtime.ExceptionServices.ExceptionDispatchInfo.Throw()"] == (0, 2)
    mine = script.report(my_code=True)
    assert {g.throwing_method for g in mine.groups} == {"App.Inner()", "App.Later(...)"}


def test_an_exception_that_was_never_thrown_is_captured_too() -> None:
    """`TaskCompletionSource.SetException` takes one that nobody threw."""
    report = Script().throw(CAPTURE, AWAITER, MAIN).caught(MAIN).report()
    (only,) = report.exceptions
    assert (only.by_await, only.repeats_row) == (True, None)


def test_the_trace_may_end_first() -> None:
    script = Script().throw(INNER, MAIN, message="handled").catch(MAIN)
    script.throw(INNER, MAIN, message="flying", flags=NESTED)
    script.builder.thread(2)
    script.throw(INNER, MAIN, message="alone")
    script.builder.thread(3)
    script.throw(INNER, MAIN, message="done").catch(MAIN).end("catch")
    report = script.report()
    assert outcomes(report) == [
        ("handled", "handling"),
        ("flying", "in_flight"),
        ("alone", "in_flight"),
        ("done", "caught"),
    ]
    assert [one.end_ns is None for one in report.exceptions] == [True, True, True, False]
    assert report.metrics["in_flight"].value == 2
    assert {(o.outcome, o.count) for o in report.outcomes} == {("in_flight", 2), ("handling", 1), ("caught", 1)}
    assert {g.uncaught for g in report.groups if g.catching_method is None} == {2}


def test_the_trace_may_begin_later() -> None:
    script = Script().catch(MAIN).end("catch", "all")
    script.builder.thread(2)
    script.end("all").throw(INNER, MAIN).caught(MAIN).end("all")
    report = script.report()
    assert [(one.start_ns is None, one.type, one.outcome) for one in report.exceptions] == [
        (True, None, "caught"),
        (True, None, "caught"),
        (False, "App.Bad", "caught"),
    ]
    assert report.exceptions[0].catching_method == "App.Main()"
    assert counts(report) == (1, 0, 0, 0)
    assert (report.metrics["without_throw"].value, report.metrics["unmatched"].value) == (2, 1)


def test_lost_events_mark_what_they_spoil() -> None:
    script = Script()
    script.builder.thread(7)
    script.throw(INNER, MAIN, message="before").caught(MAIN).throw(INNER, MAIN, message="spoilt").catch(MAIN)
    script.builder.lose(2)
    script.throw(INNER, MAIN, message="after").caught(MAIN)
    script.builder.thread(8)
    script.throw(INNER, MAIN, message="elsewhere").caught(MAIN)
    report = script.report()
    assert outcomes(report) == [
        ("before", "caught"),
        ("spoilt", "unseen"),
        ("after", "caught"),
        ("elsewhere", "caught"),
    ]
    lossy = {one.message: one.lossy for one in report.exceptions}
    assert (lossy["before"], lossy["spoilt"], lossy["elsewhere"]) == (False, True, False)
    # A lost throw may have been of any group.
    assert all(group.lossy for group in report.groups)
    assert any(note.id == "losses" for note in report.notes)


def test_handlers_that_were_not_recorded_are_unknown() -> None:
    """At level 2 there are only throws."""
    report = Script().throw(INNER, MAIN).throw(INNER, MAIN, flags=NESTED).report()
    assert report.coverage == "partial"
    assert counts(report) == (1, None, 1, None)
    assert {one.outcome for one in report.exceptions} == {None}
    assert report.metrics["dispatch_total"].value is None
    assert [note.record for note in report.notes] == ["Microsoft-Windows-DotNETRuntime:0x8000:4"]
    # Up to .NET 8 throws tell of `throw;` themselves.
    older = Script(managed=False).throw(INNER, MAIN).throw(INNER, MAIN, flags=RETHROWN).report()
    assert older.metrics["rethrown"].value == 1


def test_oldest_throws_have_no_details() -> None:
    script = Script()
    script.builder.event(ExceptionThrown_V0(), [INNER + 4, MAIN + 4])
    report = script.caught(MAIN).report()
    (only,) = report.exceptions
    assert (only.type, only.message, only.hresult, only.inner) == (None, None, None, None)
    assert (only.throwing_method, only.outcome, counts(report)) == ("App.Inner()", "caught", (1, 0, 0, 0))
    assert report.facts.rethrows_by is None


def test_without_names_the_dispatcher_is_not_the_thrower() -> None:
    """Since .NET 9 the innermost frame is the dispatcher's, whether or not the trace names it."""
    builder = TraceBuilder()
    builder.event(ExceptionThrown_V1("Bad", "", 0, 1, NONE, 1), [0x10, 0x20, 0x30])
    builder.event(
        ExceptionCatchStart_V0(0x30, 1, "void [App] App::Main(class [System.Runtime]System.Random)", 1), [0x30]
    )
    report = answered(builder.build())
    (group,) = report.groups
    assert group.throwing_method is not None
    assert "0x20" in group.throwing_method
    assert group.catching_method == "App.Main(Random)"


def test_throws_at_the_end_of_64_bits_are_in_the_last_stretch() -> None:
    """The stretches grow until there are few; the last is that of a year from the start."""
    script = Script().throw(MAIN, message="early")
    script.builder.at((1 << 63) - 2_000_000)
    report = script.throw(MAIN, message="late").report()
    assert sum(stretch.thrown for stretch in report.timeline) == 2
    last = list(report.timeline)[-1]
    assert last.thrown == 1
    assert last.start_ns <= FAR_NS < last.end_ns


@pytest.mark.parametrize("managed", [True, False])
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 1 << 32))
def test_random_programs_are_followed(managed: bool, seed: int) -> None:
    program = ThrowingProgram(seed, managed)
    data = program.run()
    assume(program.thrown)
    report = answered(data)
    assert len(report.exceptions) == len(program.thrown)
    for one, truth in zip(report.exceptions, program.thrown, strict=True):
        found = (one.message, one.outcome, one.nested, one.filters, one.finallys, one.start_ns)
        assert found == (
            *(truth.message, truth.outcome, truth.nested, truth.filters, truth.finallys),
            truth.start * 1_000,
        )
        if truth.outcome != "rejected":
            # The last `throw;` of one that leaves a filter shows in no event of newer runtimes.
            assert one.rethrown == truth.rethrown, truth
        if truth.outcome != "replaced":
            assert (one.end_ns, one.catching_method) == (truth.end * 1_000, truth.caught_by), truth
        assert one.filtered <= one.filters
    whole = report.metrics["dispatch_total"].value + report.metrics["handling_total"].value
    assert whole == sum(one.dispatch_ns + (one.handling_ns or 0) for one in report.exceptions)
    assert report.metrics["unmatched"].value == report.metrics["without_throw"].value == 0
    assert whole == sum(g.dispatch_ns + g.handling_ns for g in report.groups)


def test_filters_are_told_by_their_place() -> None:
    filter, own, other = Handler(1, 0x10), Handler(1, 0x20), Handler(1, 0x30)
    assert accepted([(filter, own), (filter, other), (None, other)], [filter], [True] * 3) == [True, False, False]
    # Without the filter's own handler the next one looks like it, unless it was also entered without the filter.
    assert accepted([(filter, other)], [filter], [True]) == [True]
    assert accepted([(filter, other), (None, other)], [filter], [True, True]) == [False, False]
    assert accepted([(filter, other), (None, other)], [filter], [True, False]) == [True, False]
    # Another filter, or another method, lies between.
    assert accepted([(filter, other)], [filter, Handler(1, 0x18)], [True]) == [False]
    assert accepted([(filter, Handler(2, 0x20))], [filter], [True]) == [False]


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("storm 17", "storm #"),
        ("user 3f2504e0-4f89-11d3-9a0c-0305e82c3301 at 10:20:30.5", "user # at #"),
        ("0xDEADBEEF is not 1,024.5", "# is not #"),
        ("commit 9fceb02d0ae598e95dc970b74767f19372d61af8", "commit #"),
        ("decade facade", "decade facade"),
        ("", ""),
    ],
)
def test_messages_are_folded(text: str, pattern: str) -> None:
    assert message_pattern(text) == pattern


@given(st.text())
def test_folding_a_message_again_changes_nothing(text: str) -> None:
    folded = message_pattern(text)
    assert message_pattern(folded) == folded


@pytest.mark.parametrize(
    ("text", "name", "raw"),
    [
        (
            "void [App] App.Shop::Buy(int32,class [System.Runtime]System.Random)",
            "App.Shop.Buy(int, Random)",
            "App.Shop.Buy(int32,class [System.Runtime]System.Random)",
        ),
        ("instance void [App] Shop+<Buy>d__2::MoveNext()", "Shop.Buy(...)", "Shop+<Buy>d__2.MoveNext()"),
        ("no method at all", "no method at all", "no method at all"),
        ("void Shop::Buy()", "void Shop::Buy()", "void Shop::Buy()"),
    ],
)
def test_handlers_are_named_as_other_methods_are(text: str, name: str, raw: str) -> None:
    assert handler_name(text) == name
    assert handler_name(text, raw=True) == raw
