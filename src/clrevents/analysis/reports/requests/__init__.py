"""Show HTTP requests, the time in their parts, and who served them."""

from clrevents.analysis.reports.requests.report import RequestsReport as RequestsReport
