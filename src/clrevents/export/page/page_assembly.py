"""A page's template with its style, its script and its data, and the policy that lets only these run.

The files are beside this module. Data is JSON, of which no text can end its block.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clrevents.export.flame.flame_html import escaped_json, filled_page


def assembled_page(template: str, styles: Sequence[str], scripts: Sequence[str], data: dict[str, Any]) -> bytes:
    """The page of these texts; the policy names its style and its script by their hashes."""
    style, script = "\n".join(styles), "\n".join(['"use strict";', *scripts])
    parts = {
        "__POLICY__": f"script-src {_hash(script)}; style-src {_hash(style)}",
        "__STYLE__": style,
        "__DATA__": escaped_json(data),
        "__SCRIPT__": script,
    }
    return filled_page(Path(__file__).with_name(template), parts)


def page_texts_of(names: Sequence[str]) -> list[str]:
    """The texts of files beside this module."""
    return [Path(__file__).with_name(name).read_text(encoding="utf-8") for name in names]


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
