"""What carries calls between managed and native code: the IL stubs that were generated, and what for.

Reads the events of stubs, and those of their compilation. Knows no calls: how often a stub ran is in no event.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs
import numpy as np

from clrevents.analysis.compilations import NONE, Compilations, compilations
from clrevents.analysis.gather import Gathered, gather
from clrevents.analysis.lossy import LossWindows
from clrevents.analysis.missing import Missing, Part, missing
from clrevents.symbols.method_names import display_name, raw_name
from clrevents.table.build import UInt64, plain, row_table
from clrevents.table.table import Table
from clrevents.trace import Trace

SCHEMA: Final = "clrevents.stubs/1"

REVERSE, COM, PRECOMPILED, DELEGATE, VARARG, CALLI, STRUCT = (1 << bit for bit in range(7))
"""Bits of StubFlags; the enum itself is the event family's."""

_CUT: Final = "..."
_OPENS: Final = re.compile(r"^// (\w+) \{", re.MULTILINE)
_CLOSES: Final = re.compile(r"^// \} (\w+)", re.MULTILINE)
_EVENTS: Final = ("ILStubGenerated", "ILStubCacheHit", "MethodJittingStarted", "MethodLoad", "MethodLoadVerbose")
_PARTS: Final = (
    Part("stubs", ("ILStubGenerated",), 0x2000, 4),
    Part("times of compilation", ("MethodJittingStarted",), 0x2010),
)


@attrs.frozen
class Stub:
    """One IL stub when it was generated. Times are ns since the session started, durations ns.

    `kind` says in words what `flags` say. `managed` and `native` are signatures as the runtime writes them, `il` the
    stub's code as text; `cut` when the runtime cut one of its texts (.NET 8 breaks most code off where the return value
    begins). `stack` has the frames, innermost first.
    `compile_ns` is how long the JIT took for it, None when the trace does not tell or it came precompiled.
    """

    target: str
    kind: str
    flags: str
    managed: str
    native: str
    stub_signature: str
    module: str
    time_ns: int
    thread_id: UInt64 | None
    compile_ns: int | None
    stack: tuple[str, ...]
    cache_hits: int
    namespace: str
    name: str
    token: int
    stub_method_id: UInt64
    il: str
    cut: bool
    lossy: bool


@attrs.frozen
class StubTarget:
    """All stubs of one managed method (`kind` in so many words), and how long they took to compile, in ns.

    `lossy`: events were lost somewhere, so that there may have been more.
    """

    target: str
    kind: str
    managed: str
    native: str
    stubs: int
    cache_hits: int
    compile_ns: int
    first_ns: int
    lossy: bool


@attrs.frozen
class StubReport:
    """The stubs of a trace. Plain values: it outlives the trace and pickles."""

    stubs: tuple[Stub, ...]
    targets: tuple[StubTarget, ...]
    kinds: Mapping[str, int]
    cache_hits: int
    compile_ns: int
    lost: int
    missing: tuple[Missing, ...] = ()
    """Parts of this report of which the trace tells nothing, and how to record them."""

    def table(self, what: str = "stubs") -> Table:
        """Rows as a table: `stubs` or `targets`. KeyError for another word."""
        row_class: type[Any] = {"stubs": Stub, "targets": StubTarget}[what]
        return row_table(row_class, getattr(self, what), {"name": f"stubs {what}", "losses": str(self.lost)})

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON has it; its first key says which version of the form this is."""
        return {"schema": SCHEMA, **plain(self)}


def stub_report(trace: Trace, *, raw: bool = False) -> StubReport:
    """The IL stubs that were generated, in order of time, with signatures, code, call stack and what they cost.

    `raw` gives names as the runtime writes them. The trace must have been recorded with the keyword Interop (0x2000);
    times of compilation need Jit (0x10) at level 5. P/Invokes whose arguments need no marshalling are called without a
    stub. One pass over the trace, one for its stacks and one for names.
    """
    rows = dict(zip(_EVENTS, gather(trace, [f"runtime/{name}" for name in _EVENTS]), strict=True))
    made = compilations(rows["MethodJittingStarted"], [rows["MethodLoad"], rows["MethodLoadVerbose"]])
    stubs = _stubs(trace, rows["ILStubGenerated"], _hits(rows["ILStubCacheHit"]), made, raw)
    kinds: dict[str, int] = {}
    for stub in stubs:
        kinds[stub.kind] = kinds.get(stub.kind, 0) + 1
    return StubReport(
        stubs,
        _targets(stubs, trace.lost > 0),
        dict(sorted(kinds.items(), key=lambda k: (-k[1], k[0]))),
        len(rows["ILStubCacheHit"]),
        sum(stub.compile_ns or 0 for stub in stubs),
        trace.lost,
        missing(_PARTS, [name for name, of in rows.items() if len(of)]),
    )


def kind_text(flags: int) -> str:
    """What a stub is for, in words: `P/Invoke`, `delegate of a native function`, `managed delegate for native code`."""
    reverse = bool(flags & REVERSE)
    if flags & STRUCT:
        text = "struct"
    elif flags & COM:
        text = "call from COM" if reverse else "call of COM"
    elif flags & DELEGATE:
        text = "managed delegate for native code" if reverse else "delegate of a native function"
    elif flags & CALLI:
        text = "call of a function pointer"
    else:
        text = "reverse P/Invoke" if reverse else "P/Invoke"
    if flags & VARARG:
        text += " with varargs"
    return f"{text} (precompiled)" if flags & PRECOMPILED else text


def is_whole(il: str) -> bool:
    """Whether each section of a stub's code that begins also ends."""
    return Counter(_OPENS.findall(il)) == Counter(_CLOSES.findall(il))


def _stubs(trace: Trace, rows: Gathered, hits: Mapping[int, int], made: Compilations, raw: bool) -> tuple[Stub, ...]:
    windows = LossWindows(trace)
    modules = trace.methods.modules
    flag_class = next(field.enum for field in rows.payload if field.name == "StubFlags")
    found = []
    for row in rows.table.rows():
        flags, time = row["StubFlags"], row["time_ns"]
        owner, name, managed = (row[f"ManagedInteropMethod{n}"] for n in ("Namespace", "Name", "Signature"))
        texts = (
            owner,
            name,
            managed,
            row["NativeMethodSignature"],
            row["StubMethodSignature"],
            row["StubMethodILCode"],
        )
        module = modules.at(row["ModuleID"], time)
        took, end = _compiled(made, row["StubMethodID"], time)
        stack = trace.methods.frames(trace.stacks[row["stack_id"]], time)
        found.append(
            Stub(
                target=(raw_name if raw else display_name)(owner, name, ""),
                kind=kind_text(flags),
                flags=str(flag_class(flags)) if flag_class else str(flags),
                managed=managed,
                native=row["NativeMethodSignature"],
                stub_signature=row["StubMethodSignature"],
                module=module.name if module else "",
                time_ns=time,
                thread_id=row["thread_id"],
                compile_ns=took,
                stack=tuple(
                    raw_name(f.namespace, f.name, f.signature) if raw and f.resolved else str(f) for f in stack
                ),
                cache_hits=hits.get(row["StubMethodID"], 0),
                namespace=owner,
                name=name,
                token=row["ManagedInteropMethodToken"],
                stub_method_id=row["StubMethodID"],
                il=row["StubMethodILCode"],
                cut=any(text.endswith(_CUT) for text in texts) or not is_whole(row["StubMethodILCode"]),
                lossy=windows.touches(time, end, row["thread_id"]),
            )
        )
    return tuple(found)


def _hits(rows: Gathered) -> dict[int, int]:
    """How often each stub was found again."""
    ids, counts = np.unique(rows.numbers("StubMethodID"), return_counts=True)
    return dict(zip(ids.tolist(), counts.tolist(), strict=True))


def _compiled(made: Compilations, method_id: int, time_ns: int) -> tuple[int | None, int]:
    """How long the JIT took for a stub, and when it was done; ids are used again, so the first that is not over yet."""
    mine = np.flatnonzero((made.method_id == np.uint64(method_id)) & (made.end_ns >= time_ns) & (made.start_ns != NONE))
    if not len(mine):
        return None, time_ns
    end = int(made.end_ns[mine[0]])
    return end - int(made.start_ns[mine[0]]), end


def _targets(stubs: Sequence[Stub], lossy: bool) -> tuple[StubTarget, ...]:
    groups: dict[tuple[str, ...], list[Stub]] = {}
    for stub in stubs:
        groups.setdefault((stub.namespace, stub.name, stub.managed, stub.native, stub.kind), []).append(stub)
    found = [
        StubTarget(
            group[0].target,
            group[0].kind,
            group[0].managed,
            group[0].native,
            len(group),
            sum(stub.cache_hits for stub in group),
            sum(stub.compile_ns or 0 for stub in group),
            group[0].time_ns,
            lossy,
        )
        for group in groups.values()
    ]
    return tuple(sorted(found, key=lambda t: (-t.stubs, t.first_ns)))
