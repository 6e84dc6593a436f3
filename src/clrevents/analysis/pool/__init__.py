"""Show whether the thread pool is starved, who blocks its workers, and how long work waits for one."""
