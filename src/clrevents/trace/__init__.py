"""A whole trace, ready for queries, and the types of its answers."""

from clrevents.decode.container.blocks import TraceInfo
from clrevents.decode.decoded import DecodedRows
from clrevents.decode.kinds import EventKey
from clrevents.decode.payload.payload_decoder import PayloadDecoder, RawPayload
from clrevents.decode.selection import FilterOptions, Filters, Moment, Selector, ThreadIds
from clrevents.decode.stream.losses import Loss
from clrevents.errors import DamageError
from clrevents.trace.alignment import SameRun, ShiftedRows, same_run
from clrevents.trace.batch import Batch, StreamTables, rows_of
from clrevents.trace.decoder import (
    Decoder,
    StreamTally,
    learn_early,
    observe,
    pass_of,
    stream_moment,
    tables_of,
)
from clrevents.trace.event import Event, EventRows, label_list
from clrevents.trace.named_stacks import EARLY_NAMES
from clrevents.trace.passes import Order
from clrevents.trace.reported import Tabled
from clrevents.trace.scan import ThreadInfo
from clrevents.trace.trace import ProcessLife, Trace, modules_of, open, passes_of, seeing_code, tables_in_sql
from clrevents.trace.trust import Trust

__all__ = [
    "EARLY_NAMES",
    "Batch",
    "DamageError",
    "DecodedRows",
    "Decoder",
    "Event",
    "EventKey",
    "EventRows",
    "FilterOptions",
    "Filters",
    "Loss",
    "Moment",
    "Order",
    "PayloadDecoder",
    "ProcessLife",
    "RawPayload",
    "SameRun",
    "Selector",
    "ShiftedRows",
    "StreamTables",
    "StreamTally",
    "Tabled",
    "ThreadIds",
    "ThreadInfo",
    "Trace",
    "TraceInfo",
    "Trust",
    "label_list",
    "learn_early",
    "modules_of",
    "observe",
    "open",
    "pass_of",
    "passes_of",
    "rows_of",
    "same_run",
    "seeing_code",
    "stream_moment",
    "tables_in_sql",
    "tables_of",
]
