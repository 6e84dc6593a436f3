"""Pairs and stretches that single events tell: waits, contentions, suspensions, compilations."""
