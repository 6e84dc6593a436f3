"""Payloads → records, one by one or many at once."""
