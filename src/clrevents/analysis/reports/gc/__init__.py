"""Show the garbage collections: pauses, heap sizes, reasons."""
