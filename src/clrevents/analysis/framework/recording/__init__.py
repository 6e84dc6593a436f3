"""What a trace's recording could hold and what it cost, and the line which records the rest. Knows no answer."""
