"""`Reported`: how a trace asks one report.

Type checkers read `reported.pyi`, which `tools/make.py` makes: there, a report's name gives the class of its answer.
"""

from __future__ import annotations

import importlib
from typing import Any, Final

from clrevents.decode.selection import Moment

REPORTS: Final = "clrevents.analysis.framework.run.catalogue"
"""Found by its name when a report is requested: it is above this room and reads traces."""


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
        return importlib.import_module(REPORTS).report_of(self, report, window, parameters)
