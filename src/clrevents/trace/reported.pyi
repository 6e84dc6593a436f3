# Made by tools/make.py stubs.
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.decode.selection import Moment

if TYPE_CHECKING:
    from clrevents.analysis.about.checking import CheckResult
    from clrevents.analysis.doctor.diagnosis import Diagnosis
    from clrevents.analysis.reports.activities import ActivitiesReport, ActivityLeak, ActivityName, ActivityRow, OrphanStop
    from clrevents.analysis.reports.alloc import AllocReport, AllocatedKind, AllocatedType, AllocatedTypeStack, AllocatingStack, AllocatingThread, AllocationInterval, AllocationSource
    from clrevents.analysis.reports.callers import CallNode, CalledMethod, CallersReport
    from clrevents.analysis.reports.counters import CountersReport
    from clrevents.analysis.reports.counters.counter_tables import CounterSeries, CounterValue
    from clrevents.analysis.reports.counters.counter_values import CounterInstrument, CounterProblem
    from clrevents.analysis.reports.exceptions import ExceptionGroup, ExceptionInterval, ExceptionMessage, ExceptionOutcome, ExceptionsReport, ThrownException
    from clrevents.analysis.reports.gc import GcReport
    from clrevents.analysis.reports.gc.gc_rows import AdaptationSample, AdaptationTuning, CollectedGeneration, CommittedMemory, GarbageCollection, GcSuspension, GcTotal, HeapGeneration, KeptObjects, MarkedRoots, SuspensionHint
    from clrevents.analysis.reports.heap import HeapReport
    from clrevents.analysis.reports.heap.heap_tables import DominatorLine, RootGroup, RootPath, Snapshot, TypeGrowth, TypeOnHeap
    from clrevents.analysis.reports.jit import Compilation, JitDecision, JitReport, JitThread, JittedMethod, TierTotal
    from clrevents.analysis.reports.locks import LocksReport
    from clrevents.analysis.reports.locks.lock_tables import ContendedLock, Contention, Convoy, DeadlockedThread, LockHolder, LockOwner, WaitingMethod, WaitingThread
    from clrevents.analysis.reports.modules import LoadedModule, ModulesReport
    from clrevents.analysis.reports.pool import PoolReport
    from clrevents.analysis.reports.pool.pool_rows import PoolAdjustment, PoolLimits, PoolShortage, PoolSize, PoolThroughput, QueueLatency, QueueLength, QueuedItem
    from clrevents.analysis.reports.requests import RequestsReport
    from clrevents.analysis.reports.requests.request_connections import ConnectionStep
    from clrevents.analysis.reports.requests.request_tables import DatabaseCommand, RequestConcurrency, RequestInside, RequestNearby, RequestPart, RequestPeriod, RequestRoute, RequestRow, WaterfallLine
    from clrevents.analysis.reports.startup import AssemblyLoading, CodeLookup, LoadedType, StartupCompilation, StartupMoment, StartupReport
    from clrevents.analysis.reports.stubs import Stub, StubKind, StubTarget, StubsReport
    from clrevents.analysis.reports.tasks import TasksReport
    from clrevents.analysis.reports.tasks.task_tables import BlockingWait, TaskBlocker, TaskMethod, TaskRun
    from clrevents.analysis.reports.threads import ThreadsReport
    from clrevents.analysis.reports.threads.thread_rows import RoleRow, StateRow, ThreadInterval, ThreadRow
    from clrevents.analysis.reports.top import Branch, HotRow, StandingThread, TopReport
    from clrevents.analysis.reports.waits import WaitsReport
    from clrevents.analysis.shared.blocking.known_waits import BlockedThread, BlockingMethod, Wait, WaitKind

A = TypeVar("A")
REPORTS: str

class Reported:
    @overload
    def report(self, report: type[A], /, *, start: Moment | None = None, end: Moment | None = None, process_id: int | None = None, **parameters: Any) -> A: ...
    @overload
    def report(self, report: Literal["activities"], /, *, start: Moment | None = None, end: Moment | None = None, process_id: int | None = None, **parameters: Any) -> ActivitiesReport: ...
    @overload
    def report(self, report: Literal["alloc"], /, *, start: Moment | None = None, end: Moment | None = None, process_id: int | None = None, **parameters: Any) -> AllocReport: ...
    @overload
    def report(self, report: Literal["callers"], /, *, start: Moment | None = None, end: Moment | None = None, process_id: int | None = None, **parameters: Any) -> CallersReport: ...
    @overload
    def report(self, report: Literal["counters"], /, *, start: Moment | None = None, end: Moment | None = None, process_id: int | None = None, **parameters: Any) -> CountersReport: ...
    @overload
    def report(self, report: Literal["exceptions"], /, *, start: Moment | None = None, end: Moment | None = None, process_id: int | None = None, **parameters: Any) -> ExceptionsReport: ...
    @overload
    def report(self, report: Literal["gc"], /, *, start: Moment | None = None, end: Moment | None = None, process_id: int | None = None, **parameters: Any) -> GcReport: ...
    @overload
    def report(self, report: Literal["heap"], /, *, start: Moment | None = None, end: Moment | None = None, process_id: int | None = None, **parameters: Any) -> HeapReport: ...
    @overload
    def report(self, report: Literal["jit"], /, *, start: Moment | None = None, end: Moment | None = None, process_id: int | None = None, **parameters: Any) -> JitReport: ...
    @overload
    def report(self, report: Literal["locks"], /, *, start: Moment | None = None, end: Moment | None = None, process_id: int | None = None, **parameters: Any) -> LocksReport: ...
    @overload
    def report(self, report: Literal["modules"], /, *, start: Moment | None = None, end: Moment | None = None, process_id: int | None = None, **parameters: Any) -> ModulesReport: ...
    @overload
    def report(self, report: Literal["pool"], /, *, start: Moment | None = None, end: Moment | None = None, process_id: int | None = None, **parameters: Any) -> PoolReport: ...
    @overload
    def report(self, report: Literal["requests"], /, *, start: Moment | None = None, end: Moment | None = None, process_id: int | None = None, **parameters: Any) -> RequestsReport: ...
    @overload
    def report(self, report: Literal["startup"], /, *, start: Moment | None = None, end: Moment | None = None, process_id: int | None = None, **parameters: Any) -> StartupReport: ...
    @overload
    def report(self, report: Literal["stubs"], /, *, start: Moment | None = None, end: Moment | None = None, process_id: int | None = None, **parameters: Any) -> StubsReport: ...
    @overload
    def report(self, report: Literal["tasks"], /, *, start: Moment | None = None, end: Moment | None = None, process_id: int | None = None, **parameters: Any) -> TasksReport: ...
    @overload
    def report(self, report: Literal["threads"], /, *, start: Moment | None = None, end: Moment | None = None, process_id: int | None = None, **parameters: Any) -> ThreadsReport: ...
    @overload
    def report(self, report: Literal["top"], /, *, start: Moment | None = None, end: Moment | None = None, process_id: int | None = None, **parameters: Any) -> TopReport: ...
    @overload
    def report(self, report: Literal["waits"], /, *, start: Moment | None = None, end: Moment | None = None, process_id: int | None = None, **parameters: Any) -> WaitsReport: ...
    @overload
    def report(self, report: str, /, *, start: Moment | None = None, end: Moment | None = None, process_id: int | None = None, **parameters: Any) -> Any: ...
    def reports(self, *names: str, start: Moment | None = None, end: Moment | None = None, process_id: int | None = None) -> dict[str, Any]: ...
    def doctor(self, *rules: str, start: Moment | None = None, end: Moment | None = None, process_id: int | None = None) -> Diagnosis: ...
    def check(self) -> CheckResult: ...

class Tabled:
    @overload
    def table(self: ActivitiesReport, name: Literal["names"] | None = None) -> ReportTable[ActivityName]: ...  # type: ignore[misc]
    @overload
    def table(self: ActivitiesReport, name: Literal["activities"]) -> ReportTable[ActivityRow]: ...  # type: ignore[misc]
    @overload
    def table(self: ActivitiesReport, name: Literal["orphans"]) -> ReportTable[OrphanStop]: ...  # type: ignore[misc]
    @overload
    def table(self: ActivitiesReport, name: Literal["leaks"]) -> ReportTable[ActivityLeak]: ...  # type: ignore[misc]
    @overload
    def table(self: AllocReport, name: Literal["types"] | None = None) -> ReportTable[AllocatedType]: ...  # type: ignore[misc]
    @overload
    def table(self: AllocReport, name: Literal["kinds"]) -> ReportTable[AllocatedKind]: ...  # type: ignore[misc]
    @overload
    def table(self: AllocReport, name: Literal["threads"]) -> ReportTable[AllocatingThread]: ...  # type: ignore[misc]
    @overload
    def table(self: AllocReport, name: Literal["timeline"]) -> ReportTable[AllocationInterval]: ...  # type: ignore[misc]
    @overload
    def table(self: AllocReport, name: Literal["sources"]) -> ReportTable[AllocationSource]: ...  # type: ignore[misc]
    @overload
    def table(self: AllocReport, name: Literal["stacks"]) -> ReportTable[AllocatingStack]: ...  # type: ignore[misc]
    @overload
    def table(self: AllocReport, name: Literal["type_stacks"]) -> ReportTable[AllocatedTypeStack]: ...  # type: ignore[misc]
    @overload
    def table(self: CallersReport, name: Literal["callers"] | None = None) -> ReportTable[CallNode]: ...  # type: ignore[misc]
    @overload
    def table(self: CallersReport, name: Literal["callees"]) -> ReportTable[CallNode]: ...  # type: ignore[misc]
    @overload
    def table(self: CallersReport, name: Literal["methods"]) -> ReportTable[CalledMethod]: ...  # type: ignore[misc]
    @overload
    def table(self: CountersReport, name: Literal["series"] | None = None) -> ReportTable[CounterSeries]: ...  # type: ignore[misc]
    @overload
    def table(self: CountersReport, name: Literal["instruments"]) -> ReportTable[CounterInstrument]: ...  # type: ignore[misc]
    @overload
    def table(self: CountersReport, name: Literal["problems"]) -> ReportTable[CounterProblem]: ...  # type: ignore[misc]
    @overload
    def table(self: CountersReport, name: Literal["values"]) -> ReportTable[CounterValue]: ...  # type: ignore[misc]
    @overload
    def table(self: ExceptionsReport, name: Literal["groups"] | None = None) -> ReportTable[ExceptionGroup]: ...  # type: ignore[misc]
    @overload
    def table(self: ExceptionsReport, name: Literal["messages"]) -> ReportTable[ExceptionMessage]: ...  # type: ignore[misc]
    @overload
    def table(self: ExceptionsReport, name: Literal["outcomes"]) -> ReportTable[ExceptionOutcome]: ...  # type: ignore[misc]
    @overload
    def table(self: ExceptionsReport, name: Literal["timeline"]) -> ReportTable[ExceptionInterval]: ...  # type: ignore[misc]
    @overload
    def table(self: ExceptionsReport, name: Literal["exceptions"]) -> ReportTable[ThrownException]: ...  # type: ignore[misc]
    @overload
    def table(self: GcReport, name: Literal["collections"] | None = None) -> ReportTable[GarbageCollection]: ...  # type: ignore[misc]
    @overload
    def table(self: GcReport, name: Literal["totals"]) -> ReportTable[GcTotal]: ...  # type: ignore[misc]
    @overload
    def table(self: GcReport, name: Literal["suspensions"]) -> ReportTable[GcSuspension]: ...  # type: ignore[misc]
    @overload
    def table(self: GcReport, name: Literal["generations"]) -> ReportTable[CollectedGeneration]: ...  # type: ignore[misc]
    @overload
    def table(self: GcReport, name: Literal["heaps"]) -> ReportTable[HeapGeneration]: ...  # type: ignore[misc]
    @overload
    def table(self: GcReport, name: Literal["marks"]) -> ReportTable[MarkedRoots]: ...  # type: ignore[misc]
    @overload
    def table(self: GcReport, name: Literal["committed"]) -> ReportTable[CommittedMemory]: ...  # type: ignore[misc]
    @overload
    def table(self: GcReport, name: Literal["samples"]) -> ReportTable[AdaptationSample]: ...  # type: ignore[misc]
    @overload
    def table(self: GcReport, name: Literal["tunings"]) -> ReportTable[AdaptationTuning]: ...  # type: ignore[misc]
    @overload
    def table(self: GcReport, name: Literal["hints"]) -> ReportTable[SuspensionHint]: ...  # type: ignore[misc]
    @overload
    def table(self: GcReport, name: Literal["kept"]) -> ReportTable[KeptObjects]: ...  # type: ignore[misc]
    @overload
    def table(self: GcReport, name: Literal["other_suspensions"]) -> ReportTable[GcSuspension]: ...  # type: ignore[misc]
    @overload
    def table(self: HeapReport, name: Literal["types"] | None = None) -> ReportTable[TypeOnHeap]: ...  # type: ignore[misc]
    @overload
    def table(self: HeapReport, name: Literal["snapshots"]) -> ReportTable[Snapshot]: ...  # type: ignore[misc]
    @overload
    def table(self: HeapReport, name: Literal["dominators"]) -> ReportTable[DominatorLine]: ...  # type: ignore[misc]
    @overload
    def table(self: HeapReport, name: Literal["roots"]) -> ReportTable[RootGroup]: ...  # type: ignore[misc]
    @overload
    def table(self: HeapReport, name: Literal["paths"]) -> ReportTable[RootPath]: ...  # type: ignore[misc]
    @overload
    def table(self: HeapReport, name: Literal["growth"]) -> ReportTable[TypeGrowth]: ...  # type: ignore[misc]
    @overload
    def table(self: JitReport, name: Literal["methods"] | None = None) -> ReportTable[JittedMethod]: ...  # type: ignore[misc]
    @overload
    def table(self: JitReport, name: Literal["compilations"]) -> ReportTable[Compilation]: ...  # type: ignore[misc]
    @overload
    def table(self: JitReport, name: Literal["tiers"]) -> ReportTable[TierTotal]: ...  # type: ignore[misc]
    @overload
    def table(self: JitReport, name: Literal["threads"]) -> ReportTable[JitThread]: ...  # type: ignore[misc]
    @overload
    def table(self: JitReport, name: Literal["decisions"]) -> ReportTable[JitDecision]: ...  # type: ignore[misc]
    @overload
    def table(self: LocksReport, name: Literal["locks"] | None = None) -> ReportTable[ContendedLock]: ...  # type: ignore[misc]
    @overload
    def table(self: LocksReport, name: Literal["deadlocks"]) -> ReportTable[DeadlockedThread]: ...  # type: ignore[misc]
    @overload
    def table(self: LocksReport, name: Literal["convoys"]) -> ReportTable[Convoy]: ...  # type: ignore[misc]
    @overload
    def table(self: LocksReport, name: Literal["methods"]) -> ReportTable[WaitingMethod]: ...  # type: ignore[misc]
    @overload
    def table(self: LocksReport, name: Literal["holders"]) -> ReportTable[LockHolder]: ...  # type: ignore[misc]
    @overload
    def table(self: LocksReport, name: Literal["owners"]) -> ReportTable[LockOwner]: ...  # type: ignore[misc]
    @overload
    def table(self: LocksReport, name: Literal["threads"]) -> ReportTable[WaitingThread]: ...  # type: ignore[misc]
    @overload
    def table(self: LocksReport, name: Literal["contentions"]) -> ReportTable[Contention]: ...  # type: ignore[misc]
    @overload
    def table(self: ModulesReport, name: Literal["modules"] | None = None) -> ReportTable[LoadedModule]: ...  # type: ignore[misc]
    @overload
    def table(self: PoolReport, name: Literal["blockers"] | None = None) -> ReportTable[BlockingMethod]: ...  # type: ignore[misc]
    @overload
    def table(self: PoolReport, name: Literal["shortages"]) -> ReportTable[PoolShortage]: ...  # type: ignore[misc]
    @overload
    def table(self: PoolReport, name: Literal["adjustments"]) -> ReportTable[PoolAdjustment]: ...  # type: ignore[misc]
    @overload
    def table(self: PoolReport, name: Literal["latencies"]) -> ReportTable[QueueLatency]: ...  # type: ignore[misc]
    @overload
    def table(self: PoolReport, name: Literal["throughput"]) -> ReportTable[PoolThroughput]: ...  # type: ignore[misc]
    @overload
    def table(self: PoolReport, name: Literal["limits"]) -> ReportTable[PoolLimits]: ...  # type: ignore[misc]
    @overload
    def table(self: PoolReport, name: Literal["sizes"]) -> ReportTable[PoolSize]: ...  # type: ignore[misc]
    @overload
    def table(self: PoolReport, name: Literal["length"]) -> ReportTable[QueueLength]: ...  # type: ignore[misc]
    @overload
    def table(self: PoolReport, name: Literal["queue"]) -> ReportTable[QueuedItem]: ...  # type: ignore[misc]
    @overload
    def table(self: RequestsReport, name: Literal["routes"] | None = None) -> ReportTable[RequestRoute]: ...  # type: ignore[misc]
    @overload
    def table(self: RequestsReport, name: Literal["requests"]) -> ReportTable[RequestRow]: ...  # type: ignore[misc]
    @overload
    def table(self: RequestsReport, name: Literal["periods"]) -> ReportTable[RequestPeriod]: ...  # type: ignore[misc]
    @overload
    def table(self: RequestsReport, name: Literal["waterfall"]) -> ReportTable[WaterfallLine]: ...  # type: ignore[misc]
    @overload
    def table(self: RequestsReport, name: Literal["nearby"]) -> ReportTable[RequestNearby]: ...  # type: ignore[misc]
    @overload
    def table(self: RequestsReport, name: Literal["commands"]) -> ReportTable[DatabaseCommand]: ...  # type: ignore[misc]
    @overload
    def table(self: RequestsReport, name: Literal["network"]) -> ReportTable[ConnectionStep]: ...  # type: ignore[misc]
    @overload
    def table(self: RequestsReport, name: Literal["concurrency"]) -> ReportTable[RequestConcurrency]: ...  # type: ignore[misc]
    @overload
    def table(self: RequestsReport, name: Literal["parts"]) -> ReportTable[RequestPart]: ...  # type: ignore[misc]
    @overload
    def table(self: RequestsReport, name: Literal["inside"]) -> ReportTable[RequestInside]: ...  # type: ignore[misc]
    @overload
    def table(self: StartupReport, name: Literal["moments"] | None = None) -> ReportTable[StartupMoment]: ...  # type: ignore[misc]
    @overload
    def table(self: StartupReport, name: Literal["compilations"]) -> ReportTable[StartupCompilation]: ...  # type: ignore[misc]
    @overload
    def table(self: StartupReport, name: Literal["loads"]) -> ReportTable[AssemblyLoading]: ...  # type: ignore[misc]
    @overload
    def table(self: StartupReport, name: Literal["types"]) -> ReportTable[LoadedType]: ...  # type: ignore[misc]
    @overload
    def table(self: StartupReport, name: Literal["lookups"]) -> ReportTable[CodeLookup]: ...  # type: ignore[misc]
    @overload
    def table(self: StubsReport, name: Literal["stubs"] | None = None) -> ReportTable[Stub]: ...  # type: ignore[misc]
    @overload
    def table(self: StubsReport, name: Literal["targets"]) -> ReportTable[StubTarget]: ...  # type: ignore[misc]
    @overload
    def table(self: StubsReport, name: Literal["kinds"]) -> ReportTable[StubKind]: ...  # type: ignore[misc]
    @overload
    def table(self: TasksReport, name: Literal["methods"] | None = None) -> ReportTable[TaskMethod]: ...  # type: ignore[misc]
    @overload
    def table(self: TasksReport, name: Literal["blockers"]) -> ReportTable[TaskBlocker]: ...  # type: ignore[misc]
    @overload
    def table(self: TasksReport, name: Literal["tasks"]) -> ReportTable[TaskRun]: ...  # type: ignore[misc]
    @overload
    def table(self: TasksReport, name: Literal["blocking"]) -> ReportTable[BlockingWait]: ...  # type: ignore[misc]
    @overload
    def table(self: ThreadsReport, name: Literal["threads"] | None = None) -> ReportTable[ThreadRow]: ...  # type: ignore[misc]
    @overload
    def table(self: ThreadsReport, name: Literal["roles"]) -> ReportTable[RoleRow]: ...  # type: ignore[misc]
    @overload
    def table(self: ThreadsReport, name: Literal["states"]) -> ReportTable[StateRow]: ...  # type: ignore[misc]
    @overload
    def table(self: ThreadsReport, name: Literal["intervals"]) -> ReportTable[ThreadInterval]: ...  # type: ignore[misc]
    @overload
    def table(self: TopReport, name: Literal["methods"] | None = None) -> ReportTable[HotRow]: ...  # type: ignore[misc]
    @overload
    def table(self: TopReport, name: Literal["standing"]) -> ReportTable[StandingThread]: ...  # type: ignore[misc]
    @overload
    def table(self: TopReport, name: Literal["branches"]) -> ReportTable[Branch]: ...  # type: ignore[misc]
    @overload
    def table(self: WaitsReport, name: Literal["methods"] | None = None) -> ReportTable[BlockingMethod]: ...  # type: ignore[misc]
    @overload
    def table(self: WaitsReport, name: Literal["kinds"]) -> ReportTable[WaitKind]: ...  # type: ignore[misc]
    @overload
    def table(self: WaitsReport, name: Literal["threads"]) -> ReportTable[BlockedThread]: ...  # type: ignore[misc]
    @overload
    def table(self: WaitsReport, name: Literal["waits"]) -> ReportTable[Wait]: ...  # type: ignore[misc]
    @overload
    def table(self, name: str | None = None) -> ReportTable[Any]: ...
