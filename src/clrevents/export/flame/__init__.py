"""Weighted stacks as flame graphs and as files for viewers of stacks."""
