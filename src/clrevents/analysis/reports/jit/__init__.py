"""Show what the JIT compiled, when, and for how long."""

from clrevents.analysis.reports.jit.report import JitReport as JitReport
