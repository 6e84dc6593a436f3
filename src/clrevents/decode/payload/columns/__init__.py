"""Many payloads → columns, in Arrow's layout."""
