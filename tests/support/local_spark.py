"""A real Spark for tests, and its rows as ours. Skips the test where pyspark or Java is missing."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from typing import Any
from unittest import mock

import pytest

from clrevents.table.table import Table
from project_files import SOURCE

JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""For processes that live for a minute: they would compile for longer than they run."""
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.memory": "1g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.extraJavaOptions": JAVA,
    "spark.executor.extraJavaOptions": JAVA,
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.python.filterPushdown.enabled": "true",
}


def needs_spark() -> None:
    """Skip unless there is Spark."""
    pytest.importorskip("pyspark", reason="needs pyspark")
    if shutil.which("java") is None:
        pytest.skip("needs Java")


@contextmanager
def spark_session(master: str, **more: str) -> Iterator[Any]:
    """A session whose workers run this interpreter and this tree; the data source is registered.

    Afterwards it is stopped, and the environment is as it was: Spark changes it, too.
    """
    paths = [str(SOURCE.parent), os.environ.get("PYTHONPATH", "")]
    own = {
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
    }
    with mock.patch.dict(os.environ, own):
        session = _started(master, {**SETTINGS, **more})
        try:
            yield session
        finally:
            session.stop()


def local_session() -> Iterator[Any]:
    """One in this process with two threads, for a fixture."""
    needs_spark()
    with spark_session("local[2]") as session:
        yield session


def plain(value: Any) -> Any:
    """A value without what Spark's types add to it."""
    if isinstance(value, Decimal):
        return int(value)
    if isinstance(value, list | tuple):
        return tuple(plain(item) for item in value)
    if isinstance(value, dict):
        return tuple((key, plain(item)) for key, item in value.items())
    if isinstance(value, bytearray):
        return bytes(value)
    return value


def rows_of(table: Table) -> Counter[tuple[Any, ...]]:
    """All rows of our table, without the column of times: Spark cuts these off at microseconds."""
    names = [name for name in table.columns if name != "time"]
    return Counter(tuple(plain(row[name]) for name in names) for row in table.rows())


def _started(master: str, settings: Mapping[str, str]) -> Any:
    with warnings.catch_warnings():
        # Of Spark's own making, and about libraries that these tests do not use with it.
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession

        from clrevents.fleet.spark import NettraceDataSource

        builder = SparkSession.builder.master(master).appName("clrevents")
        for key, value in settings.items():
            builder = builder.config(key, value)
        session = builder.getOrCreate()
        session.dataSource.register(NettraceDataSource)
        session.sparkContext.setLogLevel("OFF")
    return session
