"""`Tabled`: a table of an answer by its name.

Type checkers read `tabled.pyi`, which `tools/make.py` makes: there, answer and name give the class of the rows.
"""

from __future__ import annotations

from typing import Any

from clrevents.analysis.framework.vocabulary.report_table import ReportTable


class Tabled:
    """What an answer gives its tables with."""

    def table(self, name: str | None = None) -> ReportTable[Any]:
        """The table called `name`, or the first one. Raises KeyError for one that the report does not have."""
        known = [declared.name for declared in self.tables()]  # type: ignore[attr-defined]
        name = name or known[0]
        if name not in known:
            raise KeyError(f"no table {name!r}; there are {', '.join(known)}")
        found: ReportTable[Any] = getattr(self, name)
        return found
