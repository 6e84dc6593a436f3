"""What values look like in a notebook: `Value` shows its fields, a line each, `Summary` its repr.

Knows no value: fields are those of attrs or a dataclass, and durations are told by their names.
"""

from __future__ import annotations

import sys
from html import escape
from typing import Any, Final

from clrevents._util.html import framed_html, html_table, html_text, shortened
from clrevents._util.units import duration_text

_LONG: Final = 1000
"""Characters of a value: most sentences are shorter."""


class Value:
    """A value of named fields. Those that are None or empty are left out."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return fields_html(self)


class Summary:
    """An object with a repr of its own."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"


def fields_html(value: Any) -> str:
    """The fields of an instance of an attrs class or of a dataclass, by name."""
    declared = getattr(value, "__attrs_attrs__", None) or getattr(value, "__dataclass_fields__", {}).values()
    fields = [(field.name, getattr(value, field.name)) for field in declared if field.repr and field.name[0] != "_"]
    lines = [_line(name, held) for name, held in fields if held is not None and held not in ("", ())]
    return framed_html(f"<b>{html_text(type(value).__name__)}</b>{html_table((), lines)}", lambda: repr(value))


def _line(name: str, held: Any) -> tuple[str, str]:
    if name.endswith("_ns") and isinstance(held, int):
        return name.removesuffix("_ns"), duration_text(held)
    return name, shortened(str(held), _LONG)


def notebook_shell() -> Any:
    """The shell of the notebook that this process runs for; None in a terminal, in a script, without IPython."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    # In every frontend but the terminal cells are shown by a page: Jupyter, VS Code, Colab.
    return None if type(shell).__name__ == "TerminalInteractiveShell" else shell


def show_html(html: str, text: str) -> None:
    """Put this below the cell that runs; `text` is for frontends without HTML."""
    from IPython.display import display

    # As data, not as an `HTML` object, which warns of every frame that it is given.
    display({"text/html": html, "text/plain": text}, raw=True)
