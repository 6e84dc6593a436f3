"""Whether an installation works: its engine, records, columns, the command and its files, with numbers that are known.

    python tools/smoke.py compiled|interpreted

Reads traces of `fixtures/`, but takes clrevents from where it is installed and refuses the checkout's own. Needs only
what `pip install clrevents` brings. Knows a few numbers; what decoding must give is for the tests.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from importlib import metadata, resources
from pathlib import Path
from typing import Any, Final

import clrevents
from clrevents.analysis.reports.heap.heap_graph import KERNEL

ROOT: Final = Path(__file__).resolve().parents[1]
SAMPLE: Final = ROOT / "fixtures" / "net8-sample.nettrace.gz"
STUBS: Final = ROOT / "fixtures" / "net8-method-interop.nettrace.gz"
HEAP: Final = ROOT / "fixtures" / "net8-heap.nettrace.gz"
SAMPLES: Final = ROOT / "fixtures" / "net8-netperf3.netperf.gz"
KERNELS: Final = (
    "decode/kernels/scan",
    "decode/kernels/walk",
    "decode/kernels/slots",
    "analysis/reports/heap/dominate",
)

ALL_TYPES: Final = (
    "AllTypes_V0(b=True, u8=1, i8=-2, i16=-3, u16=4, i32=-5, u32=6, i64=-7, u64=8, f=1.25, d=-2.5, c='Z', "
    "g=UUID('00112233-4455-6677-8899-aabbccddeeff'), t=FileTime(133536816000000000, 2024-02-29T12:00:00.0000000Z), "
    "s='naïve ✓ 😀')"
)
CALLED: Final = ["strlen", "atoi", "strtod", "qsort", "Invoke", "gmtime_r", "dlsym", "Invoke", "_Collect"]


def same(what: str, found: object, expected: object) -> None:
    """Ends the run unless both are equal."""
    if found != expected:
        sys.exit(f"smoke: {what} is {found!r}, not {expected!r}")


def installed() -> Path:
    """The folder of the package, which must not be the checkout's."""
    folder = Path(clrevents.__file__).resolve().parent
    if folder.is_relative_to(ROOT / "src"):
        sys.exit(f"smoke: {folder} belongs to the checkout and is not installed")
    return folder


def files(folder: Path) -> None:
    """What an installation holds besides modules, and what it must not hold."""
    package = resources.files(clrevents)
    pages = ("export/flame/flame.html", "export/page/page.html")
    for name in ("py.typed", *pages, *(f"{k}.{e}" for k in KERNELS for e in ("py", "pxd"))):
        same(f"whether {name} is installed", package.joinpath(name).is_file(), True)
    same("what was left of compiling", sorted(p.name for p in folder.rglob("*.c")), [])
    held = {str(path).partition("/")[0] for path in metadata.files("clrevents") or () if path.parts[0] != ".."}
    same("the folders that were installed", {h for h in held if not h.endswith(".dist-info")}, {"clrevents"})
    same("the version", metadata.version("clrevents"), clrevents.__version__)


def records() -> None:
    with clrevents.open(SAMPLE) as trace:
        counts = {(key.provider, key.name): count for key, count in trace.event_counts().items()}
        same("the number of events", sum(trace.event_counts().values()), 1696)
        same("the number of RequestStart", counts["Clrevents-Sample", "RequestStart"], 100)
        same("the number of threads", len(trace.threads), 3)
        same("the first AllTypes", repr(next(trace.events("AllTypes")).payload), ALL_TYPES)
    with clrevents.open(STUBS) as trace:
        called: list[Any] = [event.payload for event in trace.events("ILStubGenerated")]
        same("what was called", [payload.ManagedInteropMethodName for payload in called], CALLED)


def columns() -> None:
    with clrevents.open(STUBS) as trace:
        table = trace.table("MethodLoadVerbose")
        same("the number of methods", len(table), 125)
        same("their size", int(table["MethodSize"].sum()), 24086)


def heap() -> None:
    with clrevents.open(HEAP) as trace:
        report = trace.report("heap")
        same("what a static field retains", report.roots[0].retained_bytes, 716_796)


def command() -> None:
    """The script that was installed, as a user calls it."""
    found = shutil.which("clrevents", path=sysconfig.get_path("scripts"))
    if found is None:
        sys.exit(f"smoke: no command in {sysconfig.get_path('scripts')}")

    def run(*arguments: str) -> str:
        environment = os.environ | {"PYTHONUTF8": "1"}
        done = subprocess.run([found, *arguments], capture_output=True, encoding="utf-8", env=environment, check=False)
        same(f"how clrevents {arguments[0]} ended ({done.stderr.strip()})", done.returncode, 0)
        return done.stdout

    same("what --version says", run("--version").split()[-1], clrevents.__version__)
    same("the requests as JSON", len(run("events", str(SAMPLE), "RequestStart", "--json").splitlines()), 100)
    same(
        "the events that info counts",
        json.loads(run("info", str(SAMPLE), "--json"))["metrics"]["events"]["value"],
        1696,
    )
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "flame.html")
        run("flame", str(SAMPLES), "-o", str(page))
        same("whether a method is in the flame graph", "Program.Hot" in page.read_text(encoding="utf-8"), True)


def main(engine: str) -> None:
    """All of it, on the engine that must be there."""
    folder = installed()
    same("engine()", clrevents.engine(), engine)
    same("whether the heap's kernel is compiled", KERNEL.compiled, engine == "compiled")
    files(folder)
    records()
    columns()
    heap()
    command()
    version = ".".join(map(str, sys.version_info[:3]))
    print(f"clrevents {clrevents.__version__} ({engine}) works on {sys.implementation.name} {version}, {sys.platform}")


if __name__ == "__main__":
    if sys.argv[1:] not in (["compiled"], ["interpreted"]):
        sys.exit(__doc__)
    main(sys.argv[1])
