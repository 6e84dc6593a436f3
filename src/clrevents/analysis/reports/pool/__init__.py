"""Show whether the thread pool is starved, and by whom."""
