"""What one stack can weigh: time until the next sample, a field of its event, what was allocated or thrown there.
Knows no samples."""
