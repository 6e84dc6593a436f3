"""Type names as the runtime writes them → as C# writes them.

Knows two spellings: that of reflection (``List`1+Enumerator[System.Int32]``), used for declaring types, and that of
signatures (`value class System.Span`1<!0>&`). Knows compiler-generated names. Pure functions of text: any text gives
a text, and what cannot be parsed is returned unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from clrevents._util.value_classes import frozen

DEPTH: Final = 40
"""Types nested deeper than this keep their raw text: no real one comes close, and hostile text must not recurse."""

LONGEST: Final = 8_192
"""Texts longer than this stay as they are."""

KEYWORDS: Final = {
    "System.Boolean": "bool",
    "System.Byte": "byte",
    "System.SByte": "sbyte",
    "System.Char": "char",
    "System.Decimal": "decimal",
    "System.Double": "double",
    "System.Single": "float",
    "System.Int16": "short",
    "System.Int32": "int",
    "System.Int64": "long",
    "System.UInt16": "ushort",
    "System.UInt32": "uint",
    "System.UInt64": "ulong",
    "System.IntPtr": "nint",
    "System.UIntPtr": "nuint",
    "System.Object": "object",
    "System.String": "string",
    "System.Void": "void",
}

_LONGEST_MADE_UP: Final = 1024
CACHED: Final = 1 << 12
"""How many texts of each kind are remembered: a program has few types, and names each of them very often."""
_OPEN: Final = "[<("
_SHUT: Final = "]>)"
_MARKS: Final = re.compile(r"[][<>(),+]")
_SQUARE: Final = re.compile(r"[][]")
_ARITY: Final = re.compile(r"`(\d{1,4})")
# After the `<…>` of a generated name: `d__3` a state machine, `b__0_1` a lambda, `g__Name|4_0` a local function,
# `c__DisplayClass3_0` captured variables. `c__async0`, `c__Iterator0`, `c__AnonStorey1` and `m__2` are Mono's.
_MACHINE: Final = re.compile(r"d(__\d+)?|c__(async|Iterator)\d+")
_CLOSURE: Final = re.compile(r"c(__DisplayClass\w*|__AnonStorey\d+|__\d+\w*)?|O|o__\d+")
_LAMBDA: Final = re.compile(r"(?:b|m)__(\w+)")
_LOCAL: Final = re.compile(r"g__([^|]+?)(?:\|\d+(?:_\d+)*|\d*_\d+)?")
_BASIC_MACHINE: Final = re.compile(r"VB\$StateMachine_\d+_(\w+)")


@frozen
class TypeName:
    """A type's name in parts: `parts` are display names from the outermost type in, `arguments` its raw arguments.

    `machine` if the innermost type is a state machine generated for a method; then the method's name is the last part.
    Types that only hold captured variables add no part: the innermost one's raw name is `closure`, and `closure_of`
    the method it names.
    """

    parts: tuple[str, ...]
    arguments: tuple[str, ...]
    machine: bool = False
    closure: str = ""
    closure_of: str = ""

    def text(self, full: bool = True) -> str:
        """C#'s spelling, with or without the namespace."""
        first = self.parts[0] if full or not self.parts else _short(self.parts[0])
        return ".".join((first, *self.parts[1:]))


@lru_cache(CACHED)
def type_name(text: str, depth: int = 0) -> TypeName:
    """A declaring type, as in method events: namespace, `+` between nested types, all arguments at the end."""
    if len(text) > LONGEST or depth > DEPTH:
        return TypeName((text,), ())
    body, arguments = _split_arguments(text)
    left = list(arguments)
    parts: list[str] = []
    machine = False
    closure = closure_of = ""
    for piece in split_top(body, "+"):
        arity = _ARITY.search(piece)
        name = piece[: arity.start()] + piece[arity.end() :] if arity else piece
        count = min(int(arity[1]), 64) if arity else 0
        own, left = left[:count], left[count:]
        machine = False
        origin = made_up(name)
        if origin is not None and origin.kind == "closure":
            closure, closure_of = name, origin.name
            continue
        closure = closure_of = ""
        if origin is None:
            plain = name
        else:
            plain, machine = origin.name, origin.kind == "machine"
        shown = [display_type(a, depth + 1) for a in own] if arguments else [f"T{i}" for i in range(count)]
        parts.append(f"{plain}<{', '.join(shown)}>" if shown and not machine else plain)
    if not parts:
        return TypeName((text,), arguments)
    if left:
        parts[-1] += f"<{', '.join(display_type(a, depth + 1) for a in left)}>"
    return TypeName(tuple(parts), arguments, machine, closure, closure_of)


@lru_cache(CACHED)
def display_type(text: str, depth: int = 0) -> str:
    """A type argument in the spelling of reflection, without namespaces: `List<int>`, `byte[]`."""
    if depth > DEPTH or len(text) > LONGEST:
        return text
    base = text
    while base.endswith(("&", "*")) or _is_array(base):
        base = base[: base.rindex("[")] if base.endswith("]") else base[:-1]
    behind = text[len(base) :].replace("&", "")
    shown = KEYWORDS.get(base) or type_name(base, depth).text(full=False)
    shown += behind
    return f"ref {shown}" if text.endswith("&") else shown


@frozen
class MadeUp:
    """A compiler-generated name: the `kind` of thing, and the method it comes from (`Main.lambda_0_1`)."""

    kind: str
    name: str


@lru_cache(CACHED)
def made_up(name: str, depth: int = 0) -> MadeUp | None:
    """The origin of a generated name; None for ordinary names.

    Kinds: `machine` (async method or iterator), `closure` (holds variables, has no name), `lambda`, `local`,
    `main` (a program without a Main), `part` (a piece of its container).
    """
    basic = _BASIC_MACHINE.fullmatch(name)
    if basic:
        return MadeUp("machine", basic[1])
    if not name.startswith("<") or depth > DEPTH or len(name) > _LONGEST_MADE_UP:
        return None
    end = _closing(name)
    if end < 0:
        return None
    inner, rest = name[1:end], name[end + 1 :]
    origin = made_up(inner, depth + 1)
    # A generated name cannot contain a dot, so an explicit implementation has dashes instead.
    source = origin.name if origin else inner.replace("-", ".")
    if _MACHINE.fullmatch(rest) and inner:
        return MadeUp("machine", source)
    if _CLOSURE.fullmatch(rest):
        return MadeUp("closure", source)
    if found := _LAMBDA.fullmatch(rest):
        number = f"lambda_{found[1].strip('_')}"
        if found[1].startswith("Finally"):
            return MadeUp("part", "finally")
        return MadeUp("lambda", f"{source}.{number}" if source else number)
    if (found := _LOCAL.fullmatch(rest)) and inner:
        return MadeUp("local", f"{source}.{found[1]}")
    if rest == "$" and inner:
        return MadeUp("main", source)
    return None


def split_top(text: str, separator: str) -> list[str]:
    """Split at a comma or plus where no bracket is open; unmatched closing brackets are ignored."""
    if separator not in text:
        return [text]
    pieces: list[str] = []
    open_ = begin = 0
    for mark in _MARKS.finditer(text):
        char = mark[0]
        if char in _OPEN:
            open_ += 1
        elif char in _SHUT:
            open_ = max(open_ - 1, 0)
        elif char == separator and not open_:
            pieces.append(text[begin : mark.start()])
            begin = mark.end()
    pieces.append(text[begin:])
    return pieces


def _split_arguments(text: str) -> tuple[str, tuple[str, ...]]:
    """``A`1+B[X,Y]`` → (``A`1+B``, (X, Y)); array brackets are not arguments."""
    if not text.endswith("]") or _is_array(text):
        return text, ()
    open_ = 0
    for mark in reversed(list(_SQUARE.finditer(text))):
        open_ += 1 if mark[0] == "]" else -1
        if not open_:
            at = mark.start()
            inner = text[at + 1 : -1]
            return (text[:at], tuple(a.strip() for a in split_top(inner, ","))) if at and inner else (text, ())
    return text, ()


def _is_array(text: str) -> bool:
    """Whether it ends in `[]` or `[,]`."""
    if not text.endswith("]"):
        return False
    inner = text[text.rfind("[") + 1 : -1]
    return "[" in text and not inner.strip(",*")


def _closing(text: str) -> int:
    """Where the leading `<` is closed; -1 if nowhere."""
    open_ = 0
    for at, char in enumerate(text):
        if char == "<":
            open_ += 1
        elif char == ">":
            open_ -= 1
            if not open_:
                return at
    return -1


def _short(name: str) -> str:
    """Without the namespace; dots inside brackets belong to arguments."""
    head, bracket, rest = name.partition("<")
    if not head:
        return name
    return head.rpartition(".")[2] + bracket + rest


def substitute(index: int, arguments: Sequence[str], letter: str) -> str:
    """The type parameter `!index`: its argument if known, otherwise `T0` or `M0`."""
    return display_type(arguments[index]) if 0 <= index < len(arguments) else f"{letter}{index}"
