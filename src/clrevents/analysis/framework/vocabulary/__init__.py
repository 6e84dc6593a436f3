"""Values of answers: cells, row classes, tables, metrics and notes, stretches that are missing. Knows no report."""
