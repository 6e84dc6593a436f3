"""A real Spark for tests: in this process with two threads. Skips the test where pyspark or Java is missing."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from unittest import mock

import pytest

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
