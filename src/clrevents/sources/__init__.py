"""Where the bytes come from: paths, URLs, bytes, files, pipes, packed or not. All reading of files."""

from clrevents.sources.opening import Openable, open_source
from clrevents.sources.remote import file_system, is_url
from clrevents.sources.source import Source

__all__ = ["Openable", "Source", "file_system", "is_url", "open_source"]
