"""Payload bytes → records or columns, according to the plan of their layout."""
