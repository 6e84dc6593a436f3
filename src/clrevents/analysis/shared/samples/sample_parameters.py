"""The parameters of reports on weighted stacks: which samples, with which weight, and which frames their stacks show.

Checks for contradictions. Reads nothing.
"""

from __future__ import annotations

from typing import Any, Final

from clrevents.analysis.framework.model.declaration import RAW, NameParameters, parameter, parameters
from clrevents.analysis.shared.samples.stack_shapes import SEPARATOR
from clrevents.analysis.shared.weights.weight_fields import ALONE, OFF_CPU
from clrevents.symbols.native import KINDS as KINDS
from clrevents.symbols.native import check_kind

MY_CODE: Final[Any] = parameter(
    False, "Leave out methods of the runtime and the framework, unless the stack has nothing else."
)
"""The one switch of every report whose stacks can be shown this way."""


@parameters
class StackParameters(NameParameters):
    """How methods are named, and which of a stack's."""

    my_code: bool = MY_CODE


@parameters
class SampleParameters:
    """Which samples are added up, and how their stacks are shown."""

    event: str | None = parameter(
        None, "Add up the stacks of this event instead of the sample profiler's.", selector=True
    )
    weight: str | None = parameter(
        None,
        "The field of `event` to use as its weight (by default, each event has a weight of 1); for a text, each "
        "event has a weight of 1 below it. Without `event`: `alloc` for bytes allocated, `exceptions` or "
        "`ExceptionType` for exceptions thrown, `off-cpu` for time off a processor.",
    )
    thread_id: int | None = parameter(None, "Only samples of this thread.")
    running: bool = parameter(False, "Only samples of threads that were running managed code.")
    waiting: bool = parameter(False, "Only samples of threads that were waiting, in a method known to wait.")
    state: str | None = parameter(None, "Only samples of threads in this state, such as `lock` or `native`.")
    kind: str | None = parameter(
        None,
        ("Only samples whose innermost frame is `kernel`, `native` or `managed`; only known in machine recordings."),
    )
    group: str | None = parameter(
        None,
        "Show methods that match as one: PATTERN->NAME, or PATTERN=>NAME to distinguish by which method the group "
        "was entered.",
        joined=SEPARATOR,
    )
    include: str | None = parameter(None, "Only samples whose stacks have a method that matches.", joined=SEPARATOR)
    exclude: str | None = parameter(None, "Only samples whose stacks have no method that matches.", joined=SEPARATOR)
    fold: str | None = parameter(
        None, "Remove methods that match from stacks; their weight goes to their callers.", joined=SEPARATOR
    )
    fold_kernel: bool = parameter(
        False, "Show the kernel's frames of a stack as one: the system call, page fault or interrupt."
    )
    my_code: bool = MY_CODE
    artefacts: bool = parameter(
        False, "Keep the runtime's suspension and exception-dispatch frames, and those that dispatch async methods."
    )
    raw: bool = RAW

    def check(self) -> None:
        """ValueError for contradictory parameters."""
        stated = self.running or self.waiting or self.state is not None
        if stated and (self.event or self.weight not in (None, OFF_CPU)):
            raise ValueError("only profiler samples show whether a thread ran or waited")
        check_kind(self.kind)
        if self.event is None and self.weight not in (None, *ALONE):
            raise ValueError("weight needs event: profiler samples are weighted by time")
