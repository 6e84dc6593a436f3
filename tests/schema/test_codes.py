"""The kernels' plain numbers are the codes of the schema, and every type code has a meaning.

Kernels may not import an enum. tests/test_format_docs.py compares the codes with the tables of the format page.
"""

from __future__ import annotations

import ast
from typing import Any

import pytest

from clrevents.decode.kernels.header_scan import PADDING, HeaderScanner
from clrevents.schema.codes import ARRAYS, HeaderFlag, LabelKind, MetadataItem, ObjectTag, TypeCode
from clrevents.schema.dynamic import ClassCache, FieldDescription, Undescribable, Variant
from project_files import SOURCE

NO_MARKS: list[list[int]] = []
NOTHING = (0, 0, 0, 7, 0, (0, 0, 0), NO_MARKS)


def scanned(data: bytes, labels: bool = False) -> tuple[Any, ...]:
    """Metadata id, thread, stack id, tick, size, (capture thread, sequence, processor) and marks of one event."""
    (columns,), status, stop = HeaderScanner().scan(data + bytes(PADDING), 0, len(data), 0, labels)
    assert (status, stop, len(columns)) == ("done", len(data), 1)
    one = (columns.metadata_ids, columns.thread_ids, columns.stack_ids, columns.ticks, columns.sizes)
    return (*(int(column[0]) for column in one), tuple(columns.runs[0].tolist()[1:]), columns.marks.tolist())


@pytest.mark.parametrize(
    ("flag", "labels", "content", "expected"),
    [
        (HeaderFlag.NONE, False, b"\7", NOTHING),
        # An event with a metadata id counts, so its number is 1.
        (HeaderFlag.METADATA, False, b"\5\7", (5, 0, 0, 7, 0, (0, 1, 0), NO_MARKS)),
        (HeaderFlag.CAPTURE, False, b"\2\3\4\7", (0, 0, 0, 7, 0, (3, 3, 4), NO_MARKS)),
        (HeaderFlag.THREAD, False, b"\5\7", (0, 5, 0, 7, 0, (0, 0, 0), NO_MARKS)),
        (HeaderFlag.STACK, False, b"\5\7", (0, 0, 5, 7, 0, (0, 0, 0), NO_MARKS)),
        (HeaderFlag.ACTIVITY, False, b"\7" + bytes(16), (*NOTHING[:-1], [[0, 0x10, 2]])),
        (HeaderFlag.RELATED, False, b"\7" + bytes(16), (*NOTHING[:-1], [[0, 0x20, 2]])),
        (HeaderFlag.LABELS, True, b"\7\5", (*NOTHING[:-1], [[0, 0x10, 5]])),
        (HeaderFlag.SORTED, False, b"\7", NOTHING),
        (HeaderFlag.SIZE, False, b"\7\2ab", (0, 0, 0, 7, 2, (0, 0, 0), NO_MARKS)),
    ],
)
def test_a_header_flag_announces_its_part(
    flag: HeaderFlag, labels: bool, content: bytes, expected: tuple[Any, ...]
) -> None:
    assert scanned(bytes((flag,)) + content, labels) == expected


def test_the_scan_kernel_tests_these_flags_and_no_others() -> None:
    tree = ast.parse((SOURCE / "decode" / "kernels" / "scan.py").read_text(encoding="utf-8"))
    tested = {
        node.right.value
        for node in ast.walk(tree)
        if isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.BitAnd)
        and isinstance(node.left, ast.Name)
        and node.left.id == "flags"
        and isinstance(node.right, ast.Constant)
    }
    assert tested == {*map(int, HeaderFlag), int(HeaderFlag.ACTIVITY | HeaderFlag.RELATED)}


def test_parts_are_all_flags_but_sorted() -> None:
    assert HeaderFlag.PARTS == 0xFF & ~HeaderFlag.SORTED
    assert HeaderFlag.LABELS is HeaderFlag.ACTIVITY


@pytest.mark.parametrize("code", sorted({*TypeCode} - {TypeCode.NULL}))
def test_every_type_code_has_a_meaning(code: TypeCode) -> None:
    """A number from a file means the same as the member."""
    element = FieldDescription("", 9) if code in ARRAYS else None
    described = FieldDescription("Field", int(code), element, (FieldDescription("Inner", 9),), 2)
    layout = ClassCache(10).layout((described,), Variant())
    named = FieldDescription("Field", code, element, (FieldDescription("Inner", 9),), 2)
    assert layout is not None
    assert [field.name for field in layout.fields] == ["Field"]
    again = ClassCache(10).layout((named,), Variant())
    assert again is not None
    assert again.fields[0].type.name == layout.fields[0].type.name


@pytest.mark.parametrize("code", [0, TypeCode.NULL, 27])
def test_other_type_codes_have_none(code: int) -> None:
    with pytest.raises(Undescribable, match=rf"type code {int(code)}, which is undefined"):
        ClassCache(10).layout((FieldDescription("Field", code),), Variant())


def test_messages_show_numbers() -> None:
    """Where a message has a code in it, it shows as the number that the file has."""
    assert f"{TypeCode.ARRAY} {LabelKind.TEXT} {MetadataItem.LEVEL} {ObjectTag.END}" == "19 5 8 6"
