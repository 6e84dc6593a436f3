"""What events look like. Pure data; nothing here reads a byte of a trace."""
