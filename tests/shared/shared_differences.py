"""Where the official decoder does not show what the bytes hold.

A `Difference` says what the official decoder makes of a record of ours, exactly, so that even its mistakes are
predicted. The fields that its view does not confirm are read a second time by the reference codec, whose layouts are
compared with the runtime's manifest. The reasons are those of the list of its known differences.
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
    """`view(our fields, version)` is what the official decoder shows.

    `derived` are fields that it makes of other events, which nothing in this event can confirm.
    """

    reason: str
    view: Callable[[Fields, int], Fields]
    derived: frozenset[str] = frozenset()


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


def _details_view(ours: Fields, version: int) -> Fields:
    shown = dict(ours)
    shown["TypeParameterCount"] = None
    shown["LoaderModuleID"] = ours["TypeParameterCount"]
    shown["TypeParameters"] = ours["LoaderModuleID"]
    return shown


def _profile_view(ours: Fields, version: int) -> Fields:
    shown = dict(ours)
    del shown["Data"]
    # From the token on it reads two bytes early: the module's last two, then the token's upper half as a letter.
    shown["MethodToken"] = (ours["MethodToken"] << 16 | ours["ModuleID"] >> 48) & 0xFFFFFFFF
    shown["MethodNamespace"] = chr(ours["MethodToken"] >> 16) + ours["MethodNamespace"]
    return shown


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


_METHOD = Difference("MethodFlags shows its low bits, its tier apart and only of jitted code", _method_view)
_VERBOSE = Difference(
    "MethodFlags shows its low bits, its tier apart and only of jitted code; version 1 gets a ReJITID of 0",
    _verbose_method_view,
)
_MAP = Difference(
    "the two lists of offsets and the IL version are left out", _without("ILOffsets", "NativeOffsets", "ILVersionID")
)
_MODULE = Difference(
    "two fields are left out, the name of the file is cut from its path",
    _with(_file_name, "ClrInstanceID", "Reserved1"),
)
_DOMAIN_MODULE = Difference("Reserved1 is left out", _without("Reserved1"))
_BULK = Difference("the groups are left out", _without("Values"))
_UNKNOWN = Difference("it knows no fields of this event", lambda ours, version: {})

DIFFERENCES: Final[dict[tuple[str, int], Difference]] = {
    (RUNTIME, 72): Difference("the fields behind the token are shown one place off", _details_view),
    **{(provider, id): _METHOD for provider in (RUNTIME, RUNDOWN) for id in (141, 142)},
    **{(provider, id): _VERBOSE for provider in (RUNTIME, RUNDOWN) for id in (143, 144)},
    (RUNTIME, 190): _MAP,
    (RUNDOWN, 149): _MAP,
    (RUNDOWN, 150): _MAP,
    (RUNTIME, 191): _UNKNOWN,
    (RUNTIME, 298): Difference("token and namespace are misread, the data is left out", _profile_view),
    (RUNTIME, 4): Difference(
        "sums and the collection's generation are added, newer fields are 0", _sums_view, frozenset({"Depth"})
    ),
    (RUNTIME, 10): Difference("ObjectSize is 0 before version 4", lambda o, v: {"ObjectSize": 0, **o}),
    (RUNTIME, 15): Difference("only the first group is shown", _with(_first_type, "Values")),
    **{(RUNTIME, id): _BULK for id in (16, 18, 19, 21, 22, 38, 209)},
    (RUNTIME, 29): Difference("the name of the type is added", lambda ours, version: ours, frozenset({"TypeName"})),
    (RUNTIME, 39): Difference("the data of one name is shown as fields", _committed_view),
    (RUNTIME, 81): Difference(
        "the fields of version 2 are 0 before it",
        lambda ours, version: {"LockID": 0, "AssociatedObjectID": 0, "LockOwnerThreadID": 0, **ours},
    ),
    (RUNTIME, 151): _DOMAIN_MODULE,
    (RUNTIME, 152): _MODULE,
    (RUNTIME, 153): _MODULE,
    (RUNDOWN, 151): _DOMAIN_MODULE,
    (RUNDOWN, 152): _DOMAIN_MODULE,
    (RUNDOWN, 153): _MODULE,
    (RUNDOWN, 154): _MODULE,
    (RUNTIME, 200): _UNKNOWN,
    (RUNTIME, 201): _UNKNOWN,
    (RUNTIME, 202): Difference(
        "Bytes is called Promoted", _with(lambda ours, version: {"Promoted": ours["Bytes"]}, "Bytes")
    ),
    (RUNTIME, 203): Difference(
        "JoinID is called ID",
        # And it takes -1, which is no join of a heap's, for 4294967295.
        _with(lambda ours, version: {"ID": ours["JoinID"] & 0xFFFFFFFF}, "JoinID"),
    ),
    (RUNTIME, 204): Difference(
        "the groups are left out, mechanisms show as the place of their bit", _with(_mechanisms, "Values")
    ),
    (RUNTIME, 205): Difference(
        "the groups are left out, newer fields are null",
        _with(
            lambda ours, version: dict.fromkeys({"CondemnReasons0", "CondemnReasons1", "Count"} - ours.keys()), "Values"
        ),
    ),
    (PRIVATE, 310): Difference("the unused fields are left out", _without("Unused1", "Unused2")),
}
"""By (provider, id). An event that is not here must be shown alike, field by field."""
