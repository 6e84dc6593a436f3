"""NetPerf 1, 2 and 3, the formats before NetTrace."""
