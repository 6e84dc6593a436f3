"""Mapped files and symbols of NetTrace 6 traces, of several processes."""

from __future__ import annotations

import numpy as np
import pytest

import clrevents
from clrevents.events import ProcessMapping_V0, ProcessSymbol_V0
from clrevents.symbols.native import Symbol, parse_symbol
from clrevents.testing.builder import TraceBuilder


def mapped(*symbols: ProcessSymbol_V0, file: str = "/usr/lib/libc.so.6") -> TraceBuilder:
    trace = TraceBuilder("nettrace6").event(ProcessMapping_V0(1, 0x10000, 0x20000, 0, file, 0))
    for symbol in symbols:
        trace.event(symbol)
    return trace.sample(0x10100, 0x10900, 0x30000)


def test_symbols_and_files() -> None:
    trace = clrevents.open(mapped(ProcessSymbol_V0(1, 1, 0x10100, 0x10200, "malloc")).build())
    (event,) = trace.events("ThreadSample")
    malloc, inside, outside = event.frames
    assert (str(malloc), malloc.module, malloc.tier, malloc.reason) == ("malloc", "libc.so.6", None, None)
    assert (str(inside), inside.reason) == ("[unresolved 0x10900 in libc.so.6]", "native")
    assert outside.reason == "no rundown"
    assert trace.methods.advice is None
    assert trace.methods[0].native


def test_jitted_code_has_the_names_of_a_perf_map() -> None:
    text = "instance void [System.Private.CoreLib] System.Collections.Generic.List`1[System.Int32]::Add(!0)[Optimized]"
    symbol = ProcessSymbol_V0(1, 1, 0x10100, 0x10200, text)
    (event,) = clrevents.open(mapped(symbol, file="/memfd:doublemapper (deleted)").build()).events("ThreadSample")
    frame = event.frames[0]
    assert str(frame) == "System.Collections.Generic.List<int>.Add(int)"
    assert (frame.module, str(frame.tier), frame.name) == ("System.Private.CoreLib", "Optimized", "Add")
    assert frame.signature == "instance void  (!0)"


@pytest.mark.parametrize(
    ("start", "end"), [(0, (1 << 64) - 1), (0x10100, 0x10100), (0x10200, 0x10100)], ids=["all", "empty", "backward"]
)
def test_symbols_that_cannot_be(start: int, end: int) -> None:
    trace = clrevents.open(mapped(ProcessSymbol_V0(1, 1, start, end, "startup_64")).build())
    (event,) = trace.events("ThreadSample")
    assert [f.reason for f in event.frames] == ["native", "native", "no rundown"]


def test_a_later_mapping_takes_the_place() -> None:
    trace = TraceBuilder("nettrace6").at(1000).event(ProcessMapping_V0(1, 0x10000, 0x20000, 0, "a.so", 0))
    trace.at(2000).event(ProcessMapping_V0(2, 0x10000, 0x20000, 0, "b.so", 0)).at(3000).sample(0x10000)
    (event,) = clrevents.open(trace.build()).events("ThreadSample")
    assert event.frames[0].module == "b.so"


@pytest.mark.parametrize("text", ["", " [", "a [b] c", "a [b] c[", "[x] y]", "void [m] N.T::M(int32)[", "::(["])
def test_any_symbol_has_parts(text: str) -> None:
    assert isinstance(parse_symbol(text, "/x/lib.so"), Symbol)


def test_processes_have_addresses_of_their_own() -> None:
    trace = clrevents.open(mapped(ProcessSymbol_V0(1, 1, 0x10100, 0x10200, "malloc")).build())
    methods = trace.methods
    assert methods.at(0x10100, process_id=1234).name == "malloc"
    assert methods.at(0x10100, process_id=99).reason == "no rundown"
    index, _ = methods.find(np.array([0x10100], dtype=np.uint64))
    assert index.tolist() == [0]
