"""Where the bytes come from: paths, URLs, bytes, files, pipes, compressed or not. All reading of files."""

from clrevents.sources.opening import FoundPath as FoundPath
from clrevents.sources.opening import Openable as Openable
from clrevents.sources.opening import file_mark as file_mark
from clrevents.sources.opening import open_source as open_source
from clrevents.sources.remote import file_system as file_system
from clrevents.sources.remote import is_url as is_url
from clrevents.sources.source import Source as Source
from clrevents.sources.source import unreadable as unreadable
