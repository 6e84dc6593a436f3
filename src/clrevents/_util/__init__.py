"""What every room may use and knows nothing of traces: text for people, whole files, progress, notebooks, processes."""
