"""Read the trace files that .NET writes into typed records.

    import clrevents
    with clrevents.open("app.nettrace") as trace:
        for event in trace.events("MethodLoadVerbose"):
            print(event.time_ns, event.payload.MethodName)

The public names live here, and the modules with more of them: `types` to declare events, `events` with all classes,
`analysis`, `rewrite`, `errors`, `testing`. Each loads what it needs on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from clrevents._util.offered import late_name, offer
from clrevents._util.version import __version__ as __version__

if TYPE_CHECKING:
    from clrevents import analysis as analysis
    from clrevents import diagnostics as diagnostics
    from clrevents import errors as errors
    from clrevents import events as events
    from clrevents import rewrite as rewrite
    from clrevents import testing as testing
    from clrevents import types as types
    from clrevents._util.process import tune_process as tune_process
    from clrevents.analysis.about.checking import CheckResult as CheckResult
    from clrevents.analysis.about.checking import PayloadCounts as PayloadCounts
    from clrevents.analysis.compare.compare import compare as compare
    from clrevents.analysis.compare.compare import measure as measure
    from clrevents.analysis.compare.measured import save_measured as save_measured
    from clrevents.decode.container.blocks import TraceInfo as TraceInfo
    from clrevents.decode.kernels.engine import engine as engine
    from clrevents.decode.kinds import EventKey as EventKey
    from clrevents.decode.payload.payload_decoder import RawPayload as RawPayload
    from clrevents.decode.selection import FilterOptions as FilterOptions
    from clrevents.decode.selection import Moment as Moment
    from clrevents.decode.selection import Selector as Selector
    from clrevents.decode.selection import ThreadIds as ThreadIds
    from clrevents.decode.stream.losses import Loss as Loss
    from clrevents.errors import AmbiguousEventError as AmbiguousEventError
    from clrevents.errors import DamageError as DamageError
    from clrevents.errors import LimitError as LimitError
    from clrevents.errors import Limits as Limits
    from clrevents.errors import PayloadError as PayloadError
    from clrevents.errors import Problem as Problem
    from clrevents.errors import SourceError as SourceError
    from clrevents.errors import TraceError as TraceError
    from clrevents.errors import TraceWarning as TraceWarning
    from clrevents.errors import UnknownEventError as UnknownEventError
    from clrevents.errors import UnreadableError as UnreadableError
    from clrevents.export.page.comparison_page import write_comparison as write_comparison
    from clrevents.export.page.report_page import write_report as write_report
    from clrevents.fleet import Traces as Traces
    from clrevents.fleet import open_many as open_many
    from clrevents.schema.event import asdict as asdict
    from clrevents.symbols.frame import Frame as Frame
    from clrevents.symbols.methods import Methods as Methods
    from clrevents.table.table import Table as Table
    from clrevents.trace import ThreadInfo as ThreadInfo
    from clrevents.trace import Trace as Trace
    from clrevents.trace import open as open
    from clrevents.trace.batch import Batch as Batch
    from clrevents.trace.decoder import Decoder as Decoder
    from clrevents.trace.event import Event as Event
    from clrevents.trace.named_stacks import Stacks as Stacks
    from clrevents.trace.trace import sample_trace as sample_trace


_HOMES = {
    "analysis.about.checking": ("CheckResult", "PayloadCounts"),
    "analysis.compare.compare": ("compare", "measure"),
    "analysis.compare.measured": ("save_measured",),
    "decode.container.blocks": ("TraceInfo",),
    "trace.batch": ("Batch",),
    "trace.event": ("Event",),
    "symbols.frame": ("Frame",),
    "decode.kernels.engine": ("engine",),
    "decode.payload.payload_decoder": ("RawPayload",),
    "decode.kinds": ("EventKey",),
    "decode.selection": ("FilterOptions", "Moment", "Selector", "ThreadIds"),
    "decode.stream.losses": ("Loss",),
    "errors": (
        "AmbiguousEventError",
        "DamageError",
        "LimitError",
        "Limits",
        "PayloadError",
        "Problem",
        "SourceError",
        "TraceError",
        "TraceWarning",
        "UnknownEventError",
        "UnreadableError",
    ),
    "export.page.comparison_page": ("write_comparison",),
    "export.page.report_page": ("write_report",),
    "trace.decoder": ("Decoder",),
    "fleet": ("Traces", "open_many"),
    "schema.event": ("asdict",),
    "symbols.methods": ("Methods",),
    "trace.named_stacks": ("Stacks",),
    "table.table": ("Table",),
    "trace": ("ThreadInfo", "Trace", "open"),
    "_util.process": ("tune_process",),
    "trace.trace": ("sample_trace",),
}
_HOME = {name: f"clrevents.{module}" for module, names in _HOMES.items() for name in names}
offer(
    {
        "clrevents.analysis.about.checking": ("check",),
        "clrevents.analysis.doctor.diagnosing": ("doctor",),
        "clrevents.analysis.framework.run.asking": ("report_of", "reports_of"),
        "clrevents.analysis.framework.run.feeding": ("feed_reports",),
        "clrevents.analysis.shared.samples.samples": ("read_samples",),
        "clrevents.export.page.shown": ("show_answer", "show_samples", "write_samples"),
    }
)
"""What rooms below ask of those above them."""
_MODULES = ("analysis", "diagnostics", "errors", "events", "rewrite", "testing", "types")
"""Those that users import from."""

__all__ = ["__version__", *sorted(_HOME)]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"clrevents.{name}")
    return late_name(__name__, _HOME, name)


def __dir__() -> list[str]:
    return sorted((*__all__, *_MODULES))
