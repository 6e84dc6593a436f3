"""ROOM 10: helpers for testing code that reads traces: a readable trace builder and hypothesis strategies."""
