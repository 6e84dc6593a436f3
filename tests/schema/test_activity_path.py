"""Paths in GUIDs of activities: what runtimes pack, the odd cases of the packing, and what is no path."""

from __future__ import annotations

import struct
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

import clrevents
from clrevents.schema.activity_path import PathDigits, activity_path, cannot_lie_in, path_digits
from clrevents.testing.builder import TraceBuilder

PROCESS = 4796


def packed(numbers: bytes, process: int = PROCESS) -> UUID:
    """A GUID with these bytes of numbers, and the checksum of the process."""
    data = numbers.ljust(12, b"\0")
    last = (sum(struct.unpack("<3I", data)) + 0x599D99AD & 0xFFFFFFFF) ^ process
    return UUID(bytes_le=data + struct.pack("<I", last))


@pytest.mark.parametrize(
    ("guid", "process", "path"),
    [
        # What .NET 10 wrote, and what TraceEvent made of it.
        ("0000701c-0000-0000-0000-0000751b9e59", PROCESS, "/#4796/1/112/"),
        ("0020821c-0000-0000-0000-00007509be59", PROCESS, "/#4796/1/130/2/"),
        ("22220d1c-0000-0000-0000-00009ad5bf7b", 29523, "/#29523/1/13/2/2/2/2/"),
    ],
)
def test_paths_of_runtimes(guid: str, process: int, path: str) -> None:
    assert activity_path(UUID(guid), process) == path
    assert activity_path(UUID(guid)) == path, "the process is in it"
    assert activity_path(UUID(guid), process + 1) is None, "another process did not write it"


@pytest.mark.parametrize(
    ("numbers", "path"),
    [
        ("", "/#4796/"),
        ("1a", "/#4796/1/10/"),
        # A length in the low nibble: the bytes follow.
        ("1c10", "/#4796/1/16/"),
        ("1d2c01", "/#4796/1/300/"),
        ("1f78563412", "/#4796/1/305419896/"),
        # In the high nibble: the low one holds the upper bits.
        ("11c12c", "/#4796/1/1/300/"),
        ("11e2030405", "/#4796/1/1/33883139/"),
        # .NET 10 leaves out the byte after a number on a byte boundary.
        ("1c93c0", "/#4796/1/147/0/"),
        # Too long: from here on, numbers are of another ancestor.
        ("11bc2a", "/#4796/1/1$42/"),
        ("1111111111111111111bc12a", "/#4796/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1$298/"),
        # Bytes that are not there.
        ("11111111111111111111c1ff", "/#4796" + "/1" * 20 + "/511/"),
        ("1111111111111111111111d1", "/#4796" + "/1" * 22 + "/"),
        ("1111111111111111111111" + "1b", "/#4796" + "/1" * 23 + "/"),
    ],
)
def test_numbers(numbers: str, path: str) -> None:
    assert activity_path(packed(bytes.fromhex(numbers)), PROCESS) == path


def test_codes_that_nobody_writes_are_no_path() -> None:
    assert activity_path(packed(bytes.fromhex("1b50")), PROCESS) is None


def test_old_frameworks_leave_the_process_out() -> None:
    guid = packed(bytes.fromhex("1c10"), 0)
    assert activity_path(guid, PROCESS) == activity_path(guid) == "//1/16/"


def test_other_ids_are_no_paths() -> None:
    assert activity_path(UUID(int=0)) is None
    assert activity_path(UUID("00112233-4455-6677-8899-aabbccddeeff"), PROCESS) is None


@given(st.binary(min_size=16, max_size=16))
def test_any_bytes_are_read(data: bytes) -> None:
    guid = UUID(bytes=data)
    mine = activity_path(guid, PROCESS)
    assert mine is None or mine == activity_path(guid)


@given(st.binary(min_size=12, max_size=12), st.integers(0, (1 << 20) - 1))
def test_any_numbers_are_read(numbers: bytes, process: int) -> None:
    guid = packed(numbers, process)
    found = activity_path(guid, process)
    assert found == activity_path(guid)
    assert found is None or found.startswith(f"/#{process}/" if process else "//")


def test_events_and_tables_have_it() -> None:
    guid = packed(bytes.fromhex("1c10"), 1234)
    b = TraceBuilder(process_id=1234)
    b.raw("My-App", 1, name="Plain")
    b.activity(guid.bytes_le).raw("My-App", 1, name="Plain").activity(bytes(15) + b"\1").raw("My-App", 1, name="Plain")
    with clrevents.open(b.build()) as trace:
        assert [event.activity_path for event in trace.events()] == [None, "/#1234/1/16/", None]
        table = trace.table("Plain", columns=["activity_path", "activity_id"])
        assert table.column("activity_path").tolist() == [None, "/#1234/1/16/", None]
        assert table.column("activity_id").tolist()[1] == guid.bytes


@pytest.mark.parametrize(
    ("numbers", "digits"),
    [
        ("1a", ("1", "1a")),
        ("1c10", ("1", "1c10")),
        ("1d2c01", ("1", "1d2c01")),
        ("11c12c20", ("11c12c", "11c12c2")),
        ("1c93c0", ("1c93", "1c93c000")),
        # Nothing tells what made it: no numbers, a path that was too long, and a child behind a spurious zero.
        ("", None),
        ("11bc2a", None),
        ("13c12c001", None),
    ],
)
def test_digits_of_what_made_an_activity(numbers: str, digits: tuple[str, str] | None) -> None:
    found = path_digits(packed(bytes.fromhex(numbers.ljust(24, "0"))))
    assert found == (None if digits is None else PathDigits(*digits))


@pytest.mark.parametrize(
    ("inner", "outer", "cannot"),
    [
        ("1212", "12", False),
        ("121", "13", True),
        ("12", "121", True),
        # Both faults of the packing: a spurious zero before the children, a lost byte that children fill.
        ("13c12c001", "13c12c", False),
        ("1c93c010", "1c93c0", False),
        # A number that ends in zero.
        ("1d00011", "1d0001", False),
        # Hangs off some ancestor.
        ("11bc2a", "12", False),
    ],
)
def test_a_path_may_show_that_an_activity_is_not_inside_another(inner: str, outer: str, cannot: bool) -> None:
    inside, around = (packed(bytes.fromhex(digits.ljust(24, "0"))) for digits in (inner, outer))
    assert cannot_lie_in(inside, around) is cannot
    assert not cannot_lie_in(inside, UUID(int=5))
    assert not cannot_lie_in(UUID(int=5), around)
