"""What was thrown, where, who caught it, and what it cost."""
