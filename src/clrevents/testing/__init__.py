"""Room 10: what helps to test code that reads traces: a readable trace builder and hypothesis strategies."""
