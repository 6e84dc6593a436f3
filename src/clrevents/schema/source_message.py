"""What an EventSource says of itself in its event 0: that it cannot be recorded, and why.

A class with a mistake sends this one event and no other. Knows the runtime's two sentences, and no traces.
"""

from __future__ import annotations

from typing import Final

SOURCE_MESSAGE: Final = "EventSourceMessage"
"""The event, which every EventSource has; its only field is `message`, a text."""
_HEADS: Final = ("ERROR: Exception in Command Processing for", "ERROR: Exception during construction of")
_LONGEST: Final = 500


def source_error(provider: str, message: str) -> str | None:
    """Why this provider could not be recorded, as a sentence; None for a message about something else."""
    for head in _HEADS:
        start = f"{head} EventSource {provider}: "
        if message.startswith(start):
            reason = message.removeprefix(start)
            if len(reason) > _LONGEST:
                reason = f"{reason[:_LONGEST]}\u2026"
            return f"{provider} could not be recorded: {reason}"
    return None


def text_of(payload: bytes) -> str:
    """The message, from the bytes of the event."""
    return payload.decode("utf-16-le", "replace").partition("\0")[0]
