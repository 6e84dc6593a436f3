"""Before and after: what changed between recordings, how sure that is, and what they could not have shown."""
