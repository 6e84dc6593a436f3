"""Traces in, another trace out: a part of it, all of it without its secrets, or two recordings of one run as one."""

from clrevents.rewrite.copy import Copied
from clrevents.rewrite.cut import CONTEXT, cut
from clrevents.rewrite.field_rules import FieldRule
from clrevents.rewrite.join import JoinResult, join
from clrevents.rewrite.redact import Redacted, redact, redaction_rules
from clrevents.rewrite.replacement import RedactionCounts
from clrevents.rewrite.word_search import FoundWord

__all__ = [
    "CONTEXT",
    "Copied",
    "FieldRule",
    "FoundWord",
    "JoinResult",
    "Redacted",
    "RedactionCounts",
    "cut",
    "join",
    "redact",
    "redaction_rules",
]
