"""Show the garbage collections: pauses, heap sizes, reasons."""

from clrevents.analysis.reports.gc.report import GcReport as GcReport
