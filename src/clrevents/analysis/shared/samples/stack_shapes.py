"""Which samples count and which frames their stacks show: groups, includes, excludes, folds, states, the program's own
code.

The means of PerfView's stack viewer, in its order: frames are grouped first, then stacks are chosen by what they hold,
then frames fold into their callers. In patterns for names (`Shop.*`, `Pay`, `app!Shop.Cart.Pay`) `*` is any text and
`?` one character; all others are literal, because names contain brackets. Each frame is looked at once. A sample is
judged alone: what events tell of the same moment is for the report `threads`. Knows no weights or times.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.gathering.groups import Interned, Ints, Mask, offsets
from clrevents.analysis.gathering.merged_stacks import ASYNC, MergedStacks, StackFrame, is_own, used
from clrevents.analysis.shared.samples.leaf_states import (
    OFF_PROCESSOR,
    SAMPLED,
    STATES,
    WAITING,
    ThreadState,
    artefact_frames,
    stack_states,
)
from clrevents.analysis.shared.samples.off_processor import kernel_entry
from clrevents.analysis.shared.weights.sample_runs import EXTERNAL, MANAGED
from clrevents.symbols.native import CodeKind

GroupKind: TypeAlias = Literal["->", "=>"]

SEPARATOR: Final = ";"
"""The separator of several patterns."""
_WILD: Final = "*?"
_ARROW: Final = re.compile(r"->|=>")
_REFERENCE: Final = re.compile(r"\$(\d)")
_MOST: Final = 9
"""How many captures `$1` to `$9` can name."""


@frozen
class NamePattern:
    """One pattern, with the places of its captures.

    Without a wildcard it is a whole name, or its end after a dot; with one it is the whole name. It is compared with a
    method's `Namespace.Type.Method`, as C# and as the runtime writes it; with arguments if the pattern has a
    parenthesis, and after the module's name if it has a `!`.
    """

    text: str
    captures: tuple[tuple[int, int], ...] = ()
    """From which to which place of `text` each capture reaches."""

    def match(self, frame: StackFrame) -> tuple[str, ...] | None:
        """What was captured, if a frame matches; None if it does not."""
        for name in _names(frame, "!" in self.text, "(" in self.text):
            groups = self.match_text(name)
            if groups is not None:
                return groups
        return None

    def match_text(self, name: str) -> tuple[str, ...] | None:
        """The same of one way to write a name."""
        if any(char in self.text for char in _WILD):
            places = self._places(name)
            return None if places is None else tuple(name[places[low] : places[high]] for low, high in self.captures)
        if name != self.text and not name.endswith(f".{self.text}"):
            return None
        shift = len(name) - len(self.text)
        return tuple(name[shift + low : shift + high] for low, high in self.captures)

    def _places(self, name: str) -> list[int] | None:
        """Where in a name each place of the pattern is, and its end; the shortest texts for the first stars.

        Takes time by the product of both lengths, whatever they are.
        """
        places: list[int] = []
        parts = self.text.split("*")
        at = 0
        for number, part in enumerate(parts):
            last = number == len(parts) - 1
            if last and number:
                start = len(name) - len(part) if len(name) - len(part) >= at else -1
                start = start if start >= 0 and _fits(part, name, start) else -1
            elif number:
                start = next((s for s in range(at, len(name) - len(part) + 1) if _fits(part, name, s)), -1)
            else:
                start = 0 if _fits(part, name, 0) and (not last or len(part) == len(name)) else -1
            if start < 0:
                return None
            if number:
                # The star before this part reaches from `at` to its start.
                places.append(at)
            places += range(start, start + len(part))
            at = start + len(part)
        return [*places, len(name)]


@frozen
class GroupRule:
    """Frames that match get another name: that of the group, or with `=>` that of the method that enters the group.

    An empty name leaves frames as they are, whatever later rules say.
    """

    pattern: NamePattern
    kind: GroupKind
    name: str

    def group(self, frame: StackFrame) -> str | None:
        """The name of the group that a frame is in; None if it is in none of this rule."""
        captured = self.pattern.match(frame)
        return None if captured is None else _REFERENCE.sub(lambda number: captured[int(number[1]) - 1], self.name)


def name_patterns(option: str, text: str | None) -> tuple[NamePattern, ...]:
    """The patterns in an option, separated by semicolons. Raises ValueError for an empty one."""
    return tuple(_pattern(option, part) for part in _parts(option, text))


def group_rules(option: str, text: str | None) -> tuple[GroupRule, ...]:
    """The groups in an option: `PATTERN->NAME` or `PATTERN=>NAME`, separated by semicolons.

    Braces in the pattern capture what `$1` to `$9` stand for in the name. Raises ValueError for anything else.
    """
    return tuple(_rule(option, part) for part in _parts(option, text))


def matched(patterns: Sequence[NamePattern], frame: StackFrame) -> bool:
    """Whether any of the patterns matches."""
    return any(pattern.match(frame) is not None for pattern in patterns)


def _parts(option: str, text: str | None) -> list[str]:
    if text is None:
        return []
    parts = [part.strip() for part in text.split(SEPARATOR)]
    if not all(parts):
        raise ValueError(f"{option} has an empty pattern: {text!r}")
    return parts


def _pattern(option: str, text: str) -> NamePattern:
    if _ARROW.search(text):
        raise ValueError(f"{option} takes patterns, but {text!r} names a group")
    return NamePattern(text)


def _rule(option: str, text: str) -> GroupRule:
    arrow = _ARROW.search(text)
    if arrow is None:
        raise ValueError(f"{option} takes PATTERN->NAME or PATTERN=>NAME, not {text!r}")
    left, name = text[: arrow.start()].strip(), text[arrow.end() :].strip()
    pattern = _captured(option, left, text)
    for number in _REFERENCE.findall(name):
        if not 0 < int(number) <= len(pattern.captures):
            raise ValueError(f"{option} has no braces for ${number}: {text!r}")
    return GroupRule(pattern, "=>" if arrow[0] == "=>" else "->", name)


def _captured(option: str, left: str, text: str) -> NamePattern:
    """A pattern without its braces, and where they were."""
    plain, begins = "", []
    captures: list[tuple[int, int] | None] = []
    for char in left:
        if char == "{":
            begins.append(len(captures))
            captures.append((len(plain), -1))
        elif char == "}":
            if not begins:
                raise ValueError(f"{option} has an unmatched closing brace: {text!r}")
            number = begins.pop()
            captures[number] = ((captures[number] or (0, 0))[0], len(plain))
        else:
            plain += char
    if begins:
        raise ValueError(f"{option} has an unmatched opening brace: {text!r}")
    if not plain:
        raise ValueError(f"{option} has an empty pattern: {text!r}")
    if len(captures) > _MOST:
        raise ValueError(f"{option} has more than {_MOST} pairs of braces: {text!r}")
    return NamePattern(plain, tuple(capture for capture in captures if capture is not None))


def _names(frame: StackFrame, module: bool, arguments: bool) -> list[str]:
    """The ways to write a frame's name that a pattern may mean."""
    raw = frame.raw.removeprefix(f"{frame.module}!")
    shown = frame.name.removeprefix(ASYNC)
    names = [shown, raw] if arguments else [name.partition("(")[0] for name in (shown, raw)]
    return [f"{frame.module}!{name}" for name in names] if module else names


def _fits(part: str, name: str, start: int) -> bool:
    """Whether a part of a pattern, which has no star, is what a name has from this place on."""
    if len(name) - start < len(part):
        return False
    if "?" not in part:
        return name.startswith(part, start)
    return all(char in ("?", name[start + place]) for place, char in enumerate(part))


FOLDED: Final = "folded"
"""The reason of the one frame of a stack with nothing left."""


@frozen
class StackShape:
    """The requested shape of stacks. Every sample that is kept keeps its weight."""

    group: tuple[GroupRule, ...] = ()
    include: tuple[NamePattern, ...] = ()
    exclude: tuple[NamePattern, ...] = ()
    fold: tuple[NamePattern, ...] = ()
    my_code: bool = False
    keep: tuple[NamePattern, ...] = ()
    """What neither `fold` nor `my_code` removes from stacks."""
    fold_kernel: bool = False

    @classmethod
    def of(
        cls,
        group: str | None = None,
        include: str | None = None,
        exclude: str | None = None,
        fold: str | None = None,
        my_code: bool = False,
        fold_kernel: bool = False,
    ) -> StackShape:
        """Made from what users write. Raises ValueError, naming the option, for an invalid pattern."""
        return cls(
            group_rules("group", group),
            name_patterns("include", include),
            name_patterns("exclude", exclude),
            name_patterns("fold", fold),
            my_code,
            fold_kernel=fold_kernel,
        )

    def __bool__(self) -> bool:
        return self != StackShape()

    def apply(self, merged: MergedStacks) -> tuple[MergedStacks, Mask]:
        """The stacks in their new shape, and which of them are kept; the others are still there, by their number."""
        merged = with_kernel_entries(merged) if self.fold_kernel else merged
        merged = _grouped(merged, self.group) if self.group else merged
        kept = np.ones(len(merged.offsets) - 1, dtype=np.bool_)
        for pattern in self.include:
            # Each of them has to match.
            kept &= _holds(merged, _matching(merged.frames, (pattern,)))
        if self.exclude:
            kept &= ~_holds(merged, _matching(merged.frames, self.exclude))
        if self.my_code:
            merged = _own_code(merged, _matching(merged.frames, self.keep))
        if self.fold:
            merged = _folded(merged, _matching(merged.frames, self.fold) & ~_matching(merged.frames, self.keep))
        return merged, kept


def with_kernel_entries(merged: MergedStacks) -> MergedStacks:
    """Stacks whose frames of the kernel, which are the innermost ones, are one: what the kernel was entered for."""
    kernel = np.array([frame.kind == "kernel" for frame in merged.frames], dtype=np.bool_)[merged.values]
    first = merged.offsets[:-1]
    # How many frames at the beginning of each stack are the kernel's: up to the first other one.
    others = np.flatnonzero(np.append(~kernel, True))
    sizes = np.minimum(others[np.searchsorted(others, first)], merged.offsets[1:]) - first
    frames: Interned[StackFrame] = Interned({frame: place for place, frame in enumerate(merged.frames)})
    entries: dict[bytes, int] = {}
    values, dropped = merged.values.copy(), np.zeros(len(merged.values), dtype=np.bool_)
    for start, size in zip(first[sizes > 0].tolist(), sizes[sizes > 0].tolist(), strict=True):
        part = merged.values[start : start + size]
        key = part.tobytes()
        if key not in entries:
            name = kernel_entry([merged.frames[frame].name for frame in part.tolist()])
            entries[key] = frames[StackFrame(name, name, merged.frames[int(part[-1])].module, kind="kernel")]
        values[start] = entries[key]
        dropped[start + 1 : start + size] = True
    return without_frames(MergedStacks(merged.of, merged.offsets, values, tuple(frames)), dropped)


def without_frames(merged: MergedStacks, dropped: Mask) -> MergedStacks:
    """Stacks without some of their places, in `values`. Every stack must keep at least one."""
    return _only(merged, merged.values, ~dropped, merged.frames)


def _only(merged: MergedStacks, values: Ints, kept: Mask, frames: tuple[StackFrame, ...]) -> MergedStacks:
    return MergedStacks(merged.of, offsets(kept)[merged.offsets], values[kept], frames)


def _owner(merged: MergedStacks) -> Ints:
    """The stack of each place."""
    return np.repeat(np.arange(len(merged.offsets) - 1), np.diff(merged.offsets))


def _matching(frames: Sequence[StackFrame], patterns: Sequence[NamePattern]) -> Mask:
    return np.array([matched(patterns, frame) for frame in frames], dtype=np.bool_)


def _holds(merged: MergedStacks, frames: Mask) -> Mask:
    """Which stacks hold one of these frames."""
    return np.bincount(_owner(merged)[frames[merged.values]], minlength=len(merged.offsets) - 1) > 0


def _folded(merged: MergedStacks, frames: Mask) -> MergedStacks:
    """Without these frames; a stack of nothing else is one frame that says so."""
    dropped = frames[merged.values]
    if not dropped.any():
        return merged
    nothing = ~_holds(merged, ~frames)
    # Its innermost frame is renamed rather than dropped.
    first = np.zeros(len(merged.values), dtype=np.bool_)
    first[merged.offsets[:-1][nothing]] = True
    known = Interned({frame: place for place, frame in enumerate(merged.frames)})
    none = known[StackFrame(f"[{FOLDED}]", f"[{FOLDED}]", reason=FOLDED)]
    return _only(merged, np.where(first, none, merged.values), ~dropped | first, tuple(known))


def _own_code(merged: MergedStacks, others: Mask) -> MergedStacks:
    """The program's own frames, and some others; of a stack without any, the innermost."""
    own = np.array([is_own(frame) for frame in merged.frames], dtype=np.bool_) | others
    kept = own[merged.values]
    kept[merged.offsets[:-1][~_holds(merged, own)]] = True
    return without_frames(merged, ~kept)


def _grouped(merged: MergedStacks, rules: Sequence[GroupRule]) -> MergedStacks:
    """Frames under their groups' names; those that frames of the same group called are part of these."""
    known: Interned[str] = Interned()
    named_groups = [_group(frame, rules) for frame in merged.frames]
    group = np.array([-1 if one is None else known[one[0]] for one in named_groups], dtype=np.int64)
    modules: dict[str, set[str]] = {}
    kinds: dict[str, set[CodeKind | None]] = {}
    for frame, one in zip(merged.frames, named_groups, strict=True):
        if one is not None:
            modules.setdefault(one[0], set()).add(frame.module)
            kinds.setdefault(one[0], set()).add(frame.kind)
    frames: Interned[StackFrame] = Interned()
    place = np.zeros(len(merged.frames), dtype=np.int64)
    for number, (frame, one) in enumerate(zip(merged.frames, named_groups, strict=True)):
        if one is not None:
            name, entry = one
            module = frame.module if entry or len(modules[name]) == 1 else ""
            text, raw = (f"{name} <<{frame.name}>>", f"{name} <<{frame.raw}>>") if entry else (name, name)
            kind = frame.kind if entry or len(kinds[name]) == 1 else None
            frame = StackFrame(text, raw, module, kind=kind)
        place[number] = frames[frame]
    group_of_frame, owner = group[merged.values], _owner(merged)
    called = np.zeros(len(merged.values), dtype=np.bool_)
    called[:-1] = (group_of_frame[:-1] >= 0) & (group_of_frame[:-1] == group_of_frame[1:]) & (owner[:-1] == owner[1:])
    return _only(merged, place[merged.values], ~called, tuple(frames))


def _group(frame: StackFrame, rules: Sequence[GroupRule]) -> tuple[str, bool] | None:
    """The group of a frame, by the first rule that matches, and whether it is called after who enters it."""
    for rule in rules:
        name = rule.group(frame)
        if name is not None:
            return (name, rule.kind == "=>") if name else None
    return None


StateCodes: TypeAlias = NDArray[np.int8]

UNTELLABLE: Final = ("running", "native", "gc_suspended")
"""The states that are unknown if samples do not show whether a thread ran."""

_RUNNING, _NATIVE, _UNKNOWN = (STATES.index(name) for name in ("running", "native", "unknown"))


def sampled_states(merged: MergedStacks, types: Ints, running_told: bool = True) -> StateCodes:
    """The place in `STATES` of each sample's state. In managed code a thread runs, also if it spins before it waits.

    Unless samples show whether a thread ran, only known waits are known.
    """
    states_of_stacks = stack_states(merged.frames, merged.offsets, merged.values).leaf_state[merged.of]
    outside = np.where(states_of_stacks < 0, _NATIVE, states_of_stacks)
    if not running_told:
        waits = np.isin(states_of_stacks, [STATES.index(state) for state in WAITING]) & (types == EXTERNAL)
        return np.where(waits, states_of_stacks, _UNKNOWN).astype(np.int8)
    states = np.where(types == MANAGED, _RUNNING, np.where(types == EXTERNAL, outside, _UNKNOWN))
    return states.astype(np.int8)


def chosen_states(
    running: bool, waiting: bool, state: str | None, away: bool = False
) -> tuple[ThreadState, ...] | None:
    """The requested states; None for all. Raises ValueError for an unknown one, or for several at once.

    Times off a processor are in other states than samples of the profiler: those are for `away`.
    """
    if running + waiting + (state is not None) > 1:
        raise ValueError("give only one of running, waiting and state")
    known = OFF_PROCESSOR if away else SAMPLED
    if running and away:
        raise ValueError("threads off a processor do not run")
    if running:
        return ("running",)
    if waiting:
        return tuple(name for name in WAITING if name in known)
    if state is None:
        return None
    chosen = tuple(name for name in known if name == state)
    if not chosen:
        raise ValueError(f"no state {state!r}; there are {', '.join(known)}")
    return chosen


def tellable(states: Sequence[ThreadState]) -> bool:
    """Whether samples show all of these states although they do not show whether a thread ran."""
    return not any(state in UNTELLABLE for state in states)


def in_states(codes: StateCodes, states: Sequence[ThreadState]) -> NDArray[np.bool_]:
    """Which samples are in one of these states."""
    mask: NDArray[np.bool_] = np.isin(codes, [STATES.index(state) for state in states])
    return mask


def folded(merged: MergedStacks) -> MergedStacks:
    """Stacks without artefacts, so that callers stand in their place; one of nothing else stays."""
    artefact = artefact_frames(merged.frames)
    if artefact.any():
        places = np.flatnonzero(artefact[merged.values])
        count = np.diff(np.searchsorted(places, merged.offsets))
        places = places[np.repeat(count < np.diff(merged.offsets), count)]
        starts = merged.offsets - np.searchsorted(places, merged.offsets)
        merged = MergedStacks(merged.of, starts, np.delete(merged.values, places), merged.frames)
    return used(merged)
