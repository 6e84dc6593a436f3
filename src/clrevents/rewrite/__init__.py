"""ROOM 7: a trace in, another trace out: a part of it, or all of it without its secrets."""

from clrevents.rewrite.copy import Copied
from clrevents.rewrite.cut import CONTEXT, cut
from clrevents.rewrite.redact import RULES, Redacted, Rule, redact

__all__ = ["CONTEXT", "RULES", "Copied", "Redacted", "Rule", "cut", "redact"]
