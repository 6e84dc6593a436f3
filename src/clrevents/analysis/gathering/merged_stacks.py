"""Resolved stacks → stacks of methods: addresses in one method are one frame, stacks that are then alike are one.

Innermost first, as everywhere in this package. Knows neither events nor weights.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Final
from weakref import WeakKeyDictionary

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.notebook_views import Value
from clrevents._util.value_classes import frozen
from clrevents.analysis.gathering.groups import Interned, Ints, offsets
from clrevents.schema.runtime_flags import OptimizationTier
from clrevents.symbols.display_names import display_name, method_name, raw_name
from clrevents.symbols.frame import IN_FILE, NATIVE, NOT_MANAGED, REASONS, STUB, address_text
from clrevents.symbols.frame_tables import FrameNumbers, FrameTable, ResolvedStacks
from clrevents.symbols.methods import Methods
from clrevents.symbols.native import CodeKind, code_kind

NO_STACK: Final = "no stack"
"""The reason of the one frame of events that came without a stack."""

NOT_SAMPLED: Final = "not sampled"
"""The reason of the one frame for time in which it is unknown what a thread did."""

SKIPPED: Final = "skipped caller"
"""The reason of a frame that stands for a caller which a recorder's unwinder skipped, and for what it had instead."""

NATIVE_CALL: Final = "[native] under "
"""What a frame without a name is called in a trace that lists all methods, before the name of the method that called
it: the stub of a native call that was compiled in advance, which no trace names."""

ASYNC: Final = "async "
"""The prefix of async methods' names in stacks that go across awaits."""
_STUB: Final = "stub<"
"""How perf maps begin the names of stubs."""
FRAMEWORK_NAMES: Final = ("System.", "Microsoft.", "Internal.", "Interop.", "Interop+", "dynamicClass.", "[")
"""The beginnings of names that are not the program's own; stubs are in `dynamicClass`, `[jit]` is the runtime."""


@frozen
class StackFrame(Value):
    """One method as a line of stacks; its code of several tiers and addresses is one line.

    `name` is as in C#, `raw` as the runtime writes it, after its module and `!`. `reason` says why an address has no
    name; None if it has one. `kind` is None where the trace does not tell managed code from other code. `own` is
    whether its assembly is the program's; None where that is unknown. `method` is the name without parameters.
    """

    name: str
    raw: str
    module: str = ""
    reason: str | None = None
    kind: CodeKind | None = None
    own: bool | None = None
    method: str = attrs.field(init=False, repr=False)
    _texts: tuple[str, str, str] = attrs.field(init=False, repr=False, default=("", "", ""))

    @classmethod
    def of_texts(
        cls, texts: tuple[str, str, str], raw: str, module: str, kind: CodeKind | None, own: bool | None
    ) -> StackFrame:
        """One of a method's namespace, name and signature. Its name is made when it is asked for: of thousands, some
        are shown."""
        frame = cls("", raw, module, None, kind, own)
        object.__delattr__(frame, "name")
        object.__setattr__(frame, "_texts", texts)
        return frame

    def __getattr__(self, attribute: str) -> str:
        # Of those that are not set yet.
        if attribute == "name":
            text = display_name(*self._texts)
        elif attribute == "method":
            text = method_name(*self._texts) if self._texts[1] else self.name.partition("(")[0]
        else:
            raise AttributeError(attribute)
        object.__setattr__(self, attribute, text)
        return text

    def may_begin(self, heads: tuple[str, ...]) -> bool:
        """Whether the name may begin with one of these, of one or two words: without making it, of thousands few do."""
        owner, name, _ = self._texts
        text = f"{owner}.{name}".replace("+", ".") if owner else name or self.name
        # As written, but for what compilers make.
        return text.startswith(heads) or not text[:1].isalpha() or "<" in text or "$" in text or "/" in text

    def __hash__(self) -> int:
        return hash(self.raw)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StackFrame):
            return NotImplemented
        alike = self.raw == other.raw and self.module == other.module
        # Names last: they may have to be made.
        return alike and self.reason == other.reason and self.kind == other.kind and self.name == other.name


_FRAMES: Final[WeakKeyDictionary[Methods, dict[int, StackFrame]]] = WeakKeyDictionary()
"""Those of code that was asked for: several reports show the same methods."""


def is_own(frame: StackFrame) -> bool:
    """Whether a method is the program's own, by its assembly or else its namespace; one without a name is not."""
    if frame.reason is not None or frame.kind in ("kernel", "native"):
        return False
    return is_own_name(frame.name) if frame.own is None else frame.own


def is_own_name(name: str) -> bool:
    """Whether a method of this name, as C# or the runtime writes it, is the program's own."""
    return not name.removeprefix(ASYNC).startswith(FRAMEWORK_NAMES)


@frozen(eq=False)
class MergedStacks:
    """`values[offsets[i]:offsets[i + 1]]` are places in `frames`, innermost first; `of[k]` is the k-th use's stack."""

    of: Ints
    offsets: Ints
    values: FrameNumbers
    frames: tuple[StackFrame, ...]


def merged_stacks(methods: Methods, stacks: ResolvedStacks) -> MergedStacks:
    """Every use gets a stack: those without one share a stack of one frame that says so."""
    return used(method_stacks(methods, stacks))


def method_stacks(methods: Methods, stacks: ResolvedStacks) -> MergedStacks:
    """The same where stacks that are alike are not one yet, and frames may be there that nobody uses."""
    frames: Interned[StackFrame] = Interned()
    place = _frames(methods, stacks, frames)
    values = place[stacks.values]
    skipped = _skipped_callers(methods, stacks, values)
    if len(skipped):
        values[skipped] = frames[StackFrame(f"[{SKIPPED}]", f"[{SKIPPED}]", reason=SKIPPED)]
    if not methods.tells_kinds:
        values = _with_native_calls(stacks, values, frames)
    of, ends, lacking = stacks.of, stacks.offsets, np.append(np.diff(stacks.offsets) == 0, True)[stacks.of]
    if lacking.any():
        of, ends = np.where(lacking, len(stacks), of), np.append(ends, len(values) + 1)
        none = StackFrame(f"[{NO_STACK}]", f"[{NO_STACK}]", reason=NO_STACK)
        values = np.append(values, frames.of([none]).astype(values.dtype))
    return MergedStacks(of, ends, values, tuple(frames))


def used(merged: MergedStacks) -> MergedStacks:
    """The same without stacks and frames that nobody uses; stacks that are alike are one."""
    of, ends, values = distinct_stacks(merged.of, merged.offsets, merged.values)
    there = np.zeros(len(merged.frames), dtype=np.bool_)
    there[values] = True
    place = np.cumsum(there, dtype=merged.values.dtype) - 1
    frames = tuple(itertools.compress(merged.frames, there.tolist()))
    return MergedStacks(of, ends, place[values] if len(values) else values, frames)


def distinct_stacks(of: Ints, ends: Ints, values: FrameNumbers) -> tuple[Ints, Ints, FrameNumbers]:
    """Only stacks that are used, and those that are alike once: the stack of each use, offsets, and values."""
    asked = list(dict.fromkeys(of.tolist()))
    data, size = values.tobytes(), values.itemsize
    edges = (ends * size).tolist()
    stacks: Interned[bytes] = Interned()
    alike = np.zeros(len(ends), dtype=np.int64)
    alike[np.array(asked, dtype=np.int64)] = stacks.of(data[edges[stack] : edges[stack + 1]] for stack in asked)
    sizes = [len(key) // size for key in stacks]
    return alike[of], offsets(sizes), np.frombuffer(b"".join(stacks), dtype=values.dtype)


def _with_native_calls(stacks: ResolvedStacks, values: FrameNumbers, frames: Interned[StackFrame]) -> FrameNumbers:
    """The same with what is not managed named after the method that called it; of several in a row each."""
    unnamed = stacks.table.reason[stacks.values] == NOT_MANAGED
    unnamed[stacks.offsets[1:][np.diff(stacks.offsets) > 0] - 1] = False
    nameless = np.flatnonzero(unnamed)
    known = list(frames)
    calls: dict[int, int | None] = {}
    for place in nameless[::-1].tolist():
        caller = int(values[place + 1])
        if caller not in calls:
            above = known[caller]
            name, raw = f"{NATIVE_CALL}{above.name}", f"{NATIVE_CALL}{above.raw}"
            if above.reason is None:
                call = StackFrame(name, raw, reason=REASONS[NOT_MANAGED])
                calls[caller] = frames[call]
                known[frames[call] :] = [call]
            else:
                calls[caller] = caller if above.name.startswith(NATIVE_CALL) else None
        number = calls[caller]
        if number is not None:
            values[place] = number
    return values


def _skipped_callers(methods: Methods, stacks: ResolvedStacks, values: FrameNumbers) -> Ints:
    """Which entries of `stacks.values` a method cannot have been called from: the caller is not in the stack.

    Code that replaced other code of its method on the stack (OSR) runs on top of that one's frame. Unwinders of native
    stacks take what they find there for the caller, the method's other code or a stub, and miss the true one. The
    runtime itself knows better: stacks of managed frames alone stay as they are.
    """
    table = stacks.table
    if not methods.tells_kinds:
        return np.zeros(0, dtype=np.int64)
    known = table.method >= 0
    indexes, place = np.unique(table.method[known], return_inverse=True)
    each = [methods[index] for index in indexes.tolist()]
    osr = np.zeros(len(table), dtype=np.bool_)
    osr[known] = np.array([method.tier == OptimizationTier.OptimizedTier1OSR for method in each], dtype=np.bool_)[place]
    if not osr.any():
        return np.zeros(0, dtype=np.int64)
    stub, native = table.reason == STUB, np.isin(table.reason, list(IN_FILE))
    stub[known] = np.array([method.native and method.name.startswith(_STUB) for method in each])[place]
    native[known] = np.array([method.native for method in each])[place]
    of = np.repeat(np.arange(len(stacks)), np.diff(stacks.offsets))
    unwound = np.bincount(of, native[stacks.values], len(stacks)) > 0
    code = table.method[stacks.values]
    upper, lower = stacks.values[:-1], stacks.values[1:]
    same = (values[:-1] == values[1:]) & (code[1:] >= 0) & ~osr[lower]
    hit = osr[upper] & (same | stub[lower]) & (of[:-1] == of[1:]) & unwound[of[:-1]]
    return np.flatnonzero(hit) + 1


def _frames(methods: Methods, stacks: ResolvedStacks, frames: Interned[StackFrame]) -> FrameNumbers:
    """Which frame each entry of the table is; texts are made once for a method, and not for each address in it."""
    table = stacks.table
    place = np.zeros(len(table), dtype=np.int32)
    known = table.method >= 0
    indexes, of = np.unique(table.method[known], return_inverse=True)
    place[known] = frames.of(_with_modules(method_frames(methods, indexes.tolist())))[of]
    kinds, fileless = methods.tells_kinds, ~known & ~np.isin(table.reason, [STUB, *IN_FILE])
    texts = ((address_text(address), address, REASONS[reason]) for _, address, reason in _rows(table, fileless))
    place[fileless] = frames.of(
        StackFrame(text, text, "", reason, code_kind(address, "", None) if kinds else None)
        for text, address, reason in texts
    )
    for row, address, reason in _rows(table, ~known & ~fileless):
        frame = table.frame(row)
        kind = code_kind(address, frame.module, False if reason == STUB else None) if kinds else None
        # What a mapped file has no name for is one line of each file.
        why = "" if reason == NATIVE else f": {frame.reason}"
        text = f"[unresolved in {frame.module}{why}]" if reason in IN_FILE and frame.module else frame.label
        if reason == STUB:
            text = f"[{frame.reason}]"
        place[row] = frames[StackFrame(text, text, frame.module, frame.reason, kind)]
    return place


def _rows(table: FrameTable, which: NDArray[np.bool_]) -> Iterator[tuple[int, int, int]]:
    """Some rows, their addresses and their reasons."""
    columns = np.flatnonzero(which), table.address[which], table.reason[which]
    return zip(*(column.tolist() for column in columns), strict=True)


def _with_modules(frames: list[StackFrame]) -> list[StackFrame]:
    """Code of an unknown module is assigned to the only method with its name, if there is exactly one.

    So that a method of which only some code has a module, as where a process was killed, is one line.
    """
    if all(frame.module for frame in frames):
        return frames
    of_name: dict[str, set[StackFrame]] = {}
    for frame in frames:
        if frame.module:
            of_name.setdefault(frame.raw.removeprefix(f"{frame.module}!"), set()).add(frame)
    with_modules = []
    for frame in frames:
        alike = of_name.get(frame.raw, set()) if not frame.module else set()
        with_modules.append(next(iter(alike)) if len(alike) == 1 else frame)
    return with_modules


def method_frames(methods: Methods, indexes: Sequence[int]) -> list[StackFrame]:
    """The frames of pieces of code, by their indexes in the trace's methods."""
    known = _FRAMES.setdefault(methods, {})
    new = [index for index in indexes if index not in known]
    kinds, of_program = methods.tells_kinds, methods.modules.of_program
    for index, (*texts, display, module) in zip(new, methods.texts(new), strict=True):
        kind, own = None, of_program(module)
        if kinds:
            method = methods[index]
            kind = code_kind(method.address, module, not method.native)
        raw = raw_name(*texts) if texts[1] else display or ""
        raw = f"{module}!{raw}" if texts[1] and module else raw
        if display is None:
            frame = StackFrame.of_texts((texts[0], texts[1], texts[2]), raw, module, kind, own)
        else:
            frame = StackFrame(display, raw, module, None, kind, own)
        known[index] = frame
    return [known[index] for index in indexes]
