"""Names that the NativeAOT compiler gives to code and types → names as the runtime writes them elsewhere.

The compiler writes `_` for whatever is no letter or digit, also between an assembly and a namespace, and `__` before a
method: `S_P_CoreLib_System_Threading_Monitor__Enter`. What a `_` was is not in the text. One in a type counts as a dot,
and an assembly ends where its name begins again, or the framework's namespaces do. What does not fit stays as it is.
"""

from __future__ import annotations

import re
from typing import Final

from clrevents._util.value_classes import frozen
from clrevents.symbols.display_names import DEPTH, closing, display_name

TYPE: Final = "_ZTV"
"""How symbols of types begin; the length of the name follows."""
_LONGEST: Final = 1024
_PRIMITIVE: Final = {
    "Bool": "Boolean",
    "UInt8": "Byte",
    "Int8": "SByte",
    **{name: name for name in ("Char", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64", "IntPtr", "UIntPtr")},
    **{name: name for name in ("Single", "Double", "String", "Object")},
    "System___Canon": "__Canon",
}
"""Types of System that are written without assembly and namespace."""
_BEHIND: Final = {"Pointer": "*", "ByRef": "&"}
_FRAMEWORK: Final = ("System", "Microsoft")
_NAMESPACES: Final = (*_FRAMEWORK, "Internal", "Interop")
_NESTED: Final = (
    (r"___c__DisplayClass(\d+)_(\d+)_(\d+)", r"+<>c__DisplayClass\1_\2`\3"),
    (r"___c__DisplayClass(\d+)_(\d+)", r"+<>c__DisplayClass\1_\2"),
    (r"___c__(\d+)_(\d+)", r"+<>c__\1`\2"),
    (r"___c__(\d+)", r"+<>c__\1"),
    (r"___c", r"+<>c"),
    (r"___(ComObject|Finalizer)", r".__\1"),
    (r"___([^\W_]\w*?)_b__(\d+(?:_\d+)?)_d", r"+<<\1>b__\2>d"),
    (r"__([^\W_]\w*?)_d__(\d+)", r"+<\1>d__\2"),
)
"""Types that the C# compiler makes for a method, as they are written below that one's type, and as it names them; and
those of the runtime that begin with `_`."""
_MADE_METHOD: Final = (
    (r"_(c?ctor)(?:_\d+)?", r".\1"),
    (r"_Main__", r"<Main>$"),
    (r"_(\w*?)_b__(\d+(?:_\d+)?)", r"<\1>b__\2"),
    (r"_(\w*?)_g__(\w+?)_(\d+(?:_\d+)?)", r"<\1>g__\2|\3"),
)
_ANY_NESTED: Final = "|".join(re.sub(r"\((?!\?)", "(?:", pattern) for pattern, _ in _NESTED)
_PATH: Final = re.compile(rf"([^\W_]+(?:_[^\W_]+)*)((?:{_ANY_NESTED})*)(?=__|$)")
_MODULE: Final = re.compile(r"(\w+?)__Module___(.+)")
_OVERLOAD: Final = re.compile(r"_\d+$")


@frozen
class AotName:
    """A method or, without a `name`, a type; `assembly` is empty where it cannot be told from the namespace."""

    assembly: str
    type: str
    name: str = ""

    @property
    def display(self) -> str:
        """As C# would write it; parameters are not in a symbol."""
        return display_name(self.type, self.name, "")


def aot_method(symbol: str, program: str = "") -> AotName | None:
    """The method of a symbol in the file `program`; None for what is no method, or not named as known.

    >>> aot_method("S_P_CoreLib_System_Collections_Generic_List_1<Int32>__Add").display
    'System.Collections.Generic.List<int>.Add'
    """
    if len(symbol) > _LONGEST:
        return None
    if of_module := _MODULE.fullmatch(symbol):
        return AotName(of_module[1].replace("_", "."), "<Module>", of_module[2])
    owner, end = _owner(symbol, 0, program, 0) or (None, 0)
    method = symbol[end + 2 :]
    if owner is None or not symbol.startswith("__", end) or not method:
        return None
    method = method.partition("<")[0]
    for pattern, name in _MADE_METHOD:
        if matched := re.fullmatch(pattern, method):
            method = matched.expand(name)
            break
    else:
        if owner.assembly.startswith(_FRAMEWORK):
            # Overloads are numbered; no method of the framework ends so by itself.
            method = _OVERLOAD.sub("", method)
    return AotName(owner.assembly, owner.type, method)


def aot_type(symbol: str, program: str = "") -> str | None:
    """The type of a symbol, as allocation events write it elsewhere; None for another symbol.

    >>> aot_type("_ZTV14__Array<UInt8>")
    'System.Byte[]'
    """
    text = symbol.removeprefix(TYPE).lstrip("0123456789")
    if not symbol.startswith(TYPE) or not text or symbol == TYPE + text or len(text) > _LONGEST:
        return None
    return _type(text.removeprefix("Boxed_"), program, 0) or text


def _type(text: str, program: str, depth: int) -> str | None:
    """A whole text as a type in the spelling of reflection."""
    if text in _PRIMITIVE:
        return f"System.{_PRIMITIVE[text]}"
    if depth > DEPTH:
        return None
    head, _, inner = text.partition("<")
    if head == "__Array" and inner.endswith(">"):
        element = _type(inner[:-1], program, depth + 1)
        return None if element is None else f"{element}[]"
    for word, mark in _BEHIND.items():
        if text.endswith(f"<{word}>"):
            pointed = _type(text.removesuffix(f"<{word}>"), program, depth + 1)
            return None if pointed is None else pointed + mark
    owner = _owner(text, 0, program, depth)
    return owner[0].type if owner and owner[1] == len(text) else None


def _owner(text: str, start: int, program: str, depth: int) -> tuple[AotName, int] | None:
    """The type that a text begins with, and where it ends."""
    owner_match = _PATH.match(text.partition("<")[0])
    if owner_match is None:
        return None
    end = owner_match.end()
    arguments: list[str] = []
    if text.startswith("<", end):
        close = closing(text, end)
        given = _arguments(text[end + 1 : close], program, depth + 1) if close > 0 else None
        if given is None:
            return None
        arguments, end = given, close + 1
    primitive = _PRIMITIVE.get(owner_match[1])
    assembly, path = ("", ["System", primitive]) if primitive else _assembly(owner_match[1].split("_"), program)
    if not path:
        return None
    name = _joined(path, len(arguments), assembly.startswith(_FRAMEWORK)) + _nested(owner_match[2])
    return AotName(assembly, f"{name}[{','.join(arguments)}]" if arguments else name), end


def _nested(text: str) -> str:
    """What `_ANY_NESTED` matched, any number of times."""
    for pattern, name in _NESTED:
        if matched := re.match(pattern, text):
            return matched.expand(name) + _nested(text[matched.end() :])
    return ""


def _assembly(pieces: list[str], program: str) -> tuple[str, list[str]]:
    """The assembly, if it is known where its name ends, and the rest."""
    if pieces[:2] == ["S", "P"] and len(pieces) > 3:
        pieces = ["System", "Private", *pieces[2:]]
        least = 3
    else:
        least = 1
        of_program = re.split(r"\W|_", program)
        if program and pieces[: len(of_program)] == of_program:
            return program, pieces[len(of_program) :]
    for end in range(least, len(pieces)):
        again = pieces[end : 2 * end] == pieces[:end] and len(pieces) > 2 * end
        if again or (pieces[0] in _FRAMEWORK and pieces[end] in _NAMESPACES):
            return ".".join(pieces[:end]), pieces[end:]
    return "", pieces


def _joined(path: list[str], arguments: int, framework: bool) -> str:
    """Names with dots between them; in a generic type, numbers count arguments, and what follows is nested in it."""
    text, separator = path[0], "."
    for piece in path[1:]:
        if piece.isdecimal() and (framework or int(piece) <= arguments):
            text, separator = f"{text}`{piece}", "+"
        else:
            # No name begins with a digit.
            text, separator = f"{text}{'_' if piece[0].isdecimal() else separator}{piece}", "."
    return text


def _arguments(text: str, program: str, depth: int) -> list[str] | None:
    """The arguments of a generic type; None if one of them is not written as known."""
    pieces: list[str] = []
    start = depth_here = at = 0
    while at < len(text):
        depth_here += (text[at] == "<") - (text[at] == ">")
        if not depth_here and text.startswith("__", at) and at > start:
            pieces.append(text[start:at])
            start = at = at + 2
        else:
            at += 1
    pieces.append(text[start:])
    whole: list[str] = []
    for piece, after in zip(pieces, [*pieces[1:], ""], strict=True):
        # Of `System.__Canon` and of types that the C# compiler made.
        rest = piece.isdecimal() or (piece[:1] == "_" != piece[1:2]) or (piece.endswith("_d") and after.isdecimal())
        if whole and (rest or piece.startswith("DisplayClass")):
            whole[-1] += f"__{piece}"
        else:
            whole.append(piece)
    arguments = [_type(each, program, depth) for each in whole]
    return None if None in arguments else [each for each in arguments if each]
