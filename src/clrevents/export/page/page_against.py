"""The other trace of a page: its stacks, and how far to trust them. Read once, so that it can be closed before."""

from __future__ import annotations

from typing import Final

import attrs

from clrevents._util.units import duration_text
from clrevents.export.page.page_flames import PageStacks, compared_names
from clrevents.export.page.page_head import page_trust
from clrevents.export.page.page_texts import shown_text
from clrevents.trace import Trace, passes_of

_DOUBTS: Final = 3


@attrs.frozen(eq=False)
class PageAgainst:
    """What a page needs of the trace that its own is compared with. `doubts` are sentences on what is wrong with it."""

    stacks: PageStacks
    duration_ns: int
    doubts: tuple[str, ...]

    @classmethod
    def of(cls, trace: Trace) -> PageAgainst:
        """That of an open trace, which nothing is asked of afterwards."""
        stacks = PageStacks.of(trace)
        lines = [text for severity, text in page_trust(trace, {}, None)["lines"] if severity != "info"]
        more = [f"and {len(lines) - _DOUBTS:,} more"] if len(lines) > _DOUBTS else []
        return cls(stacks, passes_of(trace).scan(raising=False).duration_ns, (*lines[:_DOUBTS], *more))

    def fact(self, stacks: PageStacks) -> tuple[str, str]:
        """What is compared and what is not, and whether this trace can be trusted."""
        both = compared_names(stacks, self.stacks)
        parts = [
            f"{self.stacks.name}, {duration_text(self.duration_ns)}",
            f"flame graphs of {', '.join(both) or 'nothing'}",
        ]
        for name in stacks.samples:
            if name not in both:
                parts.append(f"not of {name}, which it has no stacks of")
        for name in self.stacks.samples:
            if name not in both:
                parts.append(f"not of {name}, which only it has stacks of")
        return "compared with", shown_text("; ".join([*parts, *self.doubts]))
