"""Show what threads waited for, and which methods block on tasks."""
