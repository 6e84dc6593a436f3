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
    duration_so_far,
    known_so_far,
    learn_early,
    observe,
    occurred_in,
    stopped_so_far,
    stream_moment,
    stream_of,
    tables_of,
)
from clrevents.trace.event import EventRows, label_list
from clrevents.trace.named_stacks import EARLY_NAMES
from clrevents.trace.passes import Order
from clrevents.trace.reported import Tabled
from clrevents.trace.scan import ThreadInfo
from clrevents.trace.trace import ProcessLife, Trace, modules_of, open, passes_of, tables_in_sql
from clrevents.trace.trust import Trust

__all__ = [
    "EARLY_NAMES",
    "Batch",
    "DamageError",
    "DecodedRows",
    "Decoder",
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
    "duration_so_far",
    "known_so_far",
    "label_list",
    "learn_early",
    "modules_of",
    "observe",
    "occurred_in",
    "open",
    "passes_of",
    "rows_of",
    "same_run",
    "stopped_so_far",
    "stream_moment",
    "stream_of",
    "tables_in_sql",
    "tables_of",
]
