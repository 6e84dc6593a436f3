"""What the texts and the flags of a stub's event say: what the stub is for, and whether its code is whole.

Knows the words of the runtime; reads no event.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

REVERSE, COM, PRECOMPILED, DELEGATE, VARARG, CALLI, STRUCT = (1 << bit for bit in range(7))
"""Bits of StubFlags; the enum itself is the event family's."""

_CUT: Final = "..."
_OPENS: Final = re.compile(r"^// (\w+) \{", re.MULTILINE)
_CLOSES: Final = re.compile(r"^// \} (\w+)", re.MULTILINE)


def kind_text(flags: int) -> str:
    """What a stub is for, in words: `P/Invoke`, `delegate of a native function`, `managed delegate for native code`."""
    reverse = bool(flags & REVERSE)
    if flags & STRUCT:
        text = "struct"
    elif flags & COM:
        text = "call from COM" if reverse else "call of COM"
    elif flags & DELEGATE:
        text = "managed delegate for native code" if reverse else "delegate of a native function"
    elif flags & CALLI:
        text = "call of a function pointer"
    else:
        text = "reverse P/Invoke" if reverse else "P/Invoke"
    if flags & VARARG:
        text += " with varargs"
    return f"{text} (precompiled)" if flags & PRECOMPILED else text


def is_cut(texts: Iterable[str], il: str) -> bool:
    """Whether one of a stub's texts ends early, or a section of its code begins and does not end."""
    return any(text.endswith(_CUT) for text in texts) or Counter(_OPENS.findall(il)) != Counter(_CLOSES.findall(il))
