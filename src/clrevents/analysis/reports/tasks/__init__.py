"""Show tasks and awaits: what started them, and what blocks on them."""

from clrevents.analysis.reports.tasks.report import TasksReport as TasksReport
