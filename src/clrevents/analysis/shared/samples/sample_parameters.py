"""What reports on weighted stacks are asked: which samples, with which weight, and which frames their stacks show.

Checks what does not go together. Reads nothing.
"""

from __future__ import annotations

from typing import Any, Final

from clrevents.analysis.framework.model.declaration import parameter, parameters
from clrevents.analysis.shared.samples.name_patterns import SEPARATOR
from clrevents.analysis.shared.weights.event_weights import ALONE
from clrevents.symbols.native import KINDS as KINDS
from clrevents.symbols.native import check_kind

MY_CODE: Final[Any] = parameter(
    False, "Without methods of the runtime and the framework, but where a stack has no others."
)
"""The one switch of every report whose stacks can be shown so."""


@parameters
class SampleParameters:
    """Which samples are added up, and how their stacks are shown."""

    event: str | None = parameter(
        None, "Add up the stacks of this event instead of the sample profiler's.", selector=True
    )
    weight: str | None = parameter(
        None,
        "The field of `event` that is its weight; without it, each event weighs 1, and below a text, too. Without "
        "`event`, `alloc` for the bytes that were allocated, `exceptions` or `ExceptionType` for what was thrown.",
    )
    thread_id: int | None = parameter(None, "Only samples of this thread.")
    running: bool = parameter(False, "Only samples of threads that ran managed code.")
    waiting: bool = parameter(False, "Only samples of threads that waited, in a method that is known to wait.")
    state: str | None = parameter(None, "Only samples of threads in this state, such as `lock` or `native`.")
    kind: str | None = parameter(
        None, "Only samples whose innermost frame is `kernel`, `native` or `managed`; only machine recordings tell."
    )
    group: str | None = parameter(
        None,
        "Show methods that match as one: PATTERN->NAME, or PATTERN=>NAME to tell apart by which method the group was "
        "entered.",
        joined=SEPARATOR,
    )
    include: str | None = parameter(None, "Only samples whose stack holds a method that matches.", joined=SEPARATOR)
    exclude: str | None = parameter(None, "Only samples whose stack holds no method that matches.", joined=SEPARATOR)
    fold: str | None = parameter(
        None, "Take methods that match out of stacks: what they weigh is their callers'.", joined=SEPARATOR
    )
    my_code: bool = MY_CODE
    artefacts: bool = parameter(
        False, "With the frames that are there only because of how the runtime stops threads and dispatches exceptions."
    )
    raw: bool = parameter(False, "Write names as the runtime does.")

    def check(self) -> None:
        """ValueError for what does not go together."""
        if (self.running or self.waiting or self.state is not None) and (self.event or self.weight):
            raise ValueError("only samples of the profiler tell whether a thread ran or waited")
        check_kind(self.kind)
        if self.event is None and self.weight not in (None, *ALONE):
            raise ValueError("weight needs event: samples of the profiler weigh the time that they stand for")
