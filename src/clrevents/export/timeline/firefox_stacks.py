"""Samples → the tables of stacks, frames and functions that all threads of a Firefox profile share.

The format: https://github.com/firefox-devtools/profiler/blob/main/src/types/profile.ts. Knows no thread.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from clrevents.analysis.gathering.groups import Interned
from clrevents.analysis.gathering.merged import is_own
from clrevents.analysis.shared.samples.samples import Samples
from clrevents.export.look import Look, frame_names

OWN, OTHERS, NAMELESS = 0, 1, 2
"""Categories of frames: the program's own, the framework's and runtime's, and those without a name."""


FirefoxTexts: TypeAlias = Interned[str]
"""The table of strings: a place for each."""


class FirefoxStacks:
    """`of` has for each stack of the samples its place in the table of stacks."""

    def __init__(self, samples: Samples, look: Look, texts: FirefoxTexts) -> None:
        known: Interned[tuple[int, int]] = Interned()
        self.of: list[int | None] = []
        for stack in range(len(samples.offsets) - 1):
            place = -1
            for frame in reversed(samples.frame_ids(stack)):
                place = known[place, frame]
            self.of.append(None if place < 0 else place)
        self._stacks = list(known)
        self._frames = [
            (texts[name], frame) for name, frame in zip(frame_names(samples, look), samples.frames, strict=True)
        ]
        self._texts = texts

    def tables(self) -> dict[str, Any]:
        """All that is shared but the strings."""
        count = len(self._frames)
        modules = {
            module: place for place, module in enumerate(dict.fromkeys(f.module for _, f in self._frames if f.module))
        }
        categories = [NAMELESS if f.reason else OWN if is_own(f) else OTHERS for _, f in self._frames]
        none = [None] * count
        return {
            "stackTable": {
                "frame": [frame for _, frame in self._stacks],
                # How far back the caller is; 0 if there is none.
                "prefixOffset": [0 if caller < 0 else n - caller for n, (caller, _) in enumerate(self._stacks)],
                "length": len(self._stacks),
            },
            "frameTable": {
                "address": [-1] * count,
                "lib": [-1] * count,
                "inlineDepth": [0] * count,
                "category": categories,
                "subcategory": [0] * count,
                "func": list(range(count)),
                **dict.fromkeys(("nativeSymbol", "innerWindowID", "line", "column", "originalLocation"), none),
                "length": count,
            },
            "funcTable": {
                "name": [name for name, _ in self._frames],
                "isJS": [False] * count,
                "relevantForJS": [False] * count,
                "resource": [modules.get(frame.module, -1) for _, frame in self._frames],
                **dict.fromkeys(("source", "lineNumber", "columnNumber", "originalLocation"), none),
                "length": count,
            },
            "resourceTable": {
                "name": [self._texts[module] for module in modules],
                "host": [None] * len(modules),
                # 1 is a library.
                "type": [1] * len(modules),
                "length": len(modules),
            },
            "nativeSymbols": _empty("libIndex", "address", "name", "functionSize"),
            "sources": _empty("id", "filename", "startLine", "startColumn", "sourceMapURL", "content"),
            "sourceLocationTable": _empty("source", "line", "column"),
        }


def _empty(*columns: str) -> dict[str, Any]:
    return {**{column: [] for column in columns}, "length": 0}
