"""Modules: paths, PDBs, lifetimes, and what was compiled of them."""
