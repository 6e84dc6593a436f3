"""What is on the heap, and what keeps it alive, from heap snapshots."""
