"""What every report is made of: rows, facts, metrics, notes, one pass for many collectors, display.

Knows no event and no report. `framework.run.asking` finds the reports, `docs/hacking.md` says how to add one.
"""
