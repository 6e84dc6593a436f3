"""Show what a program does until Main, and what it costs."""

from clrevents.analysis.reports.startup.startup_tables import StartupReport as StartupReport
