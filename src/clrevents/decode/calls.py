"""The calls on one stream, each of which must end or leave the stream unusable.

Knows only whether a call that had begun was left by an exception, such as KeyboardInterrupt; not what calls do.
"""

from __future__ import annotations

from types import TracebackType

from clrevents.errors import TraceError


class Calls:
    """A context manager around each call, which may be nested. Once interrupted, entering it raises RuntimeError.

    A TraceError is an end of its own and interrupts nothing, nor does any exception before `begin`.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._begun = False
        self._interrupted_by: str | None = None

    def begin(self) -> None:
        """From here on the call changes the stream."""
        self._begun = True

    def __enter__(self) -> None:
        if self._interrupted_by is not None:
            raise RuntimeError(
                f"an earlier call was interrupted by {self._interrupted_by}, and events may be missing; "
                "start again with a new decoder"
            )
        if not self._depth:
            self._begun = False
        self._depth += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._depth -= 1
        if kind is not None and self._begun and not issubclass(kind, TraceError):
            self._interrupted_by = kind.__name__
