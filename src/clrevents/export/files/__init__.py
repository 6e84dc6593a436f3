"""Events and answers as files and lines: Parquet, CSV, JSON and the like, one file or a folder."""
