"""Where the official decoder does not show what the bytes hold, and what the bytes hold there.

A `Difference` says what the official decoder makes of a record of ours, exactly, so that even its mistakes are
predicted; and it reads from the payload, by hand and without any of our code, the fields that its view does
not confirm. The reasons are those of the list of its known differences.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Final, TypeAlias

import attrs

RUNTIME: Final = "Microsoft-Windows-DotNETRuntime"
RUNDOWN: Final = "Microsoft-Windows-DotNETRuntimeRundown"
PRIVATE: Final = "Microsoft-Windows-DotNETRuntimePrivate"

Fields: TypeAlias = dict[str, Any]


@attrs.frozen
class Difference:
    """`view(our fields, version)` is what the official decoder shows; `proof(payload, version)` what the bytes say."""

    reason: str
    view: Callable[[Fields, int], Fields]
    proof: Callable[[bytes, int], Fields]


class _Cursor:
    """Reads a payload from front to back."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def number(self, code: str) -> int:
        (value,) = struct.unpack_from("<" + code, self.data, self.at)
        self.at += struct.calcsize("<" + code)
        return int(value)

    def numbers(self, code: str, count: int) -> list[int]:
        return [self.number(code) for _ in range(count)]

    def text(self) -> str:
        units = []
        while unit := self.number("H"):
            units.append(unit)
        return struct.pack(f"<{len(units)}H", *units).decode("utf-16-le", "surrogatepass")

    def rest(self, size: int) -> bytes:
        self.at += size
        return self.data[self.at - size : self.at]

    def end(self) -> None:
        assert self.at == len(self.data), f"{len(self.data) - self.at} bytes are left over"


def _without(*names: str) -> Callable[[Fields, int], Fields]:
    return lambda ours, version: {k: v for k, v in ours.items() if k not in names}


def _method_view(ours: Fields, version: int) -> Fields:
    shown = dict(ours)
    shown["MethodFlags"] = ours["MethodFlags"] & 0x7F
    # Of code that was not jitted here (bit 3 is clear) it does not look at the tier.
    shown["OptimizationTier"] = ours["MethodFlags"] >> 7 & 7 if ours["MethodFlags"] & 8 else 0
    return shown


def _verbose_method_view(ours: Fields, version: int) -> Fields:
    return {"ReJITID": 0, **_method_view(ours, version)}


def _method_proof(data: bytes, version: int) -> Fields:
    # Three u64 (method, module, address), then u32 size and token.
    return {"MethodFlags": struct.unpack_from("<I", data, 32)[0]}


def _details_view(ours: Fields, version: int) -> Fields:
    shown = dict(ours)
    shown["TypeParameterCount"] = None
    shown["LoaderModuleID"] = ours["TypeParameterCount"]
    shown["TypeParameters"] = ours["LoaderModuleID"]
    return shown


def _details_proof(data: bytes, version: int) -> Fields:
    c = _Cursor(data)
    found: Fields = {
        "MethodID": c.number("Q"),
        "TypeID": c.number("Q"),
        "MethodToken": c.number("I"),
        "TypeParameterCount": c.number("I"),
        "LoaderModuleID": c.number("Q"),
    }
    found["TypeParameters"] = c.numbers("Q", found["TypeParameterCount"])
    c.end()
    return found


def _map_proof(data: bytes, version: int) -> Fields:
    c = _Cursor(data)
    found: Fields = {
        "MethodID": c.number("Q"),
        "ReJITID": c.number("Q"),
        "MethodExtent": c.number("B"),
        "CountOfMapEntries": c.number("H"),
    }
    found["ILOffsets"] = c.numbers("I", found["CountOfMapEntries"])
    found["NativeOffsets"] = c.numbers("I", found["CountOfMapEntries"])
    found["ClrInstanceID"] = c.number("H")
    if version >= 1:
        found["ILVersionID"] = c.number("Q")
    c.end()
    return found


def _tail_call_proof(data: bytes, version: int) -> Fields:
    c = _Cursor(data)
    found: Fields = {}
    for who in ("MethodBeingCompiled", "Caller", "Callee"):
        for what in ("Namespace", "Name", "NameSignature"):
            found[who + what] = c.text()
    found["TailPrefix"] = bool(c.number("I"))
    found["FailReason"] = c.text()
    found["ClrInstanceID"] = c.number("H")
    c.end()
    return found


def _profile_view(ours: Fields, version: int) -> Fields:
    shown = dict(ours)
    del shown["Data"]
    # From the token on it reads two bytes early: the module's last two, then the token's upper half as a letter.
    shown["MethodToken"] = (ours["MethodToken"] << 16 | ours["ModuleID"] >> 48) & 0xFFFFFFFF
    shown["MethodNamespace"] = chr(ours["MethodToken"] >> 16) + ours["MethodNamespace"]
    return shown


def _profile_proof(data: bytes, version: int) -> Fields:
    c = _Cursor(data)
    found: Fields = {
        "ClrInstanceID": c.number("H"),
        "MethodFlags": c.number("I"),
        "DataSize": c.number("I"),
        "MethodID": c.number("Q"),
        "ModuleID": c.number("Q"),
        "MethodToken": c.number("I"),
        "MethodNamespace": c.text(),
        "MethodName": c.text(),
        "MethodSignature": c.text(),
    }
    found["Data"] = c.rest(found["DataSize"])
    c.end()
    return found


_METHOD = Difference(
    "MethodFlags shows its low bits, its tier apart and only of jitted code",
    _method_view,
    _method_proof,
)
_VERBOSE = Difference(
    "MethodFlags shows its low bits, its tier apart and only of jitted code; version 1 gets a ReJITID of 0",
    _verbose_method_view,
    _method_proof,
)
_MAP = Difference(
    "the two lists of offsets and the IL version are left out",
    _without("ILOffsets", "NativeOffsets", "ILVersionID"),
    _map_proof,
)

DIFFERENCES: Final[dict[tuple[str, int], Difference]] = {
    (RUNTIME, 72): Difference("the fields behind the token are shown one place off", _details_view, _details_proof),
    (RUNTIME, 141): _METHOD,
    (RUNTIME, 142): _METHOD,
    (RUNTIME, 143): _VERBOSE,
    (RUNTIME, 144): _VERBOSE,
    (RUNDOWN, 141): _METHOD,
    (RUNDOWN, 142): _METHOD,
    (RUNDOWN, 143): _VERBOSE,
    (RUNDOWN, 144): _VERBOSE,
    (RUNTIME, 190): _MAP,
    (RUNDOWN, 149): _MAP,
    (RUNDOWN, 150): _MAP,
    (RUNTIME, 191): Difference("it knows no fields of this event", lambda ours, version: {}, _tail_call_proof),
    (RUNTIME, 298): Difference("token and namespace are misread, the data is left out", _profile_view, _profile_proof),
}
"""By (provider, id). An event that is not here must be shown alike, field by field."""
