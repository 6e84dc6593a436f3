"""Very many members of a gzip file cost no more than their bytes: what is behind the end of each is not copied."""

from __future__ import annotations

import gzip
import zlib
from typing import Any

import pytest

import clrevents
from clrevents import UnreadableError


def test_empty_members(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    given = 0

    class Counting:
        def __init__(self, **options: Any) -> None:
            self._engine = make(**options)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._engine, name)

        def decompress(self, data: bytes, *limits: int) -> bytes:
            nonlocal given
            given += len(data)
            return self._engine.decompress(data, *limits)

    make = zlib.decompressobj
    monkeypatch.setattr(zlib, "decompressobj", Counting)
    path = tmp_path / "members.gz"
    path.write_bytes(gzip.compress(b"", mtime=0) * 20_000)
    with pytest.raises(UnreadableError, match="the file is empty"):
        clrevents.open(path)
    assert 0 < given < 60 * path.stat().st_size
