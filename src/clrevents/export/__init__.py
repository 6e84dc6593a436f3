"""Records and columns of a trace as files that other tools open. Plain data in, bytes or text out; no command."""
