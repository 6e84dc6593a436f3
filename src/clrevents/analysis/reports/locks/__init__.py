"""Show which locks threads waited for, who held them, and convoys."""

from clrevents.analysis.reports.locks.report import LocksReport as LocksReport
