"""How two recordings of one run were joined in a trace, as its mark says: one more circumstance of every answer."""

from __future__ import annotations

from clrevents._util.units import duration_text
from clrevents._util.value_classes import frozen
from clrevents._util.words import counted
from clrevents.analysis.framework.vocabulary.answer_values import Note
from clrevents.schema.own_marks import JOINED
from clrevents.table.table import Table


@frozen
class JoinedRun:
    """The values of the mark (see `schema.own_marks`)."""

    process_id: int
    shift_ns: int
    uncertainty_ns: int
    compared: int
    contradicting: int
    error_ns: int
    start_ns: int
    stopped_ns: int
    end_ns: int

    @classmethod
    def of(cls, marks: Table | None) -> tuple[JoinedRun | None, int]:
        """What the first of these marks says, None without one; and how many of them, left out, say what cannot be."""
        columns = () if marks is None else (marks.column(name).tolist() for name in JOINED.names)
        every = [cls(*values) for values in zip(*columns, strict=True)]
        found = [one for one in every if one.uncertainty_ns >= 0 and 0 <= one.contradicting <= one.compared]
        return (found[0] if found else None), len(every) - len(found)

    def note(self) -> Note:
        """What everybody must know who reads times of both."""
        text = (
            f"the runtime's events of process {self.process_id} are from another recording of the same run: their "
            f"times are right within {duration_text(self.uncertainty_ns)} on the recorder's clock"
        )
        wrong = self.contradicting > 0
        if not self.compared:
            text += ", by the starts of both recordings"
        elif wrong:
            text += (
                f", but by the recorder {counted(self.contradicting, 'event')} of {self.compared:,} were written while "
                "their thread was off the processor: it misses some switches"
            )
        numbers = {
            "shift_ns": self.shift_ns,
            "uncertainty_ns": self.uncertainty_ns,
            "compared": self.compared,
            "contradicting": self.contradicting,
        }
        if self.error_ns >= 0:
            numbers["error_ns"] = self.error_ns
        return Note("joined", "warning" if wrong else "info", text, (), numbers)
