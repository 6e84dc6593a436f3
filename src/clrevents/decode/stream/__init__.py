"""Blocks → rows of events in order: kinds, stacks, threads, sequence numbers and losses, salvage."""
