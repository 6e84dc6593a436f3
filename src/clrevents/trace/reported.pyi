# Made by tools/make.py stubs.
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from clrevents.decode.selection import Moment

if TYPE_CHECKING:
    from clrevents.analysis.reports.activities import ActivitiesReport
    from clrevents.analysis.reports.alloc import AllocReport
    from clrevents.analysis.reports.callers import CallersReport
    from clrevents.analysis.reports.counters import CountersReport
    from clrevents.analysis.reports.exceptions import ExceptionsReport
    from clrevents.analysis.reports.gc import GcReport
    from clrevents.analysis.reports.heap import HeapReport
    from clrevents.analysis.reports.jit import JitReport
    from clrevents.analysis.reports.locks import LocksReport
    from clrevents.analysis.reports.modules import ModulesReport
    from clrevents.analysis.reports.pool import PoolReport
    from clrevents.analysis.reports.requests import RequestsReport
    from clrevents.analysis.reports.startup import StartupReport
    from clrevents.analysis.reports.stubs import StubsReport
    from clrevents.analysis.reports.tasks import TasksReport
    from clrevents.analysis.reports.threads import ThreadsReport
    from clrevents.analysis.reports.top import TopReport
    from clrevents.analysis.reports.waits import WaitsReport

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
