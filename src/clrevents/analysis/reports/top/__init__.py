"""List the methods or modules with the most time."""
