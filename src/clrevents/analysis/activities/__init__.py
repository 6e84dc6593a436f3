"""Show activities (begin, end, parent) of any provider, and ends without a begin."""
