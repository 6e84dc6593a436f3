"""Names of types and methods as the runtime writes them → as C# writes them.

Types come in two spellings: that of reflection (``List`1+Enumerator[System.Int32]``), for declaring types, and that of
signatures (`value class System.Span`1<!0>&`). Compiler-generated methods are named after the method they come from;
what Mono writes is first spelled as CoreCLR does. Return types are left out, parameter types have no namespace. Pure
functions of text that never raise: what cannot be parsed is returned unchanged; the caller keeps the raw text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from clrevents._util.value_classes import frozen

DEPTH: Final = 40
"""Types nested deeper than this keep their raw text: no real one comes close, and hostile text must not recurse."""

LONGEST: Final = 8_192
"""Texts longer than this stay as they are."""

_PRIMITIVES: Final = (
    ("Boolean", "bool", "bool", "bool"),
    ("Byte", "byte", "unsigned int8", "byte"),
    ("SByte", "sbyte", "int8", "sbyte"),
    ("Char", "char", "wchar", "char"),
    ("Decimal", "decimal", "value class System.Decimal", ""),
    ("Double", "double", "float64", "double"),
    ("Single", "float", "float32", "single"),
    ("Int16", "short", "int16", "int16"),
    ("Int32", "int", "int32", "int"),
    ("Int64", "long", "int64", "long"),
    ("UInt16", "ushort", "unsigned int16", "uint16"),
    ("UInt32", "uint", "unsigned int32", "uint"),
    ("UInt64", "ulong", "unsigned int64", "ulong"),
    ("IntPtr", "nint", "int", "intptr"),
    ("UIntPtr", "nuint", "unsigned int", "uintptr"),
    ("Object", "object", "class System.Object", "object"),
    ("String", "string", "class System.String", "string"),
    ("Void", "void", "void", "void"),
)
"""Types of System, and what C#, signatures, and Mono's signatures call them."""
KEYWORDS: Final = {f"System.{name}": keyword for name, keyword, _, _ in _PRIMITIVES}
_LONGEST_MADE_UP: Final = 1024
CACHED: Final = 1 << 14
"""How many texts of each kind are remembered: a program has few types, and names each of them very often."""
_OPEN: Final = "[<("
_SHUT: Final = "]>)"
_MARKS: Final = re.compile(r"[][<>(),+]")
_BRACKET: Final = re.compile(r"[][<>()]")
_SQUARE: Final = re.compile(r"[][]")
_GENERATED: Final = re.compile(r"[][`+<$]")
"""What a type's name has that needs a closer look: nested, generic, or made by a compiler."""
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
        return ".".join((first, *self.parts[1:])) if len(self.parts) > 1 else first


@lru_cache(CACHED)
def type_name(text: str, depth: int = 0) -> TypeName:
    """A declaring type, as in method events: namespace, `+` between nested types, all arguments at the end."""
    if len(text) > LONGEST or depth > DEPTH:
        return TypeName((text,), ())
    if not _GENERATED.search(text):
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
    end = closing(name)
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
    if matched := _LAMBDA.fullmatch(rest):
        number = f"lambda_{matched[1].strip('_')}"
        if matched[1].startswith("Finally"):
            return MadeUp("part", "finally")
        return MadeUp("lambda", f"{source}.{number}" if source else number)
    if (matched := _LOCAL.fullmatch(rest)) and inner:
        return MadeUp("local", f"{source}.{matched[1]}")
    if rest == "$" and inner:
        return MadeUp("main", source)
    return None


def split_top(text: str, separator: str) -> list[str]:
    """Split at a comma or plus where no bracket is open; unmatched closing brackets are ignored."""
    if not _BRACKET.search(text):
        return text.split(separator)
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


def closing(text: str, start: int = 0) -> int:
    """Where the `<` at `start` is closed; -1 if nowhere."""
    open_ = 0
    for at in range(start, len(text)):
        open_ += (text[at] == "<") - (text[at] == ">")
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


_WORDS: Final = {mono: word for _, _, word, mono in _PRIMITIVES if mono} | {"typedbyref": "refany"}
"""What Mono calls the types that have a code of their own."""
_SHARED: Final = "_REF"
_CANON: Final = "System.__Canon"


def is_mono(signature: str) -> bool:
    """Whether Mono wrote a signature: `void(int,string)`."""
    # CoreCLR's, which most are, first.
    return "  (" not in signature and signature.endswith(")") and signature.partition("(")[0][-1:] not in ("", " ")


def coreclr_owner(text: str, depth: int = 0) -> str:
    """A declaring type or an argument of one: of ``List`1/Node<System.Int32>`` it is ``List`1+Node[System.Int32]``."""
    at = first_argument(text)
    if depth > DEPTH or at < 0:
        return _CANON if text.endswith(_SHARED) else text.replace("/", "+")
    inner = (coreclr_owner(each.strip(), depth + 1) for each in split_top(text[at + 1 : -1], ","))
    return f"{text[:at].replace('/', '+')}[{','.join(inner)}]"


def coreclr_signature(text: str) -> str:
    """A signature."""
    at = text.find("(")
    inner = text[at + 1 : -1]
    return f"{text[:at]}  ({','.join(_type(each.strip(), 0) for each in split_top(inner, ',')) if inner else ''})"


def _type(text: str, depth: int) -> str:
    base = text if text.endswith(">") else text.rstrip("&*[],")
    behind, at = text[len(base) :], first_argument(base)
    if depth > DEPTH or base in _WORDS:
        return _WORDS.get(base, base) + behind
    if at < 0:
        return f"class {_CANON if base.endswith(_SHARED) else base.replace('/', '+')}{behind}"
    inner = (_type(each.strip(), depth + 1) for each in split_top(base[at + 1 : -1], ","))
    return f"class {base[:at].replace('/', '+')}<{','.join(inner)}>{behind}"


def first_argument(text: str) -> int:
    """Where the arguments start: a `<` that does not start a name; -1 if there are none."""
    if not text.endswith(">"):
        return -1
    open_ = 0
    for at, char in enumerate(text):
        if char == "<":
            if not open_ and at and text[at - 1] not in ".+/<":
                return at
            open_ += 1
        elif char == ">":
            open_ = max(open_ - 1, 0)
    return -1


_SIMPLE: Final = {
    **{word: keyword for _, keyword, word, _ in _PRIMITIVES},
    "native int": "nint",
    "native unsigned int": "nuint",
    "refany": "TypedReference",
    "...": "__arglist",
}
_PARAMETER: Final = re.compile(r"(!{1,2})(\d{1,4})")
_MODIFIER: Final = re.compile(r"(?:required|optional)_modifier (\S+) ?")
_BOUNDS: Final = re.compile(r"[\d.,*]*")
_IN: Final = "System.Runtime.InteropServices.InAttribute"


def raw_name(namespace: str, name: str, signature: str) -> str:
    """`Namespace.Type.Method(class System.String,int32&)`: as the runtime writes it, without the return type."""
    return f"{namespace}.{name}{_arguments(signature)}" if namespace else f"{name}{_arguments(signature)}"


def display_name(namespace: str, name: str, signature: str) -> str:
    """As C# would write it: `System.Collections.Generic.List<int>.Add(int)`.

    >>> display_name("Program+<Work>d__3", "MoveNext", "instance void  ()")
    'Program.Work(...)'
    """
    if len(namespace) + len(name) + len(signature) > LONGEST:
        return raw_name(namespace, name, signature)
    method = method_name(namespace, name, signature)
    if is_mono(signature):
        namespace, signature = coreclr_owner(namespace), coreclr_signature(signature)
    owner = type_name(namespace)
    if owner.machine and name == "MoveNext":
        # Its parameters are those of the original method, which the event does not name.
        return f"{method}(...)"
    return f"{method}{_parameters(signature, owner.arguments if '!' in signature else ())}"


def method_name(namespace: str, name: str, signature: str) -> str:
    """The display name up to the parameters, which cost most: `System.Collections.Generic.List<int>.Add`."""
    if len(namespace) + len(name) + len(signature) > LONGEST:
        return raw_name(namespace, name, "")
    owner = type_name(coreclr_owner(namespace) if is_mono(signature) else namespace)
    if owner.machine and name == "MoveNext":
        return owner.text()
    origin = made_up(name)
    shown = origin.name if origin else name
    if owner.closure and origin is None:
        shown = f"{owner.closure}.{name}"
    elif owner.closure_of and name.startswith("<>"):
        shown = f"{owner.closure_of}.{shown}"
    if signature.startswith(("generic ", "instance generic ")):
        own = [int(number) for bangs, number in _PARAMETER.findall(signature) if len(bangs) == 2]
        shown += f"<{', '.join(f'M{i}' for i in range(min(max(own, default=-1) + 1, 64)))}>"
    return f"{owner.text()}.{shown}" if namespace else shown


@lru_cache(CACHED)
def _parameters(text: str, arguments: tuple[str, ...]) -> str:
    """The parameters of a method, of a type with these arguments: `(int, List<M0>)`; empty if the text has none."""
    shown = _arguments(text)
    if not shown.endswith(")"):
        return ""
    inner = [each.strip() for each in split_top(shown[1:-1], ",")] if shown[1:-1].strip() else []
    return f"({', '.join([_display(each, arguments if '!' in each else (), 0) for each in inner])})"


def nameless_method(module: str, numbers: Mapping[str, int]) -> str:
    """A method without a name, by its module and token, or their ids: no two methods are alike, but in other code."""
    where = module or f"module {numbers['ModuleID']:#x}"
    token = numbers["MethodToken"]
    return f"{where}!{token:#010x}" if token else f"{where}!method {numbers['MethodID']:#x}"


def _arguments(signature: str) -> str:
    """The parenthesized parameters; empty if the text has none."""
    at = signature.find("(") if is_mono(signature) else signature.find("  (") + 2
    return signature[at:] if at > 1 else ""


@lru_cache(CACHED)
def _display(text: str, arguments: tuple[str, ...], depth: int) -> str:
    if depth > DEPTH:
        return text
    prefix = "ref "
    while matched := _MODIFIER.match(text):
        if matched[1] == _IN:
            prefix = "in "
        text = text[matched.end() :]
    if not text:
        # Old runtimes print nothing after a modifier.
        return "?"
    known = _SIMPLE.get(text)
    if known is not None:
        return known
    if text.endswith("&"):
        return prefix + _display(text[:-1], arguments, depth + 1)
    if text.endswith("*"):
        return _display(text[:-1], arguments, depth + 1) + "*"
    if text.endswith("]"):
        at = text.rfind("[")
        inner = text[at + 1 : -1]
        if at > 0 and _BOUNDS.fullmatch(inner):
            return f"{_display(text[:at], arguments, depth + 1)}[{',' * inner.count(',')}]"
        return text
    if matched := _PARAMETER.fullmatch(text):
        return substitute(int(matched[2]), arguments if matched[1] == "!" else (), "T" if matched[1] == "!" else "M")
    if text.startswith("fnptr "):
        return _function_pointer(text, arguments, depth)
    if text.startswith("pMT: "):
        # A type that the runtime could not name: its address is meaningless to a reader.
        return "?"
    for word in ("value class ", "class ", "valuetype "):
        if text.startswith(word):
            return _named(text[len(word) :], arguments, depth)
    return text


def _named(text: str, arguments: tuple[str, ...], depth: int) -> str:
    """A class with its arguments in angle brackets; compiler-generated names start with such brackets too."""
    at = first_argument(text)
    name = text if at < 0 else text[:at]
    shown = type_name(name)
    base = ".".join(p.partition("<")[0] or p for p in shown.parts) if at >= 0 else shown.text()
    base = base.rpartition(".")[2] if "." in base and not shown.machine else base
    if at < 0:
        return base
    inner = [_display(p.strip(), arguments, depth + 1) for p in split_top(text[at + 1 : -1], ",")]
    return f"{base}<{', '.join(inner)}>"


def _function_pointer(text: str, arguments: tuple[str, ...], depth: int) -> str:
    """`fnptr void(int32)` → `delegate*<int, void>`."""
    body = text.removeprefix("fnptr ")
    at = body.find("(")
    if at < 0 or not body.endswith(")"):
        return text
    inner = [p.strip() for p in split_top(body[at + 1 : -1], ",")] if body[at + 1 : -1].strip() else []
    types = [_display(p, arguments, depth + 1) for p in (*inner, body[:at].strip())]
    return f"delegate*<{', '.join(types)}>"
