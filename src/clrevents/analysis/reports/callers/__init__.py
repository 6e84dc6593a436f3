"""Show who calls a method and what it calls, as trees."""

from clrevents.analysis.reports.callers.report import CallersReport as CallersReport
