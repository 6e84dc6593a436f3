"""Awaits that have not resumed, and which of them resumes when several methods await one task.

The event of a resumption names only the awaited task. Knows neither threads nor times.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from clrevents.analysis.gathering.groups import NONE

TASK, CONTINUATION, AWAIT = range(3)
"""The kinds of work."""
NOBODY: Final = -1
"""The creator of whatever code outside all tasks made."""
UNKNOWN: Final = -2


class WorkPieces:
    """Columns of `TaskWork` while they grow."""

    def __init__(self) -> None:
        self.kind: list[int] = []
        self.id: list[int] = []
        self.created: list[int] = []
        self.started: list[int] = []
        self.ended: list[int] = []
        self.parent: list[int] = []

    def make(self, kind: int, id: int, created: int, parent: int) -> int:
        """One more; its number."""
        self.kind.append(kind)
        self.id.append(id)
        self.created.append(created)
        self.started.append(NONE)
        self.ended.append(NONE)
        self.parent.append(parent)
        return len(self.kind) - 1


class OpenAwaits:
    """Awaits that have not resumed, and resumptions that could be any of several awaits of one task.

    The awaiting method is known by its task: a resumption belongs to it if it then awaits something else itself, or
    completes that task.

    `surplus` are the tasks of which more resumes than awaits; `missing` says whether events may be missing between a
    row and now, so that another await may be, too.
    """

    def __init__(self, pieces: WorkPieces, surplus: frozenset[int], missing: Callable[[int], bool]) -> None:
        self._pieces = pieces
        self._surplus = surplus
        self._missing = missing
        self.open: dict[int, dict[int, int]] = {}
        """By the awaited task, and the task of the method that awaits."""
        self.shared: dict[int, dict[int, None]] = {}
        """What resumed, by the awaited task."""
        self.same: dict[int, int] = {}
        """What turned out to be the resumption of an await."""
        self.queued: dict[int, int] = {}
        """Where the continuation of an await was queued."""
        self._unqueued: dict[int, dict[int, None]] = {}
        """Those of the open ones that may yet be queued, by the awaited task."""

    def begin(self, task: int, method: int, piece: int) -> None:
        """A method awaits a task."""
        self.open.setdefault(task, {})[method or -piece - 1] = piece
        self._unqueued.setdefault(task, {})[piece] = None

    def queue(self, task: int, row: int) -> int | None:
        """A continuation of the task is queued: the await that it belongs to, None if it may be one of several."""
        waiting = self._unqueued.pop(task, {})
        if len(waiting) != 1:
            return None
        if self._missing(0):
            # An await that began before this one may be missing, whose continuation it is.
            return None
        (piece,) = waiting
        self.queued[piece] = row
        return piece

    def resume(self, task: int) -> int:
        """What resumes when the task is done: an await, or a piece of its own where several may be meant."""
        waiting = self.open.get(task)
        if waiting and len(waiting) == 1 and task not in self._surplus and not self.shared.get(task):
            (method,) = waiting
            if not self._missing(self._pieces.created[waiting[method]]):
                piece = waiting.pop(method)
                self._unqueued.get(task, {}).pop(piece, None)
                return piece
        piece = self._pieces.make(AWAIT, task, NONE, UNKNOWN)
        if waiting:
            self.shared.setdefault(task, {})[piece] = None
        return piece

    def identify(self, piece: int, method: int) -> None:
        """This piece is now known to be of the method with this task, if that awaited what it resumed from."""
        task = self._pieces.id[piece]
        waiting, shared = self.open.get(task), self.shared.get(task)
        if not waiting or not shared or piece not in shared or method not in waiting:
            return
        self._join(piece, method, waiting, shared)
        if len(waiting) == len(shared) == 1 and task not in self._surplus:
            (method,), (piece,) = waiting, shared
            if not self._missing(self._pieces.created[waiting[method]]):
                self._join(piece, method, waiting, shared)

    def _join(self, piece: int, method: int, waiting: dict[int, int], shared: dict[int, None]) -> None:
        pieces = self._pieces
        if pieces.created[waiting[method]] < pieces.started[piece]:
            found = self.same[piece] = waiting.pop(method)
            self._unqueued.get(pieces.id[piece], {}).pop(found, None)
            del shared[piece]
