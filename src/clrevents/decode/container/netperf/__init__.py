"""NetPerf 1, 2 and 3: what runtimes wrote before NetTrace."""
