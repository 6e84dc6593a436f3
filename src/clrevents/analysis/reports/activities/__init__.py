"""Show activities of any provider, their parents and durations."""
