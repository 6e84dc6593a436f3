"""A real Spark for tests: in this process with two threads. Skips the test where pyspark or Java is missing."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from typing import Any

import pytest

from project_files import SOURCE

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.memory": "1g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.python.filterPushdown.enabled": "true",
}


def needs_spark() -> None:
    """Skip unless there is Spark."""
    pytest.importorskip("pyspark", reason="needs pyspark")
    if shutil.which("java") is None:
        pytest.skip("needs Java")


def spark_session(master: str, **more: str) -> Any:
    """A session whose workers run this interpreter and this tree; the data source is registered. Stop it."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    paths = [str(SOURCE.parent), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    with warnings.catch_warnings():
        # Of Spark's own making, and about libraries that these tests do not use with it.
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession

        from clrevents.fleet.spark import NettraceDataSource

        builder = SparkSession.builder.master(master).appName("clrevents")
        for key, value in {**SETTINGS, **more}.items():
            builder = builder.config(key, value)
        session = builder.getOrCreate()
        session.dataSource.register(NettraceDataSource)
        session.sparkContext.setLogLevel("OFF")
    return session
