"""What one stack can weigh besides the time of a sample: a field of its event, or what was allocated or thrown there.
Knows no samples."""
