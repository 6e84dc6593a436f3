"""Start-stop activities: their signals, and the forest they form."""
