"""Show when finalizers ran, for how long, and for how many objects."""

from clrevents.analysis.reports.finalizers.report import FinalizersReport as FinalizersReport
