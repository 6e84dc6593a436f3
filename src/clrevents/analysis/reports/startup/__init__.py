"""Show what a program does until Main, and what it costs."""
