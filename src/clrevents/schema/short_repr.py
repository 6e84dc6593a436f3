"""The repr of a payload's record: in full if it is short, otherwise as much as fits on a screen.

Long texts and arrays are cut, and say so. Knows no layout.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

_ITEMS: Final = 10
# More than twice as many as any event of the runtime has.
_FIELDS: Final = 40
_NAME: Final = 80
_TEXT: Final = 1000
_WHOLE: Final = 2200


def record_text(name: str, fields: Iterable[tuple[str, Any]]) -> str:
    """The repr of a record with these fields and values: at most 40 of them, and 2,300 characters."""
    parts: list[str] = []
    size = 0
    for field, value in fields:
        if size > _WHOLE or len(parts) == _FIELDS:
            # A crafted record has many fields without a byte.
            parts.append("…")
            break
        parts.append(f"{field}={value_text(value)}")
        size += len(parts[-1])
    shown = ", ".join(parts)
    return f"{name[:_NAME]}({shown if len(shown) <= _WHOLE else shown[:_WHOLE] + ' …'})"


def value_text(value: Any) -> str:
    """The repr of a value; of a long text or array, that of its beginning, with how long it is."""
    if value is None or type(value) is int:
        return repr(value)
    if isinstance(value, list | tuple) and len(value) > _ITEMS:
        head = ", ".join(map(value_text, value[:_ITEMS]))
        return f"[{head}, … {_ITEMS} of {len(value):,}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {value_text(part)}' for key, part in value.items())}}}"
    if isinstance(value, str | bytes) and len(value) > _TEXT:
        return f"{value[:_TEXT]!r}… {_TEXT:,} of {len(value):,}"
    return repr(value)
