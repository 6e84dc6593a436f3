"""Pairs and stretches made from single events: waits, contentions, suspensions, compilations."""
