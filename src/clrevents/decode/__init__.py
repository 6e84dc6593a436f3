"""ROOM 2: bytes → headers → records. Sans-IO except for `source`; knows nothing of analysis or output."""
