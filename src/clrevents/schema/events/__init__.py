"""One module a family of events: enums, then event classes in the order of their ids, nothing else."""
