"""Names from symbol files: which files are used, and for which addresses. Needs pyelftools."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import clrevents
from built_elf import Function, elf
from clrevents.cli import root
from clrevents.events import ProcessMapping_V0, ProcessMappingMetadata_V0, ProcessSymbol_V0
from clrevents.symbols.elf import FileSymbols, MappedFile, SymbolFolders
from clrevents.symbols.frame import ANOTHER_BUILD, NATIVE, NO_BUILD_ID, UNUSABLE
from clrevents.testing.builder import TraceBuilder
from project_files import FIXTURES

pytestmark = pytest.mark.full
pytest.importorskip("elftools")

LINUX = FIXTURES / "net8-linux.nettrace.gz"
CORECLR = "7c3796010ffdb407df859c3884e92bcad0cf7925"
BUILD = "ab" * 20
PATH = "/opt/app/libapp.so"
METADATA = f'{{"type": "ELF","debug_link": "libapp.so.dbg","build_id": "{BUILD}"}}'
WORK = Function("work", 0x2100, 0x100)


def recorded(*addresses: int, metadata: str = METADATA, path: str = PATH) -> bytes:
    """A library, mapped at 0x710000 from the second page on, and one sample."""
    trace = TraceBuilder("nettrace6").event(ProcessMappingMetadata_V0(7, metadata, ""))
    trace.event(ProcessMapping_V0(1, 0x710000, 0x710FFF, 0x1000, path, 7))
    trace.event(ProcessSymbol_V0(1, 1, 0x710800, 0x7108FF, "recorded"))
    return trace.sample(*addresses).build()


def frames(folder: Path, *addresses: int, metadata: str = METADATA, path: str = PATH) -> list[str | None]:
    with clrevents.open(recorded(*addresses, metadata=metadata, path=path), symbols=folder) as trace:
        (event,) = trace.events("ThreadSample")
        return [frame.name or frame.reason for frame in event.frames]


def write(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


# The runtime's library in a real recording: its program header, as `readelf -l` shows it, and without bytes, as in the
# file that `objcopy --only-keep-debug` makes of it.
@pytest.mark.parametrize(
    "segment", [(0x1A8020, 0x1A9020, 0x4B67E0, 0x4B67E0), (0x20, 0x1A9020, 0, 0x4B67E0)], ids=["library", "debug"]
)
def test_a_real_recording(tmp_path: Path, segment: tuple[int, int, int, int]) -> None:
    write(tmp_path / "libcoreclr.so.dbg", elf(CORECLR, Function("coreclr", 0x1A9020, 0x4B67E0), segment=segment))
    with clrevents.open(LINUX, symbols=tmp_path) as trace, clrevents.open(LINUX) as without:
        named, before = trace.report("top"), without.report("top")
        (row,) = [row for row in named.methods if row.name == "coreclr"]
        (old,) = [row for row in before.methods if row.name == "[unresolved in libcoreclr.so]"]
        assert (row.exclusive_ns, row.kind, row.module) == (old.exclusive_ns, "native", "libcoreclr.so")
        assert row.exclusive_ns == 111_000_000
        # Exported functions have their names in the recording.
        assert {row.name for row in before.methods} - {row.name for row in named.methods} == {old.name}


def test_another_build_is_not_used(tmp_path: Path) -> None:
    write(tmp_path / "libcoreclr.so", elf("7d" + CORECLR[2:], Function("coreclr", 0x1A9020, 0x4B67E0)))
    with clrevents.open(LINUX, symbols=[tmp_path]) as trace:
        (row,) = [row for row in trace.report("top").methods if "libcoreclr.so" in row.name]
        assert (row.exclusive_ns, row.name) == (111_000_000, "[unresolved in libcoreclr.so: another build]")


@pytest.mark.parametrize(
    "where",
    [
        *("opt/app/libapp.so", "libapp.so", "opt/app/libapp.so.dbg", "libapp.so.dbg", ".debug/libapp.so.dbg"),
        *(f".build-id/ab/{'ab' * 19}.debug", "opt/app/libapp.so.debug", "opt/app/.debug/libapp.so.dbg"),
    ],
)
def test_places(tmp_path: Path, where: str) -> None:
    write(tmp_path / where, elf(BUILD, WORK))
    assert frames(tmp_path, 0x710100) == ["work"]


def test_not_in_places(tmp_path: Path) -> None:
    write(tmp_path / "elsewhere" / "libapp.so", elf(BUILD, WORK))
    assert frames(tmp_path, 0x710100) == ["native"]


def test_names_end_with_their_symbols(tmp_path: Path) -> None:
    functions = (
        *(
            WORK,
            Function("inner", 0x2140, 0x10),
            Function("nothing", 0x2300, 0),
            Function("used", 0x2400, 0x10, section=0),
        ),
        *(Function("data", 0x2500, 0x10, info=0x11), Function("static", 0x2600, 8, info=2)),
        *(Function("local", 0x2700, 8, info=2), Function("weak", 0x2700, 8, info=0x22), Function("all", 0x2700, 8)),
        # Where the recording has a name, that is the name.
        *(Function("other", 0x2800, 0x100), Function("chosen", 0x2900, 1, info=0x1A), Function("end", 0x2FFF, 1)),
    )
    write(tmp_path / "libapp.so", elf(BUILD, *functions))
    expected = {
        **{0x7100FF: "native", 0x710100: "work", 0x71013F: "work", 0x710140: "inner", 0x71014F: "inner"},
        **{0x710150: "work", 0x7101FF: "work", 0x710200: "native", 0x710300: "native", 0x710400: "native"},
        **{0x710500: "native", 0x710607: "static", 0x710608: "native", 0x710700: "all", 0x710800: "recorded"},
        **{0x710900: "chosen", 0x710901: "native", 0x710FFF: "end", 0x711000: "no rundown"},
    }
    assert dict(zip(expected, frames(tmp_path, *expected), strict=True)) == expected
    with clrevents.open(recorded(*expected), symbols=str(tmp_path)) as trace:
        # As arrays, the same; and only what was asked for is listed.
        assert len(trace.methods) == 1
        index, _ = trace.methods.find(np.array(list(expected), dtype=np.uint64))
        found = [trace.methods[i].name if i >= 0 else None for i in index.tolist()]
        assert found == [name if name not in ("native", "no rundown") else None for name in expected.values()]
        assert [method.name for method in trace.methods] == [
            *("recorded", "work", "inner", "static", "all", "chosen", "end")
        ]
        work = trace.methods[1]
        assert (work.address, work.size, work.native, work.process_id) == (0x710100, 0x100, True, 1234)


def test_symtab_before_dynsym_of_any_file(tmp_path: Path) -> None:
    write(tmp_path / "opt/app/libapp.so", elf(BUILD, dynamic=(Function("exported", 0x2000, 0x400),)))
    assert frames(tmp_path, 0x710100) == ["exported"]
    # The debug file has no bytes, and takes other pages than the mapping: the library says where its symbols are.
    write(tmp_path / "libapp.so.dbg", elf(BUILD, WORK, segment=(0, 0x2000, 0, 0x3000)))
    assert frames(tmp_path, 0x710100, 0x710300) == ["work", "native"]
    (tmp_path / "opt/app/libapp.so").unlink()
    assert frames(tmp_path, 0x710100) == ["unusable symbols"]


@pytest.mark.parametrize(("wide", "order"), [(False, "<"), (True, ">"), (False, ">")])
def test_other_processors(tmp_path: Path, wide: bool, order: str) -> None:
    write(tmp_path / "libapp.so", elf(BUILD, WORK, wide=wide, order=order))
    assert frames(tmp_path, 0x710100, 0x710200) == ["work", "native"]


def test_a_mapping_without_a_build_id_has_no_symbols(tmp_path: Path) -> None:
    write(tmp_path / "libapp.so", elf(BUILD, WORK))
    assert frames(tmp_path, 0x710100, metadata="") == ["no build id"]
    assert frames(tmp_path, 0x710100, metadata='{"type": "ELF"}') == ["no build id"]
    assert frames(tmp_path, 0x710100, metadata='{"type": "PE"}') == ["native"]
    assert frames(tmp_path, 0x710100, metadata="[" * 30_000) == ["no build id"]
    assert frames(tmp_path, 0x710100, metadata="", path="/opt/none.so") == ["native"]


@pytest.mark.parametrize(
    ("path", "link"),
    [
        ("/../libapp.so", ""),
        ("/opt/../../libapp.so", ""),
        ("/x.so", "../libapp.so"),
        ("/opt\0/libapp.so", "libapp.so"),
        ("/..", ".."),
        ("", "libapp.so"),
        ("/x.so", "y" * 10_000),
    ],
)
def test_texts_of_a_trace_lead_nowhere_else(tmp_path: Path, path: str, link: str) -> None:
    write(tmp_path / "libapp.so", elf(BUILD, WORK))
    (tmp_path / "symbols").mkdir()
    file = MappedFile(path, BUILD, link)
    assert SymbolFolders([str(tmp_path / "symbols")]).of(file) == NATIVE


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have no names here")
def test_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "libapp.so")
    (tmp_path / "libapp.so.dbg").mkdir()
    assert frames(tmp_path, 0x710100) == ["native"]


WRONG = {
    "no file": b"",
    "text": b"\x7fELF" * 30,
    "headers beyond the end": elf(BUILD, WORK, e_shoff=1 << 40),
    "too many sections": elf(BUILD, WORK, e_shnum=0xFFFF),
    "small headers": elf(BUILD, WORK, e_shentsize=1),
    "no sections": elf(BUILD, WORK, e_shnum=0),
    "a table beyond the end": elf(BUILD, WORK, symtab_offset=(1 << 64) - 24),
    "a large table": elf(BUILD, WORK, symtab_size=1 << 60),
    "names beyond the end": elf(BUILD, WORK, symtab_names_size=1 << 40),
    "names that are symbols": elf(BUILD, WORK, symtab_link=2),
    "names in no section": elf(BUILD, WORK, symtab_link=99),
    "a large note": elf(BUILD, WORK, note_size=1 << 50),
    "no symbols": elf(BUILD),
}


@pytest.mark.parametrize("name", WRONG)
def test_damaged_files(tmp_path: Path, name: str) -> None:
    write(tmp_path / "libapp.so", WRONG[name])
    # A file without sections does not tell its build.
    assert frames(tmp_path, 0x710100) == ["another build" if name == "no sections" else "unusable symbols"]


def test_only_so_much_is_read(tmp_path: Path) -> None:
    # A sparse file, in which a table of 1 GB is nothing but zeros.
    path = write(tmp_path / "libapp.so", elf(BUILD, WORK, symtab_size=1 << 30))
    os.truncate(path, 1 << 31)
    assert frames(tmp_path, 0x710100) == ["unusable symbols"]


def test_numbers_without_sense(tmp_path: Path) -> None:
    top = (1 << 64) - 1
    odd = (Function("wraps", top - 4, 100), Function("all", 0, top), Function("work", 0x2100, 0x100))
    write(tmp_path / "libapp.so", elf(BUILD, *odd, segment=(0x1000, top - 0xFF, top, top)))
    assert frames(tmp_path, 0x710000, 0x710100) == ["all", "all"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("symbols")


@given(st.data())
def test_whatever_is_in_a_file_its_symbols_can_be_asked_for_or_there_is_a_reason(
    folder: Path, data: st.DataObject
) -> None:
    wide = data.draw(st.booleans())
    bytes_ = bytearray(elf(BUILD, WORK, Function("more", 0x2300, 8), dynamic=(WORK,), wide=wide))
    for place in data.draw(st.lists(st.integers(0, len(bytes_) - 1), min_size=1, max_size=6)):
        bytes_[place] = data.draw(st.integers(0, 255))
    write(folder / "libapp.so", bytes(bytes_))
    found = SymbolFolders([str(folder)]).of(MappedFile(PATH, BUILD))
    if not isinstance(found, FileSymbols):
        assert found in (ANOTHER_BUILD, UNUSABLE)
        return
    asked = np.arange(0x710000, 0x711000, 64, dtype=np.uint64)
    symbol, start, _ = found.find(asked, 0x710000, 0x711000, 0x1000)
    for address, number, begin in zip(asked.tolist(), symbol.tolist(), start.tolist(), strict=True):
        if number >= 0:
            assert begin <= address < begin + int(found.table.sizes[number])
            assert isinstance(found.table.name(number), str)


def test_ways_to_ask(tmp_path: Path) -> None:
    segment = (0x1A8020, 0x1A9020, 0x4B67E0, 0x4B67E0)
    write(tmp_path / "s" / "libcoreclr.so", elf(CORECLR, Function("coreclr", 0x1A9020, 0x4B67E0), segment=segment))
    folder = str(tmp_path / "s")
    trace = clrevents.open(LINUX, symbols=folder)
    with pickle.loads(pickle.dumps(trace)) as again, trace:
        assert "coreclr" in {row.name for row in again.report("top").methods}
    with clrevents.open_many([LINUX], symbols=folder, jobs=1) as traces:
        assert "coreclr" in traces.report("top", tables=("methods",)).tables["methods"]["name"].tolist()
    out = tmp_path / "x.folded"
    for command in (
        ["top", str(LINUX), "--json", "--symbols", folder],
        ["flame", str(LINUX), "-o", str(out), "--symbols", folder],
        ["events", str(LINUX), "Universal.Events/cpu", "--stacks", "--symbols", folder],
        ["report", str(LINUX), "-o", str(tmp_path / "x.html"), "--symbols", folder],
        ["export", str(LINUX), "-o", str(tmp_path / "x.pftrace"), "--symbols", folder],
        ["query", str(LINUX), "select distinct method from frames", "--csv", "--symbols", folder],
    ):
        result = CliRunner().invoke(root, command)
        assert result.exit_code == 0, result.output
        made = [tmp_path / name for name in ("x.folded", "x.html", "x.pftrace") if str(tmp_path / name) in command]
        text = made[0].read_bytes() if made else result.stdout_bytes
        assert b"coreclr" in text.replace(b"libcoreclr", b""), command[0]


def test_what_is_no_folder(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nowhere is not a folder or a file"):
        clrevents.open(LINUX, symbols=tmp_path / "nowhere")
    assert CliRunner().invoke(root, ["top", str(LINUX), "--symbols", str(tmp_path / "nowhere")]).exit_code == 1
    result = CliRunner().invoke(root, ["export", str(LINUX), "-o", str(tmp_path / "f/"), "--symbols", str(tmp_path)])
    assert result.exit_code == 1
    assert "--symbols" in result.output


def test_no_build_id_is_a_reason_of_its_own(tmp_path: Path) -> None:
    write(tmp_path / "vmlinux", elf(BUILD, WORK))
    assert SymbolFolders([str(tmp_path)]).of(MappedFile("vmlinux")) == NO_BUILD_ID
