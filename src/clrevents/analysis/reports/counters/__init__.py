"""Show the values of counters and metrics over time."""
