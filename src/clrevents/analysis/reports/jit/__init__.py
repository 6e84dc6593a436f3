"""Show what the JIT compiled, when, and for how long."""
