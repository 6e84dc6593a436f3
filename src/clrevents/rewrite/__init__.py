"""Room 7: a trace in, another trace out: a part of it, or the whole without its secrets."""

from clrevents.rewrite.copy import Copied
from clrevents.rewrite.cut import cut

__all__ = ["Copied", "cut"]
