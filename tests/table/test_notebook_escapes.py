"""Tables in a notebook: names and texts from a trace neither end a cell nor carry controls."""

from __future__ import annotations

import clrevents
from clrevents.testing.builder import TraceBuilder


def test_texts_of_a_trace_are_made_safe() -> None:
    data = TraceBuilder().described("App", "Odd", {"<b>\x1b[2J": (18, "</td>\x1b[31m\u202e")}).build()
    with clrevents.open(data) as trace:
        shown = trace.table("Odd")._repr_html_()
    assert "&lt;b&gt;\\x1b[2J" in shown
    assert "&lt;/td&gt;\\x1b[31m\\u202e" in shown
    assert "\x1b" not in shown
