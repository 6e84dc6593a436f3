"""ROOM: columns by name, and the ways into the libraries people use."""
