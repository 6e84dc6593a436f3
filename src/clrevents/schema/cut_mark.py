"""The event that marks a trace as a part of another: `StartNs` and `EndNs`, the bounds of the part (the end exclusive).

Times are nanoseconds since the session started; an open side is the least or the greatest number of 64 bits.
"""

from __future__ import annotations

from typing import Final

CUT: Final = ("clrevents", "Cut")
"""Its provider and name. It describes itself, so that no reader needs to know it."""
