"""Where is the time: methods or modules by weight of samples."""
