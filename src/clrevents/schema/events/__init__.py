"""One module per event family: enums, then event classes in the order of their ids, nothing else."""
