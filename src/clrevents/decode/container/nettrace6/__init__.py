"""NetTrace 6: length-prefixed blocks, tables of threads and labels."""
