"""List modules, their lifetimes, and what was compiled of them."""
