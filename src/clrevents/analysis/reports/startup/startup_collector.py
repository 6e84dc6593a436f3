"""The collector of the startup report: keeps the columns of all its events until the end, for only there is it known
where the program's Main is."""

from __future__ import annotations

from clrevents.analysis.framework.model.collector import Collector, Context, ReportChunk
from clrevents.analysis.framework.model.declaration import parameter, parameters
from clrevents.analysis.framework.model.kept import Kept
from clrevents.analysis.reports.startup.course import Start
from clrevents.analysis.reports.startup.startup_answer import startup_answer
from clrevents.analysis.reports.startup.startup_events import KEPT
from clrevents.analysis.reports.startup.startup_rows import StartupReport


@parameters
class StartupParameters:
    """How the report shows names."""

    raw: bool = parameter(False, "Names as the runtime writes them.")


class StartupCollector(Collector[StartupReport]):
    """Keeps the events that a start is made of."""

    selectors = tuple(KEPT)
    stacks = True

    def __init__(self, parameters: StartupParameters) -> None:
        self._raw = parameters.raw
        self._kept = Kept({name: columns for name, columns in KEPT.items() if columns is not None})

    def take(self, chunk: ReportChunk) -> None:
        self._kept.take(chunk)

    def finish(self, context: Context) -> StartupReport:
        start = Start(self._kept.all(self.selectors, context.nothing), context, self._raw)
        return startup_answer(start)
