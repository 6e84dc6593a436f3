"""A whole trace that can be asked questions, and the words its answers are made of."""

from clrevents.decode.batch import Batch
from clrevents.decode.blocks import TraceInfo
from clrevents.decode.losses import Loss
from clrevents.decode.payloads import RawPayload
from clrevents.decode.select import Selector, Threads
from clrevents.decode.when import Moment
from clrevents.errors import DamageError
from clrevents.trace.report import KindReport, Report, ThreadInfo
from clrevents.trace.trace import Trace, open

__all__ = [
    "Batch",
    "DamageError",
    "KindReport",
    "Loss",
    "Moment",
    "RawPayload",
    "Report",
    "Selector",
    "ThreadInfo",
    "Threads",
    "Trace",
    "TraceInfo",
    "open",
]
