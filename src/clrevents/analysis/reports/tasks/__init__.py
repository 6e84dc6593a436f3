"""Show tasks and awaits: what started them, and what blocks on them."""
