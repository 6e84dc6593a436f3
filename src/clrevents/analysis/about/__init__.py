"""Answers about a trace as a whole, which need nothing to have been recorded: what it is, and whether it is intact."""
