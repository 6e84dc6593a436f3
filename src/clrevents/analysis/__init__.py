"""Answers that need more than one event: reports on what the runtime did, durations, weighted stacks.

The public names live here; each loads what it needs when it is first used. Reports are asked of a trace, as
`Trace.report` says, by name or by the class of the answer, which is in the report's folder:
`from clrevents.analysis.reports.gc import GcReport`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from clrevents._util.offered import late_name

if TYPE_CHECKING:
    from clrevents.analysis.about.pairing import spans as spans
    from clrevents.analysis.framework.model.answer import Answer as Answer
    from clrevents.analysis.framework.model.declaration import WindowOptions as WindowOptions
    from clrevents.analysis.framework.run.feeding import ReportFeed as ReportFeed
    from clrevents.analysis.framework.run.feeding import feed_reports as feed_reports
    from clrevents.analysis.framework.vocabulary.answer_values import Metric as Metric
    from clrevents.analysis.framework.vocabulary.answer_values import Note as Note
    from clrevents.analysis.framework.vocabulary.answer_values import Question as Question
    from clrevents.analysis.framework.vocabulary.report_table import ReportTable as ReportTable
    from clrevents.analysis.reports.heap import heap_snapshots as heap_snapshots
    from clrevents.analysis.reports.heap.heap_snapshot import HeapSnapshot as HeapSnapshot
    from clrevents.analysis.reports.heap.heap_tables import heap_growth as heap_growth
    from clrevents.analysis.shared.samples.calltree import hottest as hottest
    from clrevents.analysis.shared.samples.leaf_states import add_artefact as add_artefact
    from clrevents.analysis.shared.samples.leaf_states import add_leaf as add_leaf
    from clrevents.analysis.shared.samples.samples import Samples as Samples
    from clrevents.analysis.shared.samples.samples import read_samples as read_samples

_HOMES = {
    "framework.model.answer": ("Answer",),
    "framework.vocabulary.answer_values": ("Metric", "Note", "Question"),
    "framework.run.feeding": ("ReportFeed", "feed_reports"),
    "framework.model.declaration": ("WindowOptions",),
    "framework.vocabulary.report_table": ("ReportTable",),
    "reports.heap.heap_snapshot": ("HeapSnapshot",),
    "reports.heap": ("heap_snapshots",),
    "reports.heap.heap_tables": ("heap_growth",),
    "about.pairing": ("spans",),
    "shared.samples.leaf_states": ("add_artefact", "add_leaf"),
    "shared.samples.samples": ("Samples", "read_samples"),
    "shared.samples.calltree": ("hottest",),
}
_HOME = {name: f"{__name__}.{module}" for module, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME)
__getattr__ = partial(late_name, __name__, _HOME)


def __dir__() -> list[str]:
    return __all__
