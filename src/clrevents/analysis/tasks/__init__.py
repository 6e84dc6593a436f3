"""Show tasks, continuations and awaits: who started them, how long they queued, and what blocks on them."""
