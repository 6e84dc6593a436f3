"""`Reported`: how a trace is asked for answers, which rooms above give; `Tabled`: how these give their tables.

Type checkers read `reported.pyi`, which `tools/make.py` makes: there, a report's name gives the class of its answer,
and that with a table's name the class of its rows.
"""

from __future__ import annotations

from typing import Any

from clrevents._util.offered import offered
from clrevents.decode.selection import Moment


class Reported:
    """What `Trace` asks reports with."""

    __slots__ = ()

    def report(
        self,
        report: str | type[Any],
        /,
        *,
        start: Moment | None = None,
        end: Moment | None = None,
        process_id: int | None = None,
        **parameters: Any,
    ) -> Any:
        """Ask one report about the trace: `trace.report("gc")`. Reads the trace once.

        `report` is its name, or the class of its answer, which tells type checkers what comes back. `start`, `end` and
        `process_id` choose a part of the trace; `parameters` are the report's own, each an option of its sub-command.

        Raises ValueError for an unknown report, TypeError for an unknown parameter, TypeError or ValueError for a bad
        one or a bad moment, and what `table` raises for a parameter that selects events. A TraceError that ends the
        reading has the answer so far as its `report`.
        """
        window = {"start": start, "end": end, "process_id": process_id}
        return offered("report_of")(self, report, window, parameters)

    def reports(
        self,
        *names: str,
        start: Moment | None = None,
        end: Moment | None = None,
        process_id: int | None = None,
    ) -> dict[str, Any]:
        """Ask several reports (all of them, unless `names` says which) in one pass: their answers by name.

        Raises ValueError for an unknown report. A TraceError that ends the reading has the answers so far as its
        `report`.
        """
        window = {"start": start, "end": end, "process_id": process_id}
        answers: dict[str, Any] = offered("reports_of")(self, names, window)
        return answers

    def doctor(
        self,
        *rules: str,
        start: Moment | None = None,
        end: Moment | None = None,
        process_id: int | None = None,
    ) -> Any:
        """Ask what is wrong with the program, in one pass.

        `rules` are the names of rules (`"gc.*"` for a family), all of them by default; `start`, `end` and `process_id`
        choose a part of the trace. Returns a `Diagnosis`: iterate over it for the findings, worst first. Raises
        ValueError for an unknown rule. A TraceError that ends the reading has the diagnosis so far as its `report`.
        """
        window = {"start": start, "end": end, "process_id": process_id}
        return offered("doctor")(self, *rules, **window)

    def check(self) -> Any:
        """Decode every event and count how the payloads came out: a `CheckResult`.

        Continues after damage and does not raise for it, whatever `errors` the trace was opened with.
        """
        return offered("check")(self)


class Tabled:
    """What an answer gives its tables with."""

    def table(self, name: str | None = None) -> Any:
        """The table called `name`, or the first one. Raises KeyError for one that the report does not have."""
        known = [declared.name for declared in self.tables()]  # type: ignore[attr-defined]
        name = name or known[0]
        if name not in known:
            raise KeyError(f"no table {name!r}; there are {', '.join(known)}")
        rows = getattr(self, name)
        # For rules of the doctor, slow ones are made when one of these reads them.
        return rows() if callable(rows) else rows
