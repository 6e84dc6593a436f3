"""Show which locks threads waited for, who held them, and convoys."""
