"""What each thread did at every moment, and how that is known."""

from clrevents.analysis.reports.threads.report import REPORT as REPORT
from clrevents.analysis.reports.threads.report import ThreadsReport as ThreadsReport
