"""A sample report about methods that were compiled: spans, moments (bulk), a table made of rows that were cut."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

import numpy as np

from clrevents.analysis.framework.model.answer import Answer, answer, table
from clrevents.analysis.framework.model.collector import Collector, Context, ReportChunk
from clrevents.analysis.framework.model.declaration import ReportDeclaration, parameter, parameters
from clrevents.analysis.framework.model.kept import Kept
from clrevents.analysis.framework.model.needs import Need
from clrevents.analysis.framework.vocabulary.answer_values import MetricDeclaration
from clrevents.analysis.framework.vocabulary.cells import (
    Address,
    Bytes,
    CodeName,
    Count,
    DurationNs,
    Flag,
    Handle,
    Ns,
    ThreadId,
    Word,
)
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.framework.vocabulary.row_class import Row, SpanRow, column, row
from clrevents.analysis.gathering.gather import Gathered, matched

STARTED: Final = "runtime/MethodJittingStarted"
LOADED: Final = "runtime/MethodLoadVerbose"


@row(span=("start_ns", "end_ns"), threads=("thread_id",))
class Compilation(SpanRow):
    """One method that was compiled."""

    start_ns: Ns | None = column("When the compiler began; null where the trace does not have it.")
    end_ns: Ns | None = column("When the code was there; null where the trace does not have it.")
    duration_ns: DurationNs | None = column("Between the two.")
    thread_id: ThreadId | None = column("The thread that compiled.")
    method_id: Handle = column("The runtime's id of the method.")
    namespace: CodeName = column("The namespace and the type.")
    method: CodeName = column("The method's name.")
    size: Bytes | None = column("How large the code is.")
    address: Address | None = column("Where the code is.")


@row(at="time_ns", threads=("thread_id",))
class Start(Row):
    """One moment at which a compiler began."""

    time_ns: Ns = column("When.")
    thread_id: ThreadId | None = column("The thread that compiles.")
    il_size: Bytes = column("How large the IL is.")
    words: tuple[Word, ...] = column("The parts of the namespace.", hidden=True)


@row
class Namespace(Row):
    """What was compiled of one namespace."""

    namespace: CodeName = column("The namespace and the type.")
    count: Count = column("How many methods were begun.")
    spent_ns: DurationNs = column("How long it took within the window.")


@row
class CompilationFacts:
    """Circumstances."""

    any_end: Flag | None = column("Whether any compilation has an end.")


@parameters
class CompilationParameters:
    """What may be asked for."""

    least: int = parameter(0, "The size of the smallest IL that counts, in bytes.")


@answer(name="compilations")
class CompilationReport(Answer[CompilationFacts]):
    """Which methods were compiled and how long it took."""

    compilations: ReportTable[Compilation] = table("Each method.")
    starts: ReportTable[Start] = table("Each beginning.", bulk=True)
    namespaces: ReportTable[Namespace] = table("Sums by namespace.")


class Compilations(Collector[CompilationReport]):
    """Keeps starts and loads, and pairs them in the end by thread and method."""

    selectors = (STARTED, LOADED)

    def __init__(self, parameters: CompilationParameters) -> None:
        self.parameters = parameters
        self.kept = Kept()

    def take(self, chunk: ReportChunk) -> None:
        self.kept.take(chunk)

    def finish(self, context: Context) -> CompilationReport:
        rows = self.kept.all(self.selectors, context.nothing)
        started, loaded = rows[STARTED], rows[LOADED]
        wanted = np.flatnonzero(started.numbers("MethodILSize") >= self.parameters.least)
        started = started.only(wanted, [field.name for field in started.table.fields])
        compilations = self.compilations(context, started, loaded)
        starts = self.starts(context, started)
        namespaces = self.namespaces(context, compilations)
        return self.answered(context, compilations, starts, namespaces)

    def compilations(self, context: Context, started: Gathered, loaded: Gathered) -> ReportTable[Compilation]:
        first, second = matched([started], [loaded], ("thread_id", "MethodID"))
        end: list[Any] = [None] * len(started)
        size, address = end.copy(), end.copy()
        times, sizes = loaded.numbers("time_ns").tolist(), loaded.numbers("MethodSize").tolist()
        places = loaded.numbers("MethodStartAddress").tolist()
        for a, b in zip(first.tolist(), second.tolist(), strict=True):
            end[a], size[a], address[a] = times[b], sizes[b], places[b]
        start = started.numbers("time_ns").tolist()
        return context.table(
            Compilation,
            {
                "start_ns": start,
                "end_ns": end,
                "duration_ns": [None if b is None else b - a for a, b in zip(start, end, strict=True)],
                "thread_id": started.column("thread_id"),
                "method_id": started.column("MethodID"),
                "namespace": started.column("MethodNamespace").tolist(),
                "method": started.column("MethodName").tolist(),
                "size": size,
                "address": address,
            },
        )

    def starts(self, context: Context, started: Gathered) -> ReportTable[Start]:
        return context.table(
            Start,
            {
                "time_ns": started.column("time_ns"),
                "thread_id": started.column("thread_id"),
                "il_size": started.numbers("MethodILSize").astype(np.int64),
                "words": [text.split(".") for text in started.column("MethodNamespace").tolist()],
            },
        )

    def namespaces(self, context: Context, rows: ReportTable[Compilation]) -> ReportTable[Namespace]:
        count: Counter[str] = Counter()
        spent: Counter[str] = Counter()
        lossy = set()
        begun, overlap = context.begun(rows).tolist(), context.overlap(rows).tolist()
        for one, counts, inside in zip(rows, begun, overlap, strict=True):
            count[one.namespace] += counts
            spent[one.namespace] += inside
            if one.lossy:
                lossy.add(one.namespace)
        names = sorted(count)
        return context.table(
            Namespace,
            {
                "namespace": names,
                "count": [count[name] for name in names],
                "spent_ns": [spent[name] for name in names],
                "lossy": [name in lossy for name in names],
            },
        )

    def answered(
        self,
        context: Context,
        compilations: ReportTable[Compilation],
        starts: ReportTable[Start],
        namespaces: ReportTable[Namespace],
    ) -> CompilationReport:
        durations = [one.duration_ns for one in compilations if one.duration_ns is not None]
        made: CompilationReport = context.answer(
            CompilationReport,
            facts=CompilationFacts(any_end=bool(durations) if len(compilations) else None),
            metrics={
                "count": int(context.begun(compilations).sum()),
                "spent": int(context.overlap(compilations).sum()),
                "longest": max(durations, default=None),
                "shortest": min(durations, default=None),
                "names": len(namespaces),
            },
            compilations=compilations,
            starts=starts,
            namespaces=namespaces,
        )
        return made


REPORT: Final = ReportDeclaration(
    CompilationReport,
    "Which methods were compiled?",
    "program",
    (Need("which methods were compiled", ("MethodJittingStarted",), 0x10, level=5, essential=True),),
    (
        MetricDeclaration("count", "count", "How many were begun."),
        MetricDeclaration("spent", "ns", "How long all took.", better="less"),
        MetricDeclaration("longest", "ns", "The longest.", merge="max"),
        MetricDeclaration("shortest", "ns", "The shortest.", merge="min"),
        MetricDeclaration("names", "count", "How many namespaces there are.", windows=False),
    ),
    Compilations,
    CompilationParameters,
    in_part={"*": "unknown"},
)
