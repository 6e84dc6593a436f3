"""What several reports know of events; imports no report."""
