"""A reader for .NET trace files."""
