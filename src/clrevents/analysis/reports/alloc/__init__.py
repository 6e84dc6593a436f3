"""What was allocated: by type, by stack, by thread and over time."""

from clrevents.analysis.reports.alloc.report import AllocReport as AllocReport
