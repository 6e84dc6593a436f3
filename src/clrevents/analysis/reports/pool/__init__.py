"""Show whether the thread pool is starved, and by whom."""

from clrevents.analysis.reports.pool.report import PoolReport as PoolReport
