"""Start-up: what a program does until Main, and what that costs."""
