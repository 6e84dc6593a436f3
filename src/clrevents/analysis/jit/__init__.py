"""What the JIT compiled, at which tier, for how long, and why not better."""
