"""Programs that were compiled ahead of time: which file names them, and what the compiler's names mean."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import clrevents
from built_elf import Function, elf
from clrevents.events import ModuleLoad_V3
from clrevents.symbols.aot_names import aot_method, aot_type
from clrevents.testing.builder import TraceBuilder

BUILD = "ab" * 20
START = 0x55AA_0000_0000
NOBODY = UUID(int=0)
SEGMENT = (0x1000, 0x2000, 0x1000, 0x1000)
WORK = (
    Function("rh_work", 0x2100, 0x40, info=2),
    Function("app_Shop_Cart__Pay", 0x2100, 0x40, info=2),
    Function("_ZTV13app_Shop_Cart", 0x2800, 0, info=0),
    Function("other", 0x2800, 0, info=0),
)


def loaded(*addresses: int, build: str = BUILD.upper(), path: str = "/opt/app ") -> bytes:
    """A program, and a sample of it."""
    trace = TraceBuilder("nettrace4")
    # It was loaded where its first page is, which is not page 0 in the file.
    trace.event(ModuleLoad_V3(START, 0, 2, 0, "", path, 0, NOBODY, 0, "NULL", NOBODY, 0, "", build))
    return trace.sample(*(START - 0x2000 + address for address in addresses)).build()


def frames(symbols: Path, *addresses: int, build: str = BUILD, path: str = "/opt/app ") -> list[str]:
    with clrevents.open(loaded(*addresses, build=build, path=path), symbols=symbols) as trace:
        (event,) = trace.events("ThreadSample")
        each = [trace.methods.at(START - 0x2000 + address) for address in addresses]
        # Few addresses are looked up one by one, many at once.
        assert [str(frame) for frame in each] == [str(frame) for frame in event.frames]
        assert each[0].reason or str(each[0]) in {row.name for row in trace.report("top").methods}
        return [frame.reason or str(frame) for frame in event.frames]


@pytest.mark.full
def test_which_file_names_a_program(tmp_path: Path) -> None:
    pytest.importorskip("elftools")
    file = tmp_path / "any.name"
    file.write_bytes(elf(BUILD, *WORK, segment=SEGMENT))
    inside = (0x2100, 0x213F, 0x2140, 0x3000)
    named = ["Shop.Cart.Pay", "Shop.Cart.Pay", "native", "not managed"]
    assert frames(file, *inside) == named
    assert frames(tmp_path, 0x2100) == ["no symbols"]
    (tmp_path / "app.dbg").write_bytes(file.read_bytes())
    assert frames(tmp_path, *inside) == named
    assert frames(tmp_path, 0x2100, build="cd" * 20) == ["another build"]
    assert frames(tmp_path, 0x2100, build="none") == ["another build"]
    assert frames(tmp_path, 0x2100, path="/../..") == ["no symbols"]
    with clrevents.open(loaded(0x2100), symbols=file) as trace:
        assert trace.methods.type_names([START + 0x800, START + 0x801, START + 0x100, 0, 1 << 63]) == [
            *("Shop.Cart", None, None, None, None)
        ]


@pytest.mark.full
@given(st.data())
def test_whatever_is_in_the_file_there_is_a_name_or_a_reason(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    pytest.importorskip("elftools")
    bytes_ = bytearray(elf(BUILD, *WORK, segment=SEGMENT, wide=data.draw(st.booleans())))
    for place in data.draw(st.lists(st.integers(0, len(bytes_) - 1), max_size=6)):
        bytes_[place] = data.draw(st.integers(0, 255))
    file = tmp_path_factory.getbasetemp() / "mutated.dbg"
    file.write_bytes(bytes(bytes_))
    with clrevents.open(loaded(0x2100, 0x2180), symbols=file) as trace:
        (event,) = trace.events("ThreadSample")
        for frame in event.frames:
            assert frame.name or frame.reason in ("another build", "unusable symbols", "native", "not managed")
        (name,) = trace.methods.type_names([START + 0x800])
        assert name is None or isinstance(name, str)


# Symbols of a program of .NET 10, and of other programs of the same compiler.
METHODS = {
    "aotshop_Program__Main": "Program.Main",
    "aotshop__Module___StartupCodeMain": "<Module>.StartupCodeMain",
    "aotshop_Program__Charge_d__21__MoveNext": "Program.Charge(...)",
    "aotshop_Program___c__DisplayClass22_0___Main_b__1": "Program.Main.lambda_1",
    "aotshop_ShopSource___OnEventCommand_b__6_0": "ShopSource.OnEventCommand.lambda_6_0",
    "aotshop_Program___Main__": "Program.Main",
    "aotshop_Program___Main_g__Pay_0_1": "Program.Main.Pay",
    "aotshop_Batch_2__Run_3": "Batch_2.Run_3",
    "aotshop_ShopSource___cctor": "ShopSource..cctor",
    "S_P_CoreLib_System_Threading_Thread___ctor_2": "System.Threading.Thread..ctor",
    "S_P_CoreLib_System_Threading_Tasks_Task__Wait_4": "System.Threading.Tasks.Task.Wait",
    "S_P_CoreLib_System_Runtime___Finalizer__ProcessFinalizers": "System.Runtime.__Finalizer.ProcessFinalizers",
    "S_P_CoreLib_System_Collections_Generic_Dictionary_2_KeyCollection_Enumerator<UInt64__System___Canon>__MoveNext": (
        "System.Collections.Generic.Dictionary<ulong, __Canon>.KeyCollection.Enumerator.MoveNext"
    ),
    "System_Console_System_IO_ConsoleStream__Read": "System.IO.ConsoleStream.Read",
    "Shop_Data_Shop_Data_Store__Load": "Shop.Data.Store.Load",
    "Other_Lib_Store__Load": "Other.Lib.Store.Load",
}
TYPES = {
    "_ZTV14__Array<UInt8>": "System.Byte[]",
    "_ZTV6String": "System.String",
    "_ZTV35Boxed_aotshop_Program__Charge_d__21": "Program+<Charge>d__21",
    "_ZTV129S_P_CoreLib_System_Runtime_CompilerServices_AsyncTaskMethodBuilder_1_AsyncStateMachineBox_1"
    "<Int32__aotshop_Program__Charge_d__21>": "System.Runtime.CompilerServices.AsyncTaskMethodBuilder`1"
    "+AsyncStateMachineBox`1[System.Int32,Program+<Charge>d__21]",
    "_ZTV78Boxed_S_P_CoreLib_System_Collections_Generic_List_1_Enumerator<__Array<UInt8>>": (
        "System.Collections.Generic.List`1+Enumerator[System.Byte[]]"
    ),
    # Written otherwise than known.
    "_ZTV19__MDArray<String,2>": "__MDArray<String,2>",
    "_ZTV": None,
    "other": None,
}


def test_what_the_compilers_names_mean() -> None:
    found = {name: aot_method(name, "aotshop") for name in METHODS}
    assert {name: known and known.display for name, known in found.items()} == METHODS
    assemblies = [known.assembly for known in found.values() if known]
    assert assemblies[-5:] == ["System.Private.CoreLib"] * 2 + ["System.Console", "Shop.Data", ""]
    assert {name: aot_type(name, "aotshop") for name in TYPES} == TYPES
    for name in ("RhpNewFast", "_ZN9AllocHeap4InitEv", "__managed__Main", "unbox", "a__", "aotshop__Private__Run", ""):
        assert aot_method(name, "aotshop") is None, name


@given(st.text(st.sampled_from("aS_<>019dbcg")), st.sampled_from(["", "a", "S_a"]))
@example("a" + "_1<a" * 300, "")
@example("a" + "__a" * 340 + "_d__", "")
@example("a<" * 500, "")
def test_any_symbol_has_a_meaning_or_none(symbol: str, program: str) -> None:
    known = aot_method(symbol, program)
    assert known is None or (known.name and known.display)
    assert aot_type(f"_ZTV1{symbol}", program) != ""


def test_a_process_has_one_program() -> None:
    trace = TraceBuilder("nettrace4")
    for n in range(3):
        module = (START + (n << 20), 0, 2, 0, "", f"/opt/app{n}", 0, NOBODY, 0, "NULL", NOBODY, 0, "", BUILD)
        trace.event(ModuleLoad_V3(*module))
    with clrevents.open(trace.sample(START + (2 << 20) + 1).build()) as opened:
        assert len(opened.methods.images) == 1
        assert (opened.methods.advice or "").endswith("(app0.dbg)")
