"""Names in Linux recordings: those of perf maps in the form of the runtime's events, and never beyond their code.

The other recording of the same run is the truth; so are the symbol tables of libraries, where this machine has them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import clrevents
from clrevents.schema.runtime_flags import OptimizationTier
from clrevents.symbols.native import Symbol, parse_symbol
from project_files import SHARED, without_shared

LINUX = SHARED / "linux"
needs_shared = pytest.mark.skipif(not LINUX.is_dir(), reason=without_shared("linux recordings"))
PAIRS = ("async", "convoy", "cpu", "exceptions", "garbage", "starvation", "states")


def pair(name: str) -> tuple[Path, Path]:
    return LINUX / f"net8-{name}-55.linux.nettrace.gz", LINUX / f"net8-{name}-55.eventpipe.nettrace.gz"


@needs_shared
@pytest.mark.parametrize("name", [*PAIRS[:2], *(pytest.param(n, marks=pytest.mark.full) for n in PAIRS[2:])])
def test_methods_have_the_names_sizes_and_tiers_of_the_runtimes_events(name: str) -> None:
    linux, pipe = pair(name)
    with clrevents.open(linux) as trace, clrevents.open(pipe) as other:
        theirs: dict[int, list[tuple[object, ...]]] = {}
        for method in other.methods:
            told = (method.display, method.namespace, method.name, method.signature, method.module, method.size)
            theirs.setdefault(method.address, []).append((*told, method.tier))
        mine = [method for method in trace.methods if not method.native and method.address in theirs]
        assert len(mine) >= 6
        for method in mine:
            told = (method.display, method.namespace, method.name, method.signature, method.module, method.size)
            assert (*told, method.tier) in theirs[method.address]


@needs_shared
def test_what_the_end_of_a_symbol_is() -> None:
    """Jitted code ends before it, by the sizes in the other recording; of libraries it is the last byte.

    The libc of these recordings is Debian's 2.36-9+deb12u10: `readelf` says 321, 156 and 70 bytes.
    """
    linux, _ = pair("states")
    with clrevents.open(linux) as trace:
        sizes = {method.name: method.size for method in trace.methods if method.native}
        assert sizes["__libc_start_main_impl"] == 321
        assert sizes["do_futex"] == 0x250
        ends = {(method.address, method.size) for method in trace.methods}
        for event in trace.events("ProcessSymbol"):
            record = event.payload
            jitted = record.Name.startswith("stub<") or " [" in record.Name
            assert (record.StartAddress, record.EndAddress - record.StartAddress + (not jitted)) in ends


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "int32 [Scenarios] Scenarios::Main(string[])[QuickJitted]",
            ("Scenarios", "Scenarios", "Main", "int32  (class System.String[])", "QuickJitted"),
        ),
        (
            "class [System.Private.CoreLib]System.Task`1<int32> [Shop] Shop::Pay(object)[OptimizedTier1]",
            ("Shop", "Shop", "Pay", "class System.Task`1<int32>  (class System.Object)", "OptimizedTier1"),
        ),
        (
            "instance void [System.Private.CoreLib] Builder`1[System.Int32]::Start(!!0&)[InstrumentedTierOptimized]",
            (
                *("System.Private.CoreLib", "Builder`1[System.Int32]", "Start", "instance generic void  (!!0&)"),
                "OptimizedTier1Instrumented",
            ),
        ),
        (
            "int32 [Shop] Shop::Sum(valuetype [Shop]Pair`2<string,int32[0...,0...]>)[InstrumentedTier]",
            (
                *("Shop", "Shop", "Sum", "int32  (value class Pair`2<class System.String,int32[0...,0...]>)"),
                "QuickJittedInstrumented",
            ),
        ),
    ],
)
def test_perf_map_names_are_parsed(text: str, wanted: tuple[str, str, str, str, str]) -> None:
    *parts, tier = wanted
    assert parse_symbol(text, "/memfd:doublemapper (deleted)") == Symbol(*parts, OptimizationTier[tier])  # type: ignore[arg-type]


def test_other_names_stay_whole() -> None:
    assert parse_symbol("stub<598> Allocate<PRECODE_STUB>", "/memfd:doublemapper (deleted)").module == ""
    assert parse_symbol("operator[] [x]", "/usr/lib/libx.so") == Symbol("libx.so", "", "operator[] [x]", "")
    assert parse_symbol(f"{' [a]' * 20_000}]", "").namespace == ""
