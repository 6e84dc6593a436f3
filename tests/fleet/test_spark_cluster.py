"""A real cluster of Spark, a master and two workers on this machine: kinds of event, reports, and a worker that is
killed in the middle give what one process gives. test_spark_reports.py has every table of every report, as a worker
reads it.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import reduce
from pathlib import Path
from typing import Any

import attrs
import pytest

import clrevents
from clrevents.analysis.framework.run.asking import find_report
from clrevents.analysis.framework.run.listing import report_names
from clrevents.export.files.lake import export_trace, jobs
from clrevents.export.files.tables import Options
from clrevents.schema.registry import DEFAULT
from clrevents.table.table import Table
from far_files import Reads, served
from local_spark import JAVA, needs_spark, spark_session
from project_files import FIXTURES, SOURCE
from tiers import drawn

pytestmark = [pytest.mark.full, pytest.mark.filterwarnings("ignore")]

PLACE = str(FIXTURES / "net10-[gm]*.nettrace.gz")
HELD = ("net8-sample.nettrace.gz", "net8-meters.nettrace.gz")
"""A reader fetches each of them with one request."""
METHODS = "MethodDCEndVerbose"
KINDS, EXPORTED = 10, 4
"""How many kinds of event are read through the data source, and how many as exported tables too."""


@attrs.frozen
class Cluster:
    """A session on the cluster, and the processes of its workers."""

    session: Any
    workers: list[subprocess.Popen[bytes]]


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def until(port: int) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise TimeoutError(f"nothing listens on port {port}")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    needs_spark()
    import pyspark

    home = Path(pyspark.__file__).parent
    folder = tmp_path_factory.mktemp("cluster")
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_HOME": str(home)}
    environment |= {"SPARK_DAEMON_MEMORY": "256m", "SPARK_DAEMON_JAVA_OPTS": JAVA}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(SOURCE.parent), os.environ.get("PYTHONPATH")]))
    started: list[subprocess.Popen[bytes]] = []

    def start(name: str, *arguments: str) -> None:
        with (folder / f"{len(started)}.log").open("wb") as log:
            command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *arguments]
            # A group of its own: a worker's executors go with it.
            started.append(
                subprocess.Popen(command, env=environment, cwd=folder, stdout=log, stderr=log, start_new_session=True)
            )

    port, host = free_port(), ("--host", "127.0.0.1")
    stack = ExitStack()
    try:
        start("master.Master", *host, "--port", str(port), "--webui-port", str(free_port()))
        until(port)
        for number in range(2):
            own = free_port()
            web = ("--webui-port", str(free_port()), "--work-dir", str(folder / f"work{number}"))
            start(
                "worker.Worker", *host, "--port", str(own), *web, "-c", "1", "-m", "700m", f"spark://127.0.0.1:{port}"
            )
            until(own)
        memory = {"spark.executor.memory": "512m", "spark.executor.cores": "1"}
        both = {"spark.scheduler.minRegisteredResourcesRatio": "1.0", "spark.cores.max": "2"}
        session = stack.enter_context(spark_session(f"spark://127.0.0.1:{port}", **memory, **both))
        yield Cluster(session, started[1:])
    finally:
        stack.close()
        for process in started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def load(cluster: Cluster, place: str | list[str] = PLACE, **options: str) -> Any:
    return cluster.session.read.format("nettrace").options(**options).load(place)


def sums(frames: Mapping[str, tuple[Any, Table]]) -> dict[str, list[int]]:
    """The number of rows, and the sum of each column of whole numbers; of many frames with one query."""
    from pyspark.sql import functions as f

    found = []
    for name, (frame, table) in frames.items():
        # Exported tables lack the column `trace`.
        assert frame.columns in (table.columns, table.columns[1:]), name
        numbers = [f.count(f.lit(1)), *(f.sum(f.col(f"`{column}`").cast("decimal(38,0)")) for column in whole(table))]
        found.append(frame.agg(f.array(*(number.cast("decimal(38,0)") for number in numbers))).select(f.lit(name), "*"))
    rows = reduce(lambda one, other: one.union(other), found).collect()
    return {row[0]: [int(value or 0) for value in row[1]] for row in rows}


def sums_of(table: Table) -> list[int]:
    """The same of our table."""
    return [len(table), *(sum(v for v in table[name].tolist() if v is not None) for name in whole(table))]


def whole(table: Table) -> list[str]:
    return [field.name for field in table.fields if "int" in field.type.kind]


def test_kinds_of_event(cluster: Cluster, tmp_path: Path) -> None:
    """Through the data source, and as exported tables that Spark reads by itself."""
    with clrevents.open_many(PLACE, jobs=1) as traces:
        counted: Counter[tuple[str, str]] = Counter()
        for row in traces.event_counts().rows():
            counted[row["provider"], row["name"]] += row["events"]
        declared = [kind for kind, _ in counted.most_common() if any(e.name == kind[1] for e in DEFAULT.entries())]
        tables = {"/".join(kind): traces.table("/".join(kind)) for kind in declared[:KINDS]}
    assert len(tables) == KINDS
    for job in jobs(traces.paths, tmp_path, Options()):
        assert export_trace(job).written is not None
    # Parquet's nanoseconds are no timestamp for Spark.
    cluster.session.conf.set("spark.sql.legacy.parquet.nanosAsLong", "true")
    frames, lake = {}, {}
    for kind, table in tables.items():
        assert len(table), kind
        frames[kind] = load(cluster, event=kind, bundleBytes="0"), table
        if len(lake) < EXPORTED:
            lake[kind] = cluster.session.read.parquet(f"{tmp_path}/*/{kind}.parquet"), table
    expected = {kind: sums_of(table) for kind, table in tables.items()}
    assert sums(frames) == expected
    assert sums(lake) == {kind: expected[kind] for kind in lake}


def test_reports(cluster: Cluster) -> None:
    """The first table and the metrics of a third of them."""
    names = [name for name in report_names() if drawn(3, "reports of a cluster", name)]
    assert len(names) > 3
    with clrevents.open_many(PLACE, jobs=1) as traces:
        answers = traces.reports(*names)
    frames = {}
    for name, answer in answers.items():
        first = next(table.name for table in find_report(name).answer.tables() if not table.bulk)
        frames[name] = load(cluster, report=name, table=first, bundleBytes="0"), answer.table(first)
        frames[f"{name} by trace"] = load(cluster, report=name, table="by_trace", bundleBytes="0"), answer.by_trace
    assert sums(frames) == {name: sums_of(table) for name, (_, table) in frames.items()}


class Gate:
    """Lets nobody through before it is opened; knows who came, and how often."""

    def __init__(self) -> None:
        self.came: Counter[str] = Counter()
        self._changed = threading.Condition()
        self._open = False

    def __call__(self, name: str) -> None:
        with self._changed:
            self.came[name] += 1
            self._changed.notify_all()
            self._wait(lambda: self._open)

    def until(self, names: Sequence[str]) -> None:
        """Wait for all of these."""
        with self._changed:
            self._wait(lambda: self.came.keys() >= set(names))

    def open(self) -> None:
        with self._changed:
            self._open = True
            self._changed.notify_all()

    def _wait(self, condition: Callable[[], bool]) -> None:
        if not self._changed.wait_for(condition, 240):
            raise TimeoutError("nobody came, or nobody opened")


def test_a_worker_that_is_killed_changes_nothing(cluster: Cluster) -> None:
    """The last test: one worker is left.

    Two traces are held back until one worker is dead. Each worker does one thing at a time, so that the dead one has
    begun with one of them. The others were read before, and what the dead worker kept for the second stage is lost.
    """
    gate, killed = Gate(), list[int]()

    def kill() -> None:
        try:
            gate.until(HELD)
            os.killpg(cluster.workers[0].pid, signal.SIGKILL)
            killed.append(cluster.workers[0].wait())
        finally:
            gate.open()

    with served({name: (FIXTURES / name).read_bytes() for name in HELD}, Reads(), gate) as address:
        near = sorted(str(path) for path in FIXTURES.glob("net*.nettrace.gz") if path.name not in HELD)
        far = [f"{address}/{name}" for name in HELD]
        killer = threading.Thread(target=kill)
        killer.start()
        frame = load(cluster, [*near, *far], event=METHODS, columns="MethodID", bundleBytes="0")
        rows = frame.repartition(2).collect()
        killer.join()
    assert killed == [-signal.SIGKILL]
    assert sum(gate.came.values()) > len(HELD), "nobody read again what the dead worker had begun to read"
    with clrevents.open_many([*near, *(FIXTURES / name for name in HELD)], jobs=1) as traces:
        table = traces.table(METHODS, columns=["MethodID"])
    names = {str(FIXTURES / name): url for name, url in zip(HELD, far, strict=True)}
    paths = [names.get(path, path) for path in table["trace"].tolist()]
    assert {*far} < {*paths}
    expected = Counter(zip(paths, table["MethodID"].tolist(), strict=True))
    assert Counter((row[0], int(row[1])) for row in rows) == expected
