"""Room 2: bytes → headers → records. Sans-IO but for `source`; knows nothing of analysis or output."""
