"""What was thrown, where, who caught it, and what it cost."""

from clrevents.analysis.reports.exceptions.report import ExceptionsReport as ExceptionsReport
