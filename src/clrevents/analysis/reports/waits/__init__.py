"""Show what threads waited for, and which methods block on tasks."""

from clrevents.analysis.reports.waits.report import WaitsReport as WaitsReport
