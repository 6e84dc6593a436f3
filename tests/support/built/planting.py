"""Secrets in traces: in every text that is not on the allow-list, in bytes, behind payloads and around them.

`planted_copy` writes a real trace again with secrets in it; `leaks` looks for them without any code of the product.
"""

from __future__ import annotations

import base64
import io
import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import attrs

import clrevents
from clrevents.reference import codec
from clrevents.rewrite.copy import Copier
from clrevents.schema.disclosure import disclosure_of
from clrevents.schema.layout import Layout
from clrevents.schema.wire import AnsiZ, ArrayType, BytesType, Scalar, StructType, Utf16Z, WireType
from clrevents.trace import RawPayload, passes_of

SECRET: Final = "Gr4ndmother-Ähre"
"""Its letter outside of ASCII makes a difference between the encodings."""
_OF_EACH_KIND: Final = 6
_FILES: Final = ("/home/{}/app.dll", r"C:\Users\{}\app.dll")


def secret_texts() -> tuple[str, ...]:
    """The secret as it stands in texts."""
    inside = {"user": SECRET, "of": [{"deep": base64.b64encode(SECRET.encode()).decode()}]}
    return (
        SECRET,
        f"cannot open /home/{SECRET}/orders.db for bob",
        json.dumps(inside),
        json.dumps(inside, ensure_ascii=False),
        f"Server=10.1.2.3;User Id=sa;Password={SECRET}",
        f"   at Acme.Shop.Pay() in /src/{SECRET}/Shop.cs:line 7",
        base64.b64encode(SECRET.encode("utf-16-le")).decode(),
    )


@cache
def forms() -> tuple[bytes, ...]:
    """The bytes that none of the output may hold."""
    found = [SECRET.encode(codec) for codec in ("utf-8", "utf-16-le", "utf-16-be", "latin-1")]
    for text in secret_texts():
        found += [text.encode(), text.encode("utf-16-le")]
    for plain in ("utf-8", "utf-16-le"):
        for offset in range(3):
            digits = base64.b64encode(bytes(offset) + SECRET.encode(plain))[4:-4]
            found += [digits, digits.decode().encode("utf-16-le")]
    # The beginning of the secret, because a place may be too short for all of it.
    found += [SECRET[:6].encode(), SECRET[:6].encode("utf-16-le")]
    return tuple(found)


def leaks(data: bytes) -> list[bytes]:
    """The forms of the secret that are there."""
    return [form for form in forms() if form in data]


def planted_copy(data: bytes) -> tuple[bytes, Counter[str]]:
    """The trace with secrets in the first events of each kind, and in how many places of which sort they are."""
    sink, planted = io.BytesIO(), Counter[str]()
    with clrevents.open(data, errors="salvage") as trace:
        info = attrs.evolve(trace.info, key_values=(*trace.info.key_values, ("Note", SECRET), (SECRET, "x")))
        copier = Copier(sink, info, trace.losses)
        planter = _Planter(planted, trace.info.pointer_size)
        for rows in passes_of(trace).event_rows():
            payloads = [planter.payload(rows, row) for row in range(len(rows))]
            copier.add(planter.around(rows), payloads)
        copier.finish()
    return sink.getvalue(), planted


class _Planter:
    def __init__(self, planted: Counter[str], pointer_size: int) -> None:
        self._planted = planted
        self._pointer_size = pointer_size
        self._seen: Counter[int] = Counter()
        self._texts = self._endless()

    def _endless(self) -> Iterator[str]:
        while True:
            yield from secret_texts()

    def payload(self, rows: Any, row: int) -> bytes:
        kind, payload, data = rows.kind(row), rows.payloads[row], rows.payload_bytes[row]
        self._seen[kind.index] += 1
        number = self._seen[kind.index]
        if number > _OF_EACH_KIND:
            return bytes(data)
        if isinstance(payload, RawPayload):
            self._planted["unreadable"] += 1
            return bytes(data) + SECRET.encode()
        if number == _OF_EACH_KIND:
            self._planted["tail"] += 1
            return bytes(data) + SECRET.encode("utf-16-le")
        record, before = self._record(payload, (kind.key.provider, kind.key.name), ""), self._planted.copy()
        if record is payload:
            return bytes(data)
        try:
            made = codec(type(record), self._pointer_size).build(record)
        except (ValueError, AttributeError):
            # A writer older than its description, or a text that is too long for its place.
            self._planted.clear()
            self._planted.update(before)
            return bytes(data)
        if number == _OF_EACH_KIND - 1:
            self._planted["cut short"] += 1
            return made[:-1]
        return made

    def around(self, rows: Any) -> Any:
        """Descriptions, threads and labels with secrets, where the container has a place for them."""
        labels = rows.labels
        if labels is not None:
            labels = [
                item and attrs.evolve(item, pairs=(*item.pairs, ("note", SECRET), (SECRET, "x"))) for item in labels
            ]
        pairs = (("note", SECRET), (SECRET, "x"))
        threads = [attrs.evolve(row, name=SECRET, attributes=pairs) for row in rows.thread_rows]
        kinds = [
            attrs.evolve(kind, row=attrs.evolve(kind.row, description=SECRET, message=SECRET, attributes=pairs))
            for kind in rows.kinds
        ]
        return attrs.evolve(rows, labels=labels, thread_rows=threads, kinds=kinds)

    def _record(self, record: Any, event: tuple[str, str], path: str) -> Any:
        layout: Layout = type(record).__layout__
        changes: dict[str, Any] = {}
        lengths: dict[str, int] = {}
        for attribute, field in zip(type(record).__fields__, layout.fields, strict=True):
            value = getattr(record, attribute)
            changed = self._value(field.type, value, event, f"{path}{field.name}")
            if changed is not value:
                changes[attribute] = changed
        return attrs.evolve(record, **changes, **lengths) if changes else record

    def _value(self, wire: WireType, value: Any, event: tuple[str, str], path: str) -> Any:
        match wire:
            case StructType():
                return self._record(value, event, f"{path}.")
            case Utf16Z() | AnsiZ():
                return self._text(value, event, path)
            case ArrayType() if getattr(wire, "text", ""):
                new = self._text(value, event, path)
                return new if not hasattr(wire, "count") else (new * len(value))[: len(value)]
            case BytesType():
                return self._bytes(value, event, path)
            case ArrayType() if isinstance(wire.element, Scalar) and wire.element.size == 1:
                made = self._bytes(bytes(v & 0x7F for v in value), event, path)
                return tuple(v & 0x7F for v in made) if wire.element.kind == "int" else value
            case ArrayType():
                changed = tuple(self._value(wire.element, item, event, path) for item in value)
                return value if all(a is b for a, b in zip(changed, value, strict=True)) else changed
        return value

    def _text(self, value: Any, event: tuple[str, str], path: str) -> Any:
        stays = disclosure_of(*event, path).stays
        if not isinstance(value, str) or stays == "all":
            return value
        self._planted[stays] += 1
        if stays == "file":
            return _FILES[self._planted[stays] % 2].format(SECRET)
        return next(self._texts)

    def _bytes(self, value: bytes, event: tuple[str, str], path: str) -> bytes:
        if not value or disclosure_of(*event, path).stays == "all":
            return value
        self._planted["bytes"] += 1
        return (SECRET.encode() * len(value))[: len(value)]
