"""`ReportDeclaration`: what one report is, in one value. Everything that shows, asks or compares reports reads it."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from typing import Any, Final, Generic, Literal, TypeAlias, TypedDict, TypeVar, dataclass_transform

import attrs

from clrevents._util.notebook_views import fields_html
from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.model.collector import Collector
from clrevents.analysis.framework.model.needs import Need
from clrevents.analysis.framework.vocabulary.answer_values import ComparedRows, InPart, MetricDeclaration
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.trace import Moment

P = TypeVar("P")
A = TypeVar("A", bound=Answer[object])
C = TypeVar("C", bound=type[Any])

Topic: TypeAlias = Literal["time", "waiting", "memory", "program"]
TOPICS: Final[tuple[Topic, ...]] = typing.get_args(Topic)

_TYPES = (bool, int, str)


class WindowOptions(TypedDict, total=False):
    """Which part of a trace a report covers."""

    start: Moment | None
    """The first moment of the window. TypeError or ValueError unless a `Moment`."""
    end: Moment | None
    """The moment before which the window ends. TypeError or ValueError unless a `Moment`."""
    process_id: int | None
    """The process that the report covers; None for all."""


def parameter(
    default: object,
    description: str,
    choices: tuple[str, ...] = (),
    *,
    joined: str | None = None,
    argument: bool = False,
    selector: bool = False,
) -> Any:
    """Declare a parameter of a report, which becomes an option of its sub-command.

    A repeatable option is a text of all its values, `joined` by this; an `argument` follows the trace instead of being
    an option; a `selector` selects the events of one name, or raises what `Trace.table` raises.
    """
    metadata = {
        "description": description,
        "choices": choices,
        "joined": joined,
        "argument": argument,
        "selector": selector,
    }
    return attrs.field(default=default, metadata=metadata)


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(parameter,))
def parameters(body: C) -> C:
    """Make a frozen class of a report's parameters: bool, int or text, each with a default."""
    cls = frozen(kw_only=True)(body)
    cls._repr_html_ = fields_html
    return cls


RAW: Final[Any] = parameter(False, "Show names as the runtime writes them.")
MY_CODE: Final[Any] = parameter(
    False, "Leave out methods of the runtime and the framework, unless the stack has nothing else."
)


@parameters
class NoParameters:
    """A report that takes none."""


@parameters
class NameParameters:
    """How methods are named."""

    raw: bool = RAW


@parameters
class StackParameters(NameParameters):
    """How methods are named, and which of a stack's."""

    my_code: bool = MY_CODE


@frozen
class ParameterDeclaration:
    """One parameter as it was declared; `type` is bool, int or str."""

    name: str
    type: type[Any]
    default: Any
    description: str
    choices: tuple[str, ...]
    joined: str | None
    argument: bool
    selector: bool

    @property
    def flag(self) -> str:
        """How the command takes it: `--my-code`, `METHOD`."""
        return self.name.upper() if self.argument else f"--{self.name.removesuffix('_id').replace('_', '-')}"


def parameters_of(parameters_class: type[Any]) -> tuple[ParameterDeclaration, ...]:
    """The parameters of a class."""
    hints = typing.get_type_hints(parameters_class)
    declarations = []
    for field in attrs.fields(parameters_class):
        hint = hints[field.name]
        kind = next(t for t in (*typing.get_args(hint), hint) if t in _TYPES)
        declarations.append(ParameterDeclaration(field.name, kind, field.default, **field.metadata))
    return tuple(declarations)


@frozen
class ReportDeclaration(Generic[P, A]):
    """One report. Its name is that of its answer's class, its description that class's docstring.

    `question` is put as a user would, and pages list it under `topic`; the line on the report in other lists is its
    folder's docstring. The first table is the `headline`, with `shown` its columns for people, in order (all that are
    not hidden, when empty); below it come the tables `beside`, which have the same class of rows. Where the
    table `urgent` has rows, it comes before all. `sparklines`
    draws a line beside each of some of its rows: it takes the answer, the rows, the width, and the characters of which
    the bars are made, lowest first.
    """

    answer: type[A]
    question: str
    topic: Topic
    needs: tuple[Need, ...]
    metrics: tuple[MetricDeclaration, ...]
    collector: Callable[[P], Collector[A]]
    parameters: type[P]
    shown: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    urgent: str | None = None
    sort: str | None = None
    examples: tuple[tuple[str, str], ...] = ()
    """Questions and the command lines that answer them, for the help."""
    sparklines: Callable[[A, ReportTable[Any], int, str], list[str]] | None = None
    folded: Callable[[ReportTable[Any]], ReportTable[object]] | None = None
    """The rows of the headline that people see who asked for no table or columns, where others repeat them."""
    listing: str | None = None
    """The table of what can be recorded, for `--list`; a process needs a moment to tell it."""
    in_part: Mapping[str, InPart] = attrs.field(factory=dict, hash=False)
    """Metrics that differ in a part of a trace; `*` stands for all that are not named."""
    against: bool = False
    """Whether its rows are compared with those of another trace."""
    not_compared: str = ""
    """Why its metrics say nothing of a change between two recordings; empty if they do."""
    compared: tuple[ComparedRows, ...] = ()
    """Its rows that are compared where a metric of it changed."""

    @property
    def name(self) -> str:
        """The report's name, which is its sub-command's too."""
        return self.answer.name

    @property
    def headline(self) -> str:
        """The name of the table that is shown first."""
        return self.answer.tables()[0].name

    @property
    def description(self) -> str:
        """What the report says and what it does not, for help and pages."""
        return inspect.cleandoc(self.answer.__doc__ or "")


AnyReport: TypeAlias = ReportDeclaration[Any, Any]
"""What is asked for by its name: its parameters and its answer are of any class."""
