"""What a report is: its answer, needs, collector, conditions and declaration."""
