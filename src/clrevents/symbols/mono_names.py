"""Types and signatures as Mono writes them → as CoreCLR does, so that one module knows what C# calls them.

Mono separates nested types by `/`, puts arguments into angle brackets, has no blank before parameters, and names the
shared parameter of reference types after its own (`T_REF`), where CoreCLR has `System.__Canon`. Pure functions of text.
"""

from __future__ import annotations

from typing import Final

from clrevents.symbols.typenames import DEPTH, split_top

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
