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
    """`view(our fields, version)` is what the official decoder shows; `proof(payload, version)` what the bytes say.

    `derived` are fields that it makes of other events, which nothing in this event can confirm.
    """

    reason: str
    view: Callable[[Fields, int], Fields]
    proof: Callable[[bytes, int], Fields]
    derived: frozenset[str] = frozenset()


class _Cursor:
    """Reads a payload from front to back; the code `P` stands for a pointer."""

    def __init__(self, data: bytes, pointer: str = "Q") -> None:
        self.data = data
        self.at = 0
        self.pointer = pointer

    def number(self, code: str) -> int:
        code = self.pointer if code == "P" else code
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
    found["ILOffsets"] = c.numbers("i", found["CountOfMapEntries"])
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


def _nothing(data: bytes, version: int) -> Fields:
    return {}


def _with(added: Callable[[Fields, int], Fields], *names: str) -> Callable[[Fields, int], Fields]:
    """Some fields left out and some that are added."""
    return lambda ours, version: {**_without(*names)(ours, version), **added(ours, version)}


def _sums_view(ours: Fields, version: int) -> Fields:
    shown = {"GenerationSize4": 0, "TotalPromotedSize4": 0, **ours}
    shown["TotalHeapSize"] = sum(shown[f"GenerationSize{n}"] for n in range(5))
    shown["TotalPromoted"] = sum(shown[f"TotalPromotedSize{n}"] for n in range(5))
    return shown


def _first_type(ours: Fields, version: int) -> Fields:
    first = ours["Values"][0]
    return {"TypeID_0": first["TypeID"], "TypeName_0": first["Name"]}


def _committed_view(ours: Fields, version: int) -> Fields:
    if ours["Name"] != "CommittedUsage":
        return ours
    names = ("Version", "InUse", "InGlobalDecommit", "InFree", "InGlobalFree", "Bookkeeping")
    found = dict(zip(names, struct.unpack("<H5Q", bytes.fromhex(ours["Data"][2:])), strict=True))
    shown = {f"TotalCommitted{name}": value for name, value in found.items() if name.startswith("In")}
    return {"Version": found["Version"], **shown, "TotalBookkeepingCommitted": found["Bookkeeping"]}


def _committed_proof(data: bytes, version: int) -> Fields:
    c = _Cursor(data)
    found: Fields = {"Name": c.text(), "DataSize": c.number("I")}
    found["Data"] = c.rest(found["DataSize"])
    found["ClrInstanceID"] = c.number("H")
    c.end()
    return found


def _mechanism(number: int) -> int:
    """The place of the only bit, where bit 31 says that there is one."""
    return (number & 0x7FFFFFFF).bit_length() - 1 if number >> 31 else 1024


def _mechanisms(ours: Fields, version: int) -> Fields:
    return {
        "CompactMechanisms": _mechanism(ours["CompactMechanisms"]),
        "ExpandMechanisms": _mechanism(ours["ExpandMechanisms"]),
        "ConcurrentCompactMechanisms": None,
        "MemoryPressure": None,
    }


def _file_name(ours: Fields, version: int) -> Fields:
    return {"ModuleILFileName": ours["ModuleILPath"].rpartition("/")[2]}


def _groups(front: tuple[tuple[str, str], ...], *group: tuple[str, str]) -> Callable[[bytes, int], Fields]:
    """Fields in front, `Count` among them, then as many groups as it says, to the end of the payload.

    Pointers are as wide as makes them end there. `z` is a text, `.` a byte of no field.
    """

    def read(c: _Cursor) -> Fields:
        values: Fields = {}
        for code, name in group:
            if code == ".":
                c.at += 1
            elif code == "z":
                values[name] = c.text()
            elif name == "TypeParameters":
                values[name] = c.numbers(code, values["TypeParameterCount"])
            else:
                values[name] = c.number(code)
        return values

    def proof(data: bytes, version: int) -> Fields:
        for pointer in "QI":
            c = _Cursor(data, pointer)
            found: Fields = {name: c.number(code) for code, name in front}
            try:
                found["Values"] = [read(c) for _ in range(found["Count"])]
                c.end()
            except (struct.error, AssertionError):
                continue
            return found
        raise AssertionError(f"{data.hex()} does not end with its groups")

    return proof


def _times_proof(data: bytes, version: int) -> Fields:
    return _TIMES(data, version) if version >= 4 else {}


_INDEXED: Final = (("I", "Index"), ("I", "Count"), ("H", "ClrInstanceID"))
_TIMES: Final = _groups(
    (
        ("Q", "FinalYoungestDesired"),
        ("i", "NumHeaps"),
        *(("I", n) for n in ("CondemnedGeneration", "Gen0ReductionCount", "Reason", "GlobalMechanisms")),
        ("H", "ClrInstanceID"),
        *(("I", n) for n in ("PauseMode", "MemoryPressure", "CondemnReasons0", "CondemnReasons1", "Count")),
    ),
    ("I", "Time"),
)
_HEAP: Final = _groups(
    (
        ("H", "ClrInstanceID"),
        *(("P", n) for n in ("FreeListAllocated", "FreeListRejected", "EndOfSegAllocated", "CondemnedAllocated")),
        *(("P", n) for n in ("PinnedAllocated", "PinnedAllocatedAdvance")),
        *(("I", n) for n in ("RunningFreeListEfficiency", "CondemnReasons0", "CondemnReasons1")),
        *(("I", n) for n in ("CompactMechanisms", "ExpandMechanisms", "HeapIndex")),
        ("P", "ExtraGen0Commit"),
        ("I", "Count"),
    ),
    *(("P", n) for n in ("SizeBefore", "FreeListBefore", "FreeObjBefore", "SizeAfter", "FreeListAfter")),
    *(("P", n) for n in ("FreeObjAfter", "In", "PinnedSurv", "NonePinnedSurv", "NewAllocation")),
)
_TYPES: Final = _groups(
    (("I", "Count"), ("H", "ClrInstanceID")),
    ("Q", "TypeID"),
    ("Q", "ModuleID"),
    ("I", "TypeNameID"),
    ("I", "Flags"),
    ("B", "CorElementType"),
    ("z", "Name"),
    ("I", "TypeParameterCount"),
    ("Q", "TypeParameters"),
)


def _module_proof(data: bytes, version: int) -> Fields:
    c = _Cursor(data)
    c.at = 20
    found: Fields = {"Reserved1": c.number("I")}
    c.text(), c.text()
    if version >= 1:
        found["ClrInstanceID"] = c.number("H")
    return found


def _domain_module_proof(data: bytes, version: int) -> Fields:
    # Three u64 (module, assembly, domain), then the flags.
    return {"Reserved1": struct.unpack_from("<I", data, 28)[0]}


def _memory_proof(name: str) -> Callable[[bytes, int], Fields]:
    def proof(data: bytes, version: int) -> Fields:
        return dict(zip((name, "ClrInstanceID"), struct.unpack("<QH", data), strict=True))

    return proof


def _promoted_proof(data: bytes, version: int) -> Fields:
    return {"Bytes": struct.unpack("<IHIQ", data)[3]}


def _loader_heap_proof(data: bytes, version: int) -> Fields:
    # Two pointers and the size in front, the instance behind.
    unused1, unused2, _ = struct.unpack("<IQH", data[-14:])
    return {"Unused1": unused1, "Unused2": unused2}


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

_MODULE = Difference(
    "two fields are left out, the name of the file is cut from its path",
    _with(_file_name, "ClrInstanceID", "Reserved1"),
    _module_proof,
)
_DOMAIN_MODULE = Difference("Reserved1 is left out", _without("Reserved1"), _domain_module_proof)


def _bulk(*group: tuple[str, str], front: tuple[tuple[str, str], ...] = _INDEXED) -> Difference:
    return Difference("the groups are left out", _without("Values"), _groups(front, *group))


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
    (RUNTIME, 4): Difference(
        "sums and the collection's generation are added, newer fields are 0", _sums_view, _nothing, frozenset({"Depth"})
    ),
    (RUNTIME, 10): Difference("ObjectSize is 0 before version 4", lambda o, v: {"ObjectSize": 0, **o}, _nothing),
    (RUNTIME, 15): Difference("only the first group is shown", _with(_first_type, "Values"), _TYPES),
    (RUNTIME, 16): _bulk(("P", "RootedNodeAddress"), ("B", "GCRootKind"), ("I", "GCRootFlag"), ("P", "GCRootID")),
    (RUNTIME, 18): _bulk(("P", "Address"), ("Q", "Size"), ("Q", "TypeID"), ("Q", "EdgeCount")),
    (RUNTIME, 19): _bulk(("P", "Value"), ("I", "ReferencingFieldID")),
    (RUNTIME, 21): _bulk(("P", "RangeBase"), ("Q", "RangeLength")),
    (RUNTIME, 22): _bulk(("P", "OldRangeBase"), ("P", "NewRangeBase"), ("Q", "RangeLength")),
    (RUNTIME, 29): Difference(
        "the name of the type is added", lambda ours, version: ours, _nothing, frozenset({"TypeName"})
    ),
    (RUNTIME, 38): _bulk(
        ("Q", "GCRootID"),
        ("Q", "ObjectID"),
        ("Q", "TypeID"),
        ("I", "Flags"),
        ("z", "FieldName"),
        front=(("I", "Count"), ("Q", "AppDomainID"), ("H", "ClrInstanceID")),
    ),
    (RUNTIME, 39): Difference("the data of one name is shown as fields", _committed_view, _committed_proof),
    (RUNTIME, 81): Difference(
        "the fields of version 2 are 0 before it",
        lambda ours, version: {"LockID": 0, "AssociatedObjectID": 0, "LockOwnerThreadID": 0, **ours},
        _nothing,
    ),
    (RUNTIME, 151): _DOMAIN_MODULE,
    (RUNTIME, 152): _MODULE,
    (RUNTIME, 153): _MODULE,
    (RUNDOWN, 151): _DOMAIN_MODULE,
    (RUNDOWN, 152): _DOMAIN_MODULE,
    (RUNDOWN, 153): _MODULE,
    (RUNDOWN, 154): _MODULE,
    (RUNTIME, 200): Difference("it knows no fields of this event", lambda o, v: {}, _memory_proof("BytesAllocated")),
    (RUNTIME, 201): Difference("it knows no fields of this event", lambda o, v: {}, _memory_proof("BytesFreed")),
    (RUNTIME, 202): Difference(
        "Bytes is called Promoted", _with(lambda ours, version: {"Promoted": ours["Bytes"]}, "Bytes"), _promoted_proof
    ),
    (RUNTIME, 203): Difference(
        "JoinID is called ID",
        # And it takes -1, which is no join of a heap's, for 4294967295.
        _with(lambda ours, version: {"ID": ours["JoinID"] & 0xFFFFFFFF}, "JoinID"),
        lambda data, version: {"JoinID": struct.unpack("<IIIHi", data)[4]},
    ),
    (RUNTIME, 204): Difference(
        "the groups are left out, mechanisms show as the place of their bit", _with(_mechanisms, "Values"), _HEAP
    ),
    (RUNTIME, 205): Difference(
        "the groups are left out, newer fields are null",
        _with(
            lambda ours, version: dict.fromkeys({"CondemnReasons0", "CondemnReasons1", "Count"} - ours.keys()), "Values"
        ),
        _times_proof,
    ),
    (RUNTIME, 209): _bulk(
        ("H", "Index"),
        (".", ""),
        (".", ""),
        ("I", "Count"),
        ("P", "Size"),
        front=(("H", "ClrInstanceID"), ("H", "BucketKind"), ("Q", "TotalSize"), ("H", "Count")),
    ),
    (PRIVATE, 310): Difference("the unused fields are left out", _without("Unused1", "Unused2"), _loader_heap_proof),
}
"""By (provider, id). An event that is not here must be shown alike, field by field."""
