"""Spark's data source `nettrace`: register `NettraceDataSource`, then `spark.read.format("nettrace")`.

Needs pyspark, which nothing else imports: import this package by its name.
"""

from clrevents.fleet.spark.data_source import NettraceDataSource

__all__ = ["NettraceDataSource"]
