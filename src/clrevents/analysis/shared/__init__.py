"""What several reports know about events; imports no report."""
