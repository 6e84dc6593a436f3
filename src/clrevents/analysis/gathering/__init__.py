"""What is done with columns whatever they mean: gather, pair, merge, rank. Knows no event and no report."""
