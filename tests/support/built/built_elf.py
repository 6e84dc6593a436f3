"""ELF files by hand: a header, program headers, a build id, symbols. Every number can be given another value."""

from __future__ import annotations

import struct
from typing import Any, Final

import attrs

FUNCTION: Final = 0x12
"""The info of a global function."""


@attrs.frozen
class Function:
    """A symbol of a table; `section` 0 is one that the file only uses."""

    name: str
    address: int
    size: int
    info: int = FUNCTION
    section: int = 1


def elf(
    build_id: str,
    *functions: Function,
    dynamic: tuple[Function, ...] = (),
    segment: tuple[int, int, int, int] = (0x1000, 0x2000, 0x1000, 0x1000),
    wide: bool = True,
    order: str = "<",
    **wrong: int,
) -> bytes:
    """A file with these symbols in .symtab and .dynsym; without any there is no such table.

    `segment`: offset, address, size in the file and size in memory of the executable part. `wrong` are fields of
    headers, such as `e_shnum`, or `symtab_size` for a field of the section of that name.
    """
    word = "Q" if wide else "I"
    note = struct.pack(f"{order}III4s", 4, len(build_id) // 2, 3, b"GNU\0") + bytes.fromhex(build_id)
    sections: list[tuple[str, int, bytes, int]] = [("null", 0, b"", 0), ("note", 7, note, 0)]
    for name, kind, given in (("symtab", 2, functions), ("dynsym", 11, dynamic)):
        if given:
            rows, texts = _symbols(given, wide, order)
            sections += [(name, kind, rows, len(sections) + 1), (f"{name}_names", 3, texts, 0)]
    head, phdr = (64, 56) if wide else (52, 32)
    offset, address, file_size, size = segment
    numbers = (1, 5, offset, address, 0, file_size, size, 0x1000)
    if not wide:
        numbers = (1, offset, address, 0, file_size, size, 5, 0x1000)
    program = struct.pack(f"{order}II6Q" if wide else f"{order}8I", *numbers)
    body = b""
    table = b""
    for name, kind, data, link in sections:
        fields = {"name": 0, "type": kind, "flags": 0, "addr": 0, "offset": head + phdr + len(body)}
        fields |= {"size": len(data), "link": link, "info": 0, "align": 1, "entsize": 24 if wide else 16}
        fields |= {
            key.removeprefix(f"{name}_"): n for key, n in wrong.items() if key.removeprefix(f"{name}_") in fields
        }
        table += struct.pack(f"{order}II4{word}II2{word}", *fields.values())
        body += data
    ident = b"\x7fELF" + bytes([2 if wide else 1, 1 if order == "<" else 2, 1]) + bytes(9)
    header: dict[str, Any] = {"e_type": 3, "e_machine": 62, "e_version": 1, "e_entry": 0, "e_phoff": head}
    header |= {"e_shoff": head + phdr + len(body), "e_flags": 0, "e_ehsize": head, "e_phentsize": phdr, "e_phnum": 1}
    header |= {"e_shentsize": 64 if wide else 40, "e_shnum": len(sections), "e_shstrndx": 0}
    header |= {key: n for key, n in wrong.items() if key in header}
    return ident + struct.pack(f"{order}HHI3{word}I6H", *header.values()) + program + body + table


def _symbols(functions: tuple[Function, ...], wide: bool, order: str) -> tuple[bytes, bytes]:
    rows, texts = bytes(24 if wide else 16), b"\0"
    for each in functions:
        if wide:
            numbers = (len(texts), each.info, 0, each.section, each.address, each.size)
        else:
            numbers = (len(texts), each.address, each.size, each.info, 0, each.section)
        rows += struct.pack(f"{order}IBBHQQ" if wide else f"{order}IIIBBH", *numbers)
        texts += each.name.encode() + b"\0"
    return rows, texts
