"""Display names of methods: the runtime's namespace, name and signature → one line as C# would write it.

Compiler-generated methods are named after the method they come from: state machines of async methods and iterators,
lambdas, local functions. What Mono writes is first spelled as CoreCLR does. Return types are left out, parameter
types have no namespace. Pure functions of text that never raise; the caller keeps the raw text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from clrevents.symbols.typenames import CACHED, DEPTH, LONGEST, made_up, split_top, substitute, type_name

_WORDS: Final = {
    "void": "void",
    "bool": "bool",
    "char": "wchar",
    "sbyte": "int8",
    "byte": "unsigned int8",
    "int16": "int16",
    "uint16": "unsigned int16",
    "int": "int32",
    "uint": "unsigned int32",
    "long": "int64",
    "ulong": "unsigned int64",
    "intptr": "int",
    "uintptr": "unsigned int",
    "single": "float32",
    "double": "float64",
    "string": "class System.String",
    "object": "class System.Object",
    "typedbyref": "refany",
}
"""What Mono calls the types that have a code of their own."""
_SHARED: Final = "_REF"
_CANON: Final = "System.__Canon"


def is_mono(signature: str) -> bool:
    """Whether Mono wrote a signature: `void(int,string)`."""
    before = signature.partition("(")[0]
    return signature.endswith(")") and before[-1:] not in ("", " ") and "  (" not in signature


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
    "bool": "bool",
    "wchar": "char",
    "int8": "sbyte",
    "int16": "short",
    "int32": "int",
    "int64": "long",
    "unsigned int8": "byte",
    "unsigned int16": "ushort",
    "unsigned int32": "uint",
    "unsigned int64": "ulong",
    "int": "nint",
    "unsigned int": "nuint",
    "native int": "nint",
    "native unsigned int": "nuint",
    "float32": "float",
    "float64": "double",
    "void": "void",
    "refany": "TypedReference",
    "...": "__arglist",
    "class System.Object": "object",
    "class System.String": "string",
    "value class System.Decimal": "decimal",
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
    if is_mono(signature):
        namespace, signature = coreclr_owner(namespace), coreclr_signature(signature)
    owner = type_name(namespace)
    if owner.machine and name == "MoveNext":
        # Its parameters are those of the original method, which the event does not name.
        return f"{owner.text()}(...)"
    origin = made_up(name)
    shown = origin.name if origin else name
    if owner.closure and origin is None:
        shown = f"{owner.closure}.{name}"
    elif owner.closure_of and name.startswith("<>"):
        shown = f"{owner.closure_of}.{shown}"
    parameters = _top_parameters(signature)
    generics = ""
    if signature.startswith(("generic ", "instance generic ")):
        found = [int(n) for bangs, n in _PARAMETER.findall(signature) if len(bangs) == 2]
        count = min(max(found) + 1, 64) if found else 0
        generics = f"<{', '.join(f'M{i}' for i in range(count))}>"
    text = "" if parameters is None else f"({', '.join(_display(p, owner.arguments, 0) for p in parameters)})"
    return f"{owner.text()}.{shown}{generics}{text}" if namespace else f"{shown}{generics}{text}"


def nameless_method(module: str, numbers: Mapping[str, int]) -> str:
    """A method without a name, by its module and token, or their ids: no two methods are alike, but in other code."""
    where = module or f"module {numbers['ModuleID']:#x}"
    token = numbers["MethodToken"]
    return f"{where}!{token:#010x}" if token else f"{where}!method {numbers['MethodID']:#x}"


def display_signature(text: str, arguments: tuple[str, ...] = ()) -> str:
    """One type of a signature as C# writes it; `arguments` replace `!0`, `!1` and so on."""
    return text if len(text) > LONGEST else _display(text, arguments, 0)


def _arguments(signature: str) -> str:
    """The parenthesized parameters; empty if the text has none."""
    at = signature.find("(") if is_mono(signature) else signature.find("  (") + 2
    return signature[at:] if at > 1 else ""


def _top_parameters(signature: str) -> list[str] | None:
    text = _arguments(signature)
    if not text.endswith(")"):
        return None
    inner = text[1:-1]
    return [p.strip() for p in split_top(inner, ",")] if inner.strip() else []


@lru_cache(CACHED)
def _display(text: str, arguments: tuple[str, ...], depth: int) -> str:
    if depth > DEPTH:
        return text
    prefix = "ref "
    while found := _MODIFIER.match(text):
        if found[1] == _IN:
            prefix = "in "
        text = text[found.end() :]
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
    if found := _PARAMETER.fullmatch(text):
        return substitute(int(found[2]), arguments if found[1] == "!" else (), "T" if found[1] == "!" else "M")
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
