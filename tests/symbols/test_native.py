"""Mapped files and symbols of NetTrace 6 traces, of several processes."""

from __future__ import annotations

import pytest

import clrevents
from clrevents.analysis.shared.samples.samples import read_samples
from clrevents.events import ProcessCreate_V0, ProcessExit_V0, ProcessMapping_V0, ProcessSymbol_V0
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


@pytest.mark.parametrize(("file", "beyond"), [("/lib/libc.so.6", 0x10901), ("/memfd:doublemapper", 0x10900)])
def test_the_end_of_a_symbol_is_its_last_byte_but_for_jitted_code(file: str, beyond: int) -> None:
    methods = clrevents.open(mapped(ProcessSymbol_V0(1, 1, 0x10100, 0x10900, "malloc"), file=file).build()).methods
    assert methods[0].size == beyond - 0x10100
    assert methods.at(beyond - 1, process_id=1234).name == "malloc"
    assert methods.at(beyond, process_id=1234).reason == "native"


def test_names_hold_from_their_own_time_on_and_until_the_id_is_another_ones() -> None:
    ms = 1_000_000
    trace = mapped(ProcessSymbol_V0(1, 1, 0x10100, 0x101FF, "old")).at(50 * ms)
    trace.event(ProcessMapping_V0(2, 0x30000, 0x3FFFF, 0, "/lib/b.so", 0))
    trace.event(ProcessSymbol_V0(2, 2, 0x30100, 0x301FF, "late"))
    trace.at(60 * ms).event(ProcessCreate_V0(0, "other program", "")).at(70 * ms).event(ProcessExit_V0())
    trace.at(80 * ms).event(ProcessCreate_V0(0, "reused", "")).at(90 * ms)
    trace.event(ProcessMapping_V0(3, 0x10000, 0x1FFFF, 0, "/lib/c.so", 0)).sample(0x10100)
    methods = clrevents.open(trace.build()).methods

    def at(address: int, time: int) -> str:
        frame = methods.at(address, time * ms, 1234)
        return frame.name or frame.module or str(frame.reason)

    assert [at(0x10100, time) for time in (0, 55, 65, 75, 85, 95)] == ["old"] * 4 + ["unloaded", "c.so"]
    assert [at(0x30100, time) for time in (0, 55, 65, 75, 85)] == ["not loaded yet"] + ["late"] * 3 + ["unloaded"]


@pytest.mark.parametrize("text", ["", " [", "a [b] c", "a [b] c[", "[x] y]", "void [m] N.T::M(int32)[", "::(["])
def test_any_symbol_has_parts(text: str) -> None:
    assert isinstance(parse_symbol(text, "/x/lib.so"), Symbol)


def test_stubs_of_the_runtime_are_told_by_where_they_are() -> None:
    trace = TraceBuilder("nettrace6")
    for number, start, end, path in (
        *(
            (1, 0x10000, 0x13FFF, "/memfd:doublemapper (deleted)"),
            (2, 0x18000, 0x1BFFF, "/memfd:doublemapper (deleted)"),
        ),
        # Not at such a place, of another size, of another file; and one that grew from or to that size.
        *((3, 0x24000, 0x27FFF, "/memfd:doublemapper"), (4, 0x30000, 0x30FFF, "/memfd:doublemapper")),
        *((5, 0x40000, 0x43FFF, "/lib/a.so"), (6, 0x50000, 0x50FFF, "/memfd:doublemapper")),
        *((7, 0x50000, 0x53FFF, "/memfd:doublemapper"), (8, 0x60000, 0x63FFF, "/memfd:doublemapper")),
        (9, 0x60000, 0x64FFF, "/memfd:doublemapper"),
    ):
        trace.event(ProcessMapping_V0(number, start, end, 0, path, 0))
    trace.event(ProcessSymbol_V0(1, 1, 0x10100, 0x10118, "stub<1> PRECODE_STUB"))
    addresses = (0x10000, 0x10100, 0x1BFFF, 0x1C000, 0x24000, 0x30000, 0x40000, 0x50000, 0x60000)
    opened = clrevents.open(trace.sample(*addresses).build())
    (event,) = opened.events("ThreadSample")
    expected = ["runtime stub", "stub<1> PRECODE_STUB", "runtime stub", "no rundown", *["native"] * 5]
    assert [frame.reason or frame.name for frame in event.frames] == expected
    assert (event.frames[0].module, str(event.frames[0])) == ("", "[unresolved 0x10000]")
    frames = {frame.name: frame.kind for frame in read_samples(opened, event="ThreadSample").frames}
    assert frames["[runtime stub]"] == "native"


def test_replaced_code_is_not_called_by_what_it_replaced() -> None:
    file = "/memfd:doublemapper (deleted)"
    code = (
        *((0x10100, "App::Burn(int32)[OptimizedTier1OSR]"), (0x10200, "App::Burn(int32)[QuickJitted]")),
        *((0x10300, "App::Main()[QuickJitted]"), (0x10400, "App::Once()[QuickJitted]")),
    )
    symbols = [ProcessSymbol_V0(n, 1, at, at + 0x40, f"void [App] {text}") for n, (at, text) in enumerate(code)]
    trace = mapped(*symbols, ProcessSymbol_V0(9, 1, 0x10500, 0x10540, "stub<1> PRECODE_STUB"), file=file)
    trace.event(ProcessMapping_V0(2, 0x50000, 0x5FFFF, 0, "/lib/libc.so.6", 0))
    native = 0x50100
    for stack in (
        *((0x10110, 0x10210, 0x10310, native), (0x10110, 0x10510, native), (native, 0x10110, 0x10210, 0x10310, native)),
        # Another caller, code that replaced nothing, and a stack that the runtime itself has walked.
        *(
            (0x10110, 0x10410, native),
            (0x10210, 0x10210, native),
            (0x10410, 0x10510, native),
            (0x10110, 0x10210, 0x10310),
        ),
        # It calls itself; and one stack's outermost frame has nothing to do with the next stack.
        *((0x10120, 0x10110, native), (native, 0x10110), (0x10210, native)),
    ):
        trace.sample(*stack)
    samples = read_samples(clrevents.open(trace.build()), event="ThreadSample")
    stacks = [
        [samples.frames[place].name for place in samples.frame_ids(stack)] for stack in samples.stack.tolist()[1:]
    ]
    burn, main, skipped, libc = "App.Burn(int)", "App.Main()", "[skipped caller]", "[unresolved in libc.so.6]"
    assert stacks == [
        *([burn, skipped, main, libc], [burn, skipped, libc], [libc, burn, skipped, main, libc]),
        *(
            [burn, "App.Once()", libc],
            [burn, burn, libc],
            ["App.Once()", "stub<1> PRECODE_STUB", libc],
            [burn, burn, main],
        ),
        *([burn, burn, libc], [libc, burn], [burn, libc]),
    ]
    assert samples.nameless == 3
