"""What Spark asks of a data source: its options (docs/fleet.md lists them), its columns, its tasks, and the rows of
each.

Small traces are read by one task together, because a task costs more than reading one. The only module that imports
pyspark. Reads nothing itself.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any, Final, cast
from urllib.parse import unquote, urlsplit

from clrevents.analysis.doctor.diagnosing import rules_of
from clrevents.analysis.doctor.diagnosis import Finding
from clrevents.analysis.framework.model.declaration import WindowOptions
from clrevents.analysis.framework.run.asking import find_report
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.decode.selection import FilterOptions, Filters
from clrevents.errors import ERROR_MODES, Limits, UnknownEventError
from clrevents.fleet import questions, spark_rows
from clrevents.fleet.joined import TRACE, Joined, with_trace
from clrevents.fleet.trace_paths import bundled, file_size, is_url_pattern, trace_paths
from clrevents.schema.registry import DEFAULT
from clrevents.sources import file_system, is_url
from clrevents.table.table import Table, TableField, needed, row_fields

_LOWER: Final = ("GreaterThan", "GreaterThanOrEqual", "EqualTo")
_UPPER: Final = ("LessThan", "LessThanOrEqual", "EqualTo")


def _fits(path: str, filter: Any) -> bool:
    value: Any = getattr(filter, "value", None)
    match type(filter).__name__:
        case "EqualTo" | "EqualNullSafe":
            return bool(path == value)
        case "In":
            return path in value
        case "StringStartsWith":
            return path.startswith(str(value))
        case "StringEndsWith":
            return path.endswith(str(value))
        case "StringContains":
            return str(value) in path
        case _:
            return True


def wanted_events(given: FilterOptions, filters: Sequence[Any]) -> FilterOptions:
    """`given`, and what the filters say of `time_ns`, `time` and `thread_id` where `given` says nothing."""
    options = FilterOptions(**given)
    for column, step in (("time_ns", 1), ("time", timedelta(microseconds=1))):
        bounds = [filter for filter in filters if _column(filter) == column and _is_moment(filter, column)]
        # A column of microseconds is cut off: an event is up to one of them later than it says.
        starts = [f.value for f in bounds if type(f).__name__ in _LOWER]
        ends = [f.value + step for f in bounds if type(f).__name__ in _UPPER]
        if starts and options.get("start") is None:
            options["start"] = max(starts)
        if ends and options.get("end") is None:
            options["end"] = min(ends)
    for filter in filters:
        if _column(filter) == "thread_id" and options.get("thread_id") is None:
            threads = _threads(filter)
            if threads:
                options["thread_id"] = threads
    return options


def _column(filter: object) -> str | None:
    """The column that a filter is about; None for a nested field, and for the negation of a filter."""
    place: tuple[str, ...] = getattr(filter, "attribute", ())
    # Spark compares names without case.
    return place[0].lower() if len(place) == 1 else None


def _is_moment(filter: object, column: str) -> bool:
    value = getattr(filter, "value", None)
    if column == "time_ns":
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, datetime) and value.tzinfo is not None


def _threads(filter: Any) -> tuple[int, ...]:
    """The threads that a filter lets through; none if it says nothing useful."""
    if type(filter).__name__ not in ("EqualTo", "In"):
        return ()
    values: tuple[Any, ...] = filter.value if type(filter).__name__ == "In" else (filter.value,)
    if not all(isinstance(v, int | Decimal) and v == int(v) and 0 <= v < 1 << 64 for v in values):
        return ()
    return tuple(int(v) for v in values)


BUNDLE_BYTES: Final = 8 << 20
"""Bytes of files, packed or not, that take about a second: the cost of a task is small compared with that."""
_OPENING: Final = 1 << 18
"""What is added to each trace's size: opening a small one, and a report on it, take as long as reading this much."""


def known_sizes(places: Iterable[str], paths: Iterable[str]) -> dict[str, int]:
    """The sizes of the traces that `places` mean, as far as no request for each of them is needed."""
    sizes = {path: file_size(path, remote=0) for path in paths if not is_url(path)}
    for place in places:
        if is_url(place) and is_url_pattern(place):
            system, pattern = file_system(place)
            for name, facts in system.glob(pattern, detail=True).items():
                if (size := facts.get("size")) is not None:
                    sizes[system.unstrip_protocol(name)] = int(size)
    return sizes


def bundles(paths: Sequence[str], sizes: Mapping[str, int], most: int) -> list[tuple[str, ...]]:
    """The traces in their order, in groups of up to `most` bytes. One of unknown size is alone."""
    return list(bundled(paths, lambda path: sizes.get(path, most) + _OPENING, most))


_SPARK: Final[Any] = needed("pyspark.sql.datasource", "spark", "Spark's data source")
_SAMPLE: Final = 8
_OPTIONS: Final = (
    *("path", "paths", "event", "report", "parameters", "table", "columns", "enumnames"),
    *("start", "end", "thread_id", "process_id", "provider", "errors", "sample", "pushfilters", "bundlebytes"),
)
"""Options in lower case: Spark ignores case."""


class NettraceDataSource(_SPARK.DataSource):  # type: ignore[misc]
    """Many traces as one table of Spark: `.option("event", …)`, `.option("report", …).option("table", …)`,
    `.option("table", "findings")` or `.option("table", "problems")`. Every table has a column `trace`, the path or URL.
    """

    @classmethod
    def name(cls) -> str:
        """The name for `spark.read.format`."""
        return "nettrace"

    def schema(self) -> str:
        """The columns, in Spark's terms: from the registry alone or, for an event unknown to it, from some of the
        traces.

        Raises ValueError for contradictory options, and what `Trace.table` raises for unknown names.
        """
        return spark_rows.in_words(_Asked(self.options).fields())

    def reader(self, schema: Any) -> Any:
        """What plans and reads. `schema` may have fewer columns than there are, or wider ones."""
        asked_for = _Asked(self.options)
        kind = _PushingReader if asked_for.push else _Reader
        return kind(asked_for, schema.jsonValue())


class _Asked:
    """The options, checked."""

    def __init__(self, options: Mapping[str, str] | MutableMapping[str, str]) -> None:
        given = {key.lower(): value for key, value in options.items()}
        if odd := sorted(given.keys() - set(_OPTIONS)):
            raise ValueError(f"unknown options: {', '.join(odd)}; there are {', '.join(_OPTIONS[1:])}")
        self.event, self.report, self.table = given.get("event"), given.get("report"), given.get("table")
        own = {} if self.report is None else questions.empty_tables(find_report(self.report).name)
        self.problems = self.table == "problems" and self.table not in own
        asked_for = (self.event is not None) + (self.report is not None)
        self.findings = self.table == "findings" and not asked_for
        alone = self.problems or self.findings
        if asked_for > 1 or not (asked_for or alone) or (self.event and self.table and not self.problems):
            raise ValueError(
                'give the option "event", or "report" and "table", or "table" with the value "findings" or "problems"'
            )
        self.places = _places(given)
        self.push = _flag(given, "pushfilters")
        self.enum_names = _flag(given, "enumnames")
        self.sample = int(given.get("sample", _SAMPLE))
        self.bundle = int(given.get("bundlebytes", BUNDLE_BYTES))
        listed = given.get("columns")
        self.columns = None if listed is None else tuple(dict.fromkeys(name.strip() for name in listed.split(",")))
        errors = given.get("errors", "salvage")
        if errors not in ERROR_MODES:
            raise ValueError(f"errors must be one of {', '.join(ERROR_MODES)}, not {errors!r}")
        self.opening = questions.Opening(errors, Limits(), DEFAULT)
        self.parameters = json.loads(given.get("parameters", "{}"))
        self.filters = _filters(given)

    def fields(self) -> tuple[TableField, ...]:
        """The columns of what is asked for."""
        if self.problems:
            return row_fields(questions.TraceProblem)
        if self.findings:
            fields = with_trace("", ReportTable.empty(Finding).table).fields
        else:
            fields = self._report_fields() if self.report is not None else self._event_fields()
        if self.columns is None:
            return fields
        chosen = Table(fields).select(*(name for name in self.columns if name != TRACE))
        return (fields[0], *chosen.fields)

    def _event_fields(self) -> tuple[TableField, ...]:
        assert self.event is not None
        try:
            own = None if self.columns is None else [name for name in self.columns if name != TRACE]
            return spark_rows.event_table(self.event, own, self.enum_names).fields
        except UnknownEventError:
            return self._sampled(self.event)

    def _sampled(self, event: str) -> tuple[TableField, ...]:
        question = partial(spark_rows.ask_fields, selector=event, enum_names=self.enum_names)
        joined = Joined()
        for path in self.paths()[: self.sample]:
            for table in questions.asked(question, path, self.opening).values:
                if table is not None:
                    joined.add(path, table)
        if not joined.known:
            raise UnknownEventError(
                f"neither the registry nor the first {self.sample} traces know {event!r}: give a schema, or the option "
                f'"sample" with a larger number of traces to ask'
            )
        return joined.table().fields

    def _report_fields(self) -> tuple[TableField, ...]:
        if self.table in spark_rows.SUMMARIES:
            return spark_rows.summary(self.table, self._report_question()).fields
        tables = questions.empty_tables(str(self.report))
        if self.table is None or self.table not in tables:
            raise KeyError(f"no table {self.table!r}; there are {', '.join((*tables, *spark_rows.SUMMARIES))}")
        return with_trace("", tables[self.table]).fields

    def paths(self) -> list[str]:
        """The traces; files by their full path, because workers run elsewhere."""
        return [path if is_url(path) else type(path)(os.path.abspath(path)) for path in trace_paths(self.places)]

    def bundles(self, filters: Sequence[object]) -> list[tuple[str, ...]]:
        """The traces that fit the filters, as each task reads them."""
        tests = [filter for filter in filters if _column(filter) == TRACE]
        paths = [path for path in self.paths() if all(_fits(path, test) for test in tests)]
        return bundles(paths, known_sizes(self.places, paths), self.bundle)

    def rows(self, schema: spark_rows.SparkSchema, filters: Sequence[Any]) -> spark_rows.SparkRows:
        """What a worker does with each trace."""
        question = None if self.report is None else self._report_question()
        if self.problems:
            asked_of: list[Any] = [] if question is None else [question]
            if self.event is not None:
                asked_of.append(partial(spark_rows.ask_through, selector=self.event, filters=self.filters))
            return partial(spark_rows.rows_of_problems, questions=tuple(asked_of), opening=self.opening)
        if self.findings:
            rules = tuple(self.parameters.get("rules", ()))
            rules_of(rules)
            findings = partial(questions.findings_of, rules=rules, window=self._window())
            return partial(spark_rows.answer_rows, question=findings, table=None, opening=self.opening)
        if question is not None:
            return partial(spark_rows.answer_rows, question=question, table=self.table, opening=self.opening)
        assert self.event is not None
        named = tuple(field["name"] for field in schema["fields"] if field["name"] != TRACE)
        try:
            # Whatever is asked for, some column has to be read for the rows to be counted.
            spark_rows.event_table(self.event, named, self.enum_names)
            columns: tuple[str, ...] | None = named or ("time_ns",)
        except UnknownEventError:
            columns = None
        return partial(
            spark_rows.event_rows,
            selector=self.event,
            columns=columns,
            enum_names=self.enum_names,
            filters=wanted_events(self.filters, filters),
            opening=self.opening,
        )

    def _report_question(self) -> questions.AskReport:
        declared = find_report(str(self.report))
        kept = () if self.problems or self.table in spark_rows.SUMMARIES else (str(self.table),)
        return questions.AskReport(declared.name, declared.parameters(**self.parameters), self._window(), kept)

    def _window(self) -> WindowOptions:
        if odd := self.filters.keys() - WindowOptions.__annotations__.keys():
            raise ValueError(f"reports have no options {', '.join(sorted(odd))}")
        filters = self.filters
        return {"start": filters.get("start"), "end": filters.get("end"), "process_id": filters.get("process_id")}


def _places(given: Mapping[str, str]) -> list[str]:
    """What `load` was given: one place, or several as a list in JSON."""
    if "path" not in given and "paths" not in given:
        raise ValueError("no traces: name them in load(…)")
    listed = [given["path"]] if "path" in given else [str(place) for place in json.loads(given["paths"])]
    return [unquote(urlsplit(place).path) if place.startswith("file:") else place for place in listed]


def _flag(given: Mapping[str, str], name: str) -> bool:
    value = given.get(name, "false").lower()
    if value not in ("true", "false"):
        raise ValueError(f"the option {name!r} must be true or false, not {value!r}")
    return value == "true"


def _filters(given: Mapping[str, str]) -> FilterOptions:
    meant: Mapping[str, Callable[[str], object]] = {
        **{"provider": str, "process_id": int, "start": _moment, "end": _moment},
        "thread_id": lambda threads: [int(thread) for thread in threads.split(",")],
    }
    options = cast("FilterOptions", {name: value(given[name]) for name, value in meant.items() if name in given})
    Filters.of(options)
    return options


def _moment(text: str) -> int | str:
    """A number is nanoseconds since the session started."""
    return int(text) if text.strip().lstrip("-").isdecimal() else text


class _Reader(_SPARK.DataSourceReader):  # type: ignore[misc]
    """Plans one partition for each large trace and for several small ones, and reads them on workers."""

    def __init__(self, asked_for: _Asked, schema: spark_rows.SparkSchema) -> None:
        self._asked, self._schema = asked_for, schema
        self._filters: tuple[object, ...] = ()
        spark_rows.arrow_target(spark_rows.fields_of(schema))
        # Here already, for names that do not exist: a worker's errors would be tried again.
        self._rows = asked_for.rows(schema, ())

    def partitions(self) -> list[object]:
        """Of the traces whose paths fit."""
        return [_SPARK.InputPartition(paths) for paths in self._asked.bundles(self._filters)]

    def read(self, partition: Any) -> Iterator[Any]:
        """The record batches of its traces. A problem with one ends the job only if `errors` is not `salvage`."""
        # Spark asks for the value None if no trace is left.
        for path in partition.value or ():
            problems: list[questions.TraceProblem] = []
            yield from self._rows(path, self._schema, problems)
            if self._asked.opening.errors != "salvage":
                for problem in problems:
                    if problem.severity == questions.UNREAD:
                        raise RuntimeError(f"{problem.trace}: {problem.message}")


class _PushingReader(_Reader):
    """Reads less where Spark's filters allow it."""

    def pushFilters(self, filters: Sequence[object]) -> Sequence[object]:
        """Remember the filters, and leave them all to Spark, too: that is always right."""
        self._filters = tuple(filters)
        self._rows = self._asked.rows(self._schema, self._filters)
        return filters
