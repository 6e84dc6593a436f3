"""What each thread did at every moment, and how that is known."""
