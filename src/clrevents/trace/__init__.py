"""A whole trace, ready for queries, and the types of its answers. Each name loads what it needs on first use."""

from functools import partial
from typing import TYPE_CHECKING

from clrevents._util.offered import late_name

if TYPE_CHECKING:
    from clrevents.decode.container.blocks import TraceInfo as TraceInfo
    from clrevents.decode.decoded import DecodedRows as DecodedRows
    from clrevents.decode.kinds import EventKey as EventKey
    from clrevents.decode.payload.payload_decoder import PayloadDecoder as PayloadDecoder
    from clrevents.decode.payload.payload_decoder import RawPayload as RawPayload
    from clrevents.decode.payload.payload_texts import FoundTexts as FoundTexts
    from clrevents.decode.payload.payload_texts import TextPlace as TextPlace
    from clrevents.decode.payload.payload_texts import TextWalk as TextWalk
    from clrevents.decode.payload.payload_texts import least_size as least_size
    from clrevents.decode.payload.payload_texts import text_walk as text_walk
    from clrevents.decode.selection import FilterOptions as FilterOptions
    from clrevents.decode.selection import Filters as Filters
    from clrevents.decode.selection import Moment as Moment
    from clrevents.decode.selection import Selector as Selector
    from clrevents.decode.selection import ThreadIds as ThreadIds
    from clrevents.decode.stream.losses import Loss as Loss
    from clrevents.errors import DamageError as DamageError
    from clrevents.trace.alignment import SameRun as SameRun
    from clrevents.trace.alignment import ShiftedRows as ShiftedRows
    from clrevents.trace.alignment import same_run as same_run
    from clrevents.trace.batch import Batch as Batch
    from clrevents.trace.batch import StreamTables as StreamTables
    from clrevents.trace.batch import rows_of as rows_of
    from clrevents.trace.decoder import Decoder as Decoder
    from clrevents.trace.decoder import StreamTally as StreamTally
    from clrevents.trace.decoder import learn_early as learn_early
    from clrevents.trace.decoder import observe as observe
    from clrevents.trace.decoder import pass_of as pass_of
    from clrevents.trace.decoder import stream_moment as stream_moment
    from clrevents.trace.decoder import tables_of as tables_of
    from clrevents.trace.event import Event as Event
    from clrevents.trace.event import EventRows as EventRows
    from clrevents.trace.event import label_list as label_list
    from clrevents.trace.named_stacks import EARLY_NAMES as EARLY_NAMES
    from clrevents.trace.passes import Order as Order
    from clrevents.trace.reported import Tabled as Tabled
    from clrevents.trace.scan import ThreadInfo as ThreadInfo
    from clrevents.trace.trace import ProcessLife as ProcessLife
    from clrevents.trace.trace import Trace as Trace
    from clrevents.trace.trace import modules_of as modules_of
    from clrevents.trace.trace import open as open
    from clrevents.trace.trace import passes_of as passes_of
    from clrevents.trace.trace import seeing_code as seeing_code
    from clrevents.trace.trace import tables_in_sql as tables_in_sql
    from clrevents.trace.trust import Trust as Trust

_HOMES = {
    "decode.container.blocks": ("TraceInfo",),
    "decode.decoded": ("DecodedRows",),
    "decode.kinds": ("EventKey",),
    "decode.payload.payload_decoder": ("PayloadDecoder", "RawPayload"),
    "decode.payload.payload_texts": ("FoundTexts", "TextPlace", "TextWalk", "least_size", "text_walk"),
    "decode.selection": ("FilterOptions", "Filters", "Moment", "Selector", "ThreadIds"),
    "decode.stream.losses": ("Loss",),
    "errors": ("DamageError",),
    "trace.alignment": ("SameRun", "ShiftedRows", "same_run"),
    "trace.batch": ("Batch", "StreamTables", "rows_of"),
    "trace.decoder": ("Decoder", "StreamTally", "learn_early", "observe", "pass_of", "stream_moment", "tables_of"),
    "trace.event": ("Event", "EventRows", "label_list"),
    "trace.named_stacks": ("EARLY_NAMES",),
    "trace.passes": ("Order",),
    "trace.reported": ("Tabled",),
    "trace.scan": ("ThreadInfo",),
    "trace.trace": ("ProcessLife", "Trace", "modules_of", "open", "passes_of", "seeing_code", "tables_in_sql"),
    "trace.trust": ("Trust",),
}
_HOME = {name: f"clrevents.{module}" for module, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME)
__getattr__ = partial(late_name, __name__, _HOME)
