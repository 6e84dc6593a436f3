"""List the IL stubs that marshal P/Invoke and delegate calls."""

from clrevents.analysis.reports.stubs.report import StubsReport as StubsReport
