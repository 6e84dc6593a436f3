"""Payload bytes → records or columns, by the plan of their layout."""
