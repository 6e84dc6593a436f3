"""Show activities of any provider, their parents and durations."""

from clrevents.analysis.reports.activities.report import ActivitiesReport as ActivitiesReport
