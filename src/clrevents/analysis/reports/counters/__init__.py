"""Show the values of counters and metrics over time."""

from clrevents.analysis.reports.counters.report import CountersReport as CountersReport
