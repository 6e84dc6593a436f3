"""`Measured`: what one recording brings to a comparison, as a plain value that is saved in a small file.

Every amount has its value in the whole recording, and in blocks of time if it can be said when it came about. C#
numbers what it makes of lambdas, local functions, iterators and captured variables through a whole type, so adding one
member changes the names of others: what is one method gets one name in two recordings. Knows no trace.
"""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Self

import attrs
import numpy as np

from clrevents._util.notebook_views import Summary, Value
from clrevents._util.outputs import whole_file
from clrevents._util.value_classes import frozen
from clrevents._util.version import __version__
from clrevents._util.words import counted
from clrevents.analysis.compare.block_statistics import Floats
from clrevents.analysis.compare.change import file_label
from clrevents.analysis.framework.vocabulary.answer_values import Better, Evidence, TraceIdentity
from clrevents.analysis.gathering.merged_stacks import StackFrame
from clrevents.analysis.shared.samples.samples import Samples
from clrevents.errors import SourceError
from clrevents.table.table import plain

_MOST_BLOCKS: Final = 1 << 16
_LARGEST: Final = 2.0**70
SCHEMA: Final = "clrevents.measured/1"


@frozen(eq=False)
class Amount(Value):
    """A metric of a report, or a row of a table that is counted for comparing; null has a `reason`.

    `adds` says whether it grows with the length of a recording. `blocks` add up to `value`; they are None if it is not
    known when it came about. `record` is what to give to `dotnet-trace collect --providers` to get it.
    """

    family: str
    name: str
    unit: str
    value: int | float | None
    better: Better = "neither"
    adds: bool = True
    evidence: Evidence = "event"
    bound: bool = False
    """Whether the value is only a bound or an estimate."""
    reason: str | None = None
    record: str | None = None
    blocks: Floats | None = None
    over: Floats | None = None
    """For a mean, how many values each block has: `blocks` are then their sums, and `value` is their mean."""
    since: bool = False
    """Whether what a block has came about since the last block before that has any."""
    label: str | None = None
    """The name for people, where `name` is what tells it from others."""

    def to_dict(self) -> dict[str, Any]:
        """In JSON types; blocks as places and amounts of those that are not empty."""
        json = {field.name: getattr(self, field.name) for field in attrs.fields(Amount)}
        for name in ("blocks", "over"):
            if json[name] is not None:
                json[name] = _saved(json[name])
        return json

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], count: int) -> Self:
        """Read back, in this many blocks."""
        blocks, over = (None if data.get(name) is None else _read(data[name], count) for name in ("blocks", "over"))
        if over is not None and (blocks is None or not over.sum() > 0 or (over < 0).any()):
            raise ValueError(f"{data['family']}.{data['name']} is a mean of no values")
        amount = cls(**{**data, "blocks": blocks, "over": over})
        present = [one for one in (blocks, over) if one is not None]
        numbers = np.concatenate(([0 if amount.value is None else float(amount.value)], *present))
        if not (np.abs(numbers) <= _LARGEST).all():
            raise ValueError(f"{amount.family}.{amount.name} is not a number that can be compared")
        if not all(isinstance(text, str) for text in (amount.family, amount.name, amount.unit, amount.label or "")):
            raise TypeError("names are texts")
        return amount


@frozen(eq=False, repr=False)
class Measured(Summary):
    """One recording, measured for comparing.

    `circumstances` are what makes recordings differ though the program is the same. The time that is cut into `count`
    blocks begins at the first event that a block can hold and takes `span_ns`.
    """

    trace: TraceIdentity
    count: int
    span_ns: int
    circumstances: Mapping[str, str | int | float | None]
    metrics: tuple[Amount, ...]
    rows: tuple[Amount, ...]
    asked: str = ""
    """The question whose rows these are, such as `top by='method'`; empty if they are of everything."""
    starts: Mapping[str, Floats] = attrs.field(factory=dict)
    """How often each start event of the program's own was written, in each block, by `PROVIDER/NAME`."""

    @property
    def label(self) -> str:
        """The name of the trace's file."""
        return file_label(self.trace.path)

    @property
    def requests(self) -> Floats | None:
        """How many requests there were in each block, of servers or else of clients; None if there were none."""
        by_name = {one.name: one for one in self.metrics if one.family == "requests"}
        for name in ("server_count", "client_count"):
            amount = by_name.get(name)
            if amount is not None and amount.value and amount.blocks is not None:
                return amount.blocks
        return None

    def per(self, what: str) -> Floats:
        """What amounts are divided by, in each block: `request`, `second`, `none`, or a start event."""
        if what in self.starts:
            return self.starts[what]
        if what == "request":
            requests = self.requests
            assert requests is not None, "checked before"
            return requests
        return np.full(self.count, (self.span_ns / 1e9 if what == "second" else 1.0) / self.count)

    def to_dict(self) -> dict[str, Any]:
        """Everything in JSON types."""
        return {
            "schema": SCHEMA,
            "clrevents": __version__,
            "trace": plain(self.trace),
            "count": self.count,
            "span_ns": self.span_ns,
            "circumstances": dict(self.circumstances),
            "metrics": [amount.to_dict() for amount in self.metrics],
            "rows": [amount.to_dict() for amount in self.rows],
            **({"asked": self.asked} if self.asked else {}),
            **({"starts": {name: _saved(counts) for name, counts in self.starts.items()}} if self.starts else {}),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` gave. Raises ValueError for anything else."""
        if not isinstance(data, Mapping) or data.get("schema") != SCHEMA:
            schema = data.get("schema") if isinstance(data, Mapping) else type(data).__name__
            raise ValueError(f"the schema is {schema!r}, not {SCHEMA!r}: save it with 'clrevents compare --save'")
        try:
            count, span = int(data["count"]), int(data["span_ns"])
            if not (0 < count <= _MOST_BLOCKS and 0 < span <= _LARGEST):
                raise ValueError(f"damaged: {counted(count, 'block')} in {span} ns")
            metrics, rows = (tuple(Amount.from_dict(one, count) for one in data[name]) for name in ("metrics", "rows"))
            trace = TraceIdentity(**data["trace"])
            circumstances = dict(data["circumstances"])
            if not all(isinstance(value, str | int | float | None) for value in circumstances.values()):
                raise TypeError("circumstances are texts and numbers")
            starts = {str(name): _read(counts, count) for name, counts in dict(data.get("starts", {})).items()}
            if not all((counts >= 0).all() and counts.sum() <= _LARGEST for counts in starts.values()):
                raise ValueError("damaged: numbers of events that cannot be")
            return cls(trace, count, span, circumstances, metrics, rows, str(data.get("asked", "")), starts)
        except (LookupError, TypeError, AttributeError, OverflowError) as error:
            raise ValueError(f"damaged: {type(error).__name__}: {error}") from None

    def __repr__(self) -> str:
        return f"<Measured {self.label}: {counted(len(self.metrics), 'metric')}, {counted(len(self.rows), 'row')}>"


def _saved(blocks: Floats) -> list[object]:
    places = np.flatnonzero(blocks)
    return [places.tolist(), [_short(value) for value in blocks[places].tolist()]]


def _read(saved: Any, count: int) -> Floats:
    amounts = np.zeros(count)
    amounts[np.array(saved[0], dtype=np.int64)] = saved[1]
    return amounts


def _short(value: float) -> int | float:
    return int(value) if value.is_integer() else value


def is_saved(path: str) -> bool:
    """Whether a path is that of a saved measurement, rather than of a trace."""
    return path.endswith(".json")


def save_measured(found: Measured | Sequence[Measured], path: str | os.PathLike[str]) -> None:
    """Write a measurement, or several, as JSON, a line each; the file appears complete or not at all,
    as private as the traces.

    Such files can be put together with `cat`. Raises OSError if writing fails.
    """
    recordings = [found] if isinstance(found, Measured) else found
    lines = [json.dumps(one.to_dict(), separators=(",", ":"), allow_nan=False) for one in recordings]
    with whole_file(os.fspath(path), *(one.trace.path for one in recordings)) as target:
        target.write("\n".join([*lines, ""]).encode())


def saved_measured(path: str) -> list[Measured]:
    """The measurements in a file. Raises SourceError if it cannot be read, ValueError if it is something else."""
    recordings: list[Measured] = []
    try:
        with open(path, encoding="utf-8") as file:
            rest = file.read().strip()
        while rest or not recordings:
            data, end = json.JSONDecoder().raw_decode(rest)
            recordings.append(Measured.from_dict(data))
            rest = rest[end:].lstrip()
    except OSError as error:
        raise SourceError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is no saved measurement: {error}") from None
    return recordings


_NUMBERED: Final = (
    (re.compile(r"(<[^<>]*>g__[^|]+\|)\d+(?:_\d+)?"), r"\1*"),
    (re.compile(r"(c__DisplayClass)\d+(?:_\d+)?"), r"\1*"),
    (re.compile(r"(<[^<>]*>d__)\d+"), r"\1*"),
    # mcs: captured variables, iterators and async methods.
    (re.compile(r"(<[^<>]*>c__(?:AnonStorey|Iterator|async))[0-9A-F]+"), r"\1*"),
    (re.compile(r"(<>f__(?:AnonymousType|AnonymousDelegate))\d+"), r"\1*"),
    (re.compile(r"(<>c__)\d+(?=[`\[.+])"), r"\1*"),
)
_LAMBDA: Final = re.compile(r"(<[^<>]*>(?:b__|m__))(?:(?P<member>\d+)_)?(?P<own>[0-9A-F]+)")
_COMPILERS: Final = {
    "csc": (
        (re.compile(r"^(.*?)\+<>c(?:__DisplayClass\*)?\.<([^<>]+)>b__\*"), "lambdas"),
        (re.compile(r"^(.*?)\+<([^<>]+)>d__\*"), "steps"),
    ),
    "mcs": (
        (re.compile(r"^(.*?)\+<([^<>]+)>c__AnonStorey\*.*\.<>m__\*"), "lambdas"),
        (re.compile(r"^(.*?)\.<([^<>]+)>m__\*"), "lambdas"),
        (re.compile(r"^(.*?)\+<([^<>]+)>c__(?:async|Iterator)\*"), "steps"),
    ),
}
"""What each compiler makes of lambdas, and of iterators and async methods: the type, and the member."""


def without_numbers(name: str) -> tuple[str, str]:
    """A name without the compiler's numbers, and the place of a lambda among those of its member (empty for others)."""
    for pattern, stars in _NUMBERED:
        name = pattern.sub(stars, name)
    lambda_part = _LAMBDA.search(name)
    if lambda_part is None:
        return name, ""
    return f"{name[: lambda_part.start()]}{lambda_part[1]}*{name[lambda_part.end() :]}", lambda_part["own"]


def identities(base: Iterable[str], new: Iterable[str]) -> dict[str, str]:
    """By name on either side, what it is called on both.

    Lambdas of one member are told apart by their places, unless different ones were seen on the two sides: then a
    lambda may stand where another one stood before, and all of the member's are one. So they are if the sides are of
    different compilers, which name and number them each in its own way.
    """
    sides: tuple[dict[str, set[str]], dict[str, set[str]]] = (defaultdict(set), defaultdict(set))
    split = {}
    for side, names in zip(sides, (base, new), strict=True):
        for name in names:
            split[name] = stem, own = without_numbers(name)
            side[stem].add(own)
    makers: tuple[dict[str, set[str]], dict[str, set[str]]] = (defaultdict(set), defaultdict(set))
    for stems, maker in zip(sides, makers, strict=True):
        for compiler, of in filter(None, map(_made_of, stems)):
            maker[of].add(compiler)
    identity = {}
    for name, (stem, own) in split.items():
        _, of = _made_of(stem) or ("", "")
        if of and makers[0][of] and makers[1][of] and not makers[0][of] & makers[1][of]:
            identity[name] = of
            continue
        # What only one side has is left as it is: nothing there can be mistaken for another.
        alike = not (sides[0][stem] and sides[1][stem]) or sides[0][stem] == sides[1][stem]
        identity[name] = f"{stem} {own}" if own and alike else stem
    return identity


def _made_of(stem: str) -> tuple[str, str] | None:
    """Which compiler made it, and of which member of which type; None for what programmers named."""
    for compiler, patterns in _COMPILERS.items():
        for pattern, what in patterns:
            match = pattern.search(stem)
            if match is not None:
                return compiler, f"{match[1]}.<{match[2]}> {what}"
    return None


def matched_frames(base: Samples, new: Samples) -> tuple[Samples, Samples]:
    """Both, with frames that are equal where methods are the same; they are called what they are called in `new`."""
    same = identities(*({frame.raw for frame in side.frames if frame.reason is None} for side in (base, new)))
    known: dict[str, StackFrame] = {}
    for frame in (*new.frames, *base.frames):
        if frame.reason is None:
            known.setdefault(same[frame.raw], frame)

    def renamed(side: Samples) -> Samples:
        frames = tuple(frame if frame.reason is not None else known[same[frame.raw]] for frame in side.frames)
        return attrs.evolve(side, frames=frames)

    return renamed(base), renamed(new)
