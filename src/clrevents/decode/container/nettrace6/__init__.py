"""NetTrace 6: blocks with their length in front, tables of threads and labels."""
