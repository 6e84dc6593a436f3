"""Reports over a trace or a stream: the registry, one reading for all of them, one answer from several processes."""
