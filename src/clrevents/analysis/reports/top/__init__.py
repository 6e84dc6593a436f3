"""List the methods or modules with the most time."""

from clrevents.analysis.reports.top.report import TopReport as TopReport
