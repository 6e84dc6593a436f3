"""ROOM 4: plain descriptions of events → bytes of any container generation. Never imports `decode`."""
