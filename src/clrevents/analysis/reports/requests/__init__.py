"""Show HTTP requests, the time in their parts, and who served them."""
