"""Columns by name, and conversions to the libraries people use."""
