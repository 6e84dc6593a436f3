"""Show who calls a method and what it calls, as trees."""
