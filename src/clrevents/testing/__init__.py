"""Helpers for testing code that reads traces: a readable trace builder and hypothesis strategies."""
