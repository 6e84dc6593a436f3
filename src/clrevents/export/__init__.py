"""Records and columns of a trace as files for other tools. Plain data in, bytes or text out; no command."""
