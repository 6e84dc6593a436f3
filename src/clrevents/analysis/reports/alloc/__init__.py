"""What was allocated: by type, by stack, by thread and over time."""
