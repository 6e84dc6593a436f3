"""Show what a program does until Main, and what it costs."""

from clrevents.analysis.reports.startup.report import StartupReport as StartupReport
