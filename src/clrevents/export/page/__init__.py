"""A trace as one self-contained page: what it is, every report that has data, stacks, and what happened when."""
