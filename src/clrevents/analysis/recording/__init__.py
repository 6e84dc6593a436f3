"""What a trace's recording could hold and what it cost: which reports it can answer, and the line which
records the rest. Knows no answer."""
