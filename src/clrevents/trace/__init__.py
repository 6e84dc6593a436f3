"""A whole trace, ready for queries, and the types of its answers."""

from clrevents.decode.container.blocks import TraceInfo
from clrevents.decode.decoded import DecodedRows
from clrevents.decode.moment import Moment
from clrevents.decode.payload.payload_decoder import PayloadDecoder, RawPayload
from clrevents.decode.selection import FilterOptions, Filters, Selector, ThreadIds
from clrevents.decode.stream.losses import Loss
from clrevents.errors import DamageError
from clrevents.trace.batch import Batch
from clrevents.trace.batch_tables import BatchTables, tables_of_registry
from clrevents.trace.decoder import Decoder, duration_so_far, occurred_in, stream_moment, stream_of
from clrevents.trace.event import label_list
from clrevents.trace.event_rows import EventRows
from clrevents.trace.report import KindReport, Report, ThreadInfo
from clrevents.trace.stream_chunks import StreamChunks
from clrevents.trace.stream_tally import StreamTally
from clrevents.trace.trace import Trace, open, passes_of, tables_in_sql

__all__ = [
    "Batch",
    "BatchTables",
    "DamageError",
    "DecodedRows",
    "Decoder",
    "EventRows",
    "FilterOptions",
    "Filters",
    "KindReport",
    "Loss",
    "Moment",
    "PayloadDecoder",
    "RawPayload",
    "Report",
    "Selector",
    "StreamChunks",
    "StreamTally",
    "ThreadIds",
    "ThreadInfo",
    "Trace",
    "TraceInfo",
    "duration_so_far",
    "label_list",
    "occurred_in",
    "open",
    "passes_of",
    "stream_moment",
    "stream_of",
    "tables_in_sql",
    "tables_of_registry",
]
