"""Messages of exceptions without what differs each time: numbers, GUIDs and other ids become `#`."""

from __future__ import annotations

import re
from typing import Final

_VARYING: Final = re.compile(
    r"""
    \b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b    # a GUID
    | \b0[xX][0-9a-fA-F]+
    | \b(?=[a-fA-F]*[0-9])[0-9a-fA-F]{8,}\b                      # a hash
    | [0-9]+(?:[.,:][0-9]+)*
    """,
    re.VERBOSE,
)


def message_pattern(text: str) -> str:
    """The message with `#` for each number or id.

    >>> message_pattern("user 17 not found (request 3f2504e0-4f89-11d3-9a0c-0305e82c3301)")
    'user # not found (request #)'
    """
    return _VARYING.sub("#", text)
