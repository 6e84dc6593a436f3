"""List modules, their lifetimes, and what was compiled of them."""

from clrevents.analysis.reports.modules.report import ModulesReport as ModulesReport
