"""List modules, their lifetimes, and how much of each was compiled."""

from clrevents.analysis.reports.modules.report import ModulesReport as ModulesReport
