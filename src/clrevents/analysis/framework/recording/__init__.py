"""What a trace's recording could contain and what it cost, and the line that records the rest. Knows no answer."""
