"""A recording of a Linux machine and an EventPipe trace with as many samples and stacks: `clrevents top` on both.

    python benchmarks/machine.py [--samples 1000000] [--stacks 50000] [--regions 10] [--keep FOLDER]

Every region has all stacks again, under new ids, as after a sequence point. The recording's stacks have frames of the
kernel, of a library and of jitted code, named by symbols, and every sample has the recorder's label; the trace has the
same stacks with other addresses, all of methods. Seconds are the processor's, the least of three.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from run import whole

from clrevents.encode.nettrace4 import NetTrace4Writer
from clrevents.encode.nettrace6 import NetTrace6Writer
from clrevents.encode.values import Choices, EventRecord, Label, MetadataRecord, ThreadRow, TraceHeader
from clrevents.events import DCEndComplete_V1, MethodDCEndVerbose_V1, MethodFlags, ProcessMapping_V0, ProcessSymbol_V0
from clrevents.reference import codec
from clrevents.schema.codes import Forget, HeaderFlag, LabelKind, TypeCode
from clrevents.schema.dynamic import FieldDescription

THREADS: Final = 16
DEPTH: Final = 24
METHODS: Final = 2_000
PERIOD: Final = 1_000_000
BLOCK: Final = 20_000
PROCESS: Final = 4711
FILES: Final = {
    "vmlinux": 0xFFFF_FFFF_8100_0000,
    "/lib/libc.so.6": 0x7F00_0000_0000,
    "/memfd:doublemapper": 0x7E00_0000_0000,
}
HEADER: Final = TraceHeader(process_id=PROCESS, processors=2, sampling_interval_ns=PERIOD)


def stacks(number: int, bases: list[int]) -> list[tuple[int, ...]]:
    """Different stacks: a third of the frames of each base, in this order, innermost first."""
    drawn = random.Random(38)
    part = DEPTH // len(bases)
    each = METHODS // len(bases)
    found: dict[tuple[int, ...], None] = {}
    while len(found) < number:
        frames = [base + 256 * drawn.randrange(each) + 16 for base in bases for _ in range(part)]
        found[tuple(frames)] = None
    return list(found)


def record(value: Any) -> bytes:
    made: bytes = codec(type(value), 8).build(value)
    return made


def events(writer: Any, kind: int, payload: bytes, number: int, first: int, most: int, label: int) -> None:
    """Samples in blocks; their stacks are all the region's, in turn."""
    for start in range(first, first + number, BLOCK):
        writer.events(
            [
                EventRecord(kind, at * PERIOD // 2, at % THREADS + 1, payload, stack_id=at % most + 1, label_id=label)
                for at in range(start, min(start + BLOCK, first + number))
            ],
            # As the recorder does: the list of labels with every event, although it is the same.
            Choices(force=HeaderFlag.LABELS if label else HeaderFlag.NONE),
        )


def recording(path: Path, samples: int, number: int, regions: int) -> None:
    """What the Linux recorder writes."""
    with path.open("wb") as file:
        writer = NetTrace6Writer(file, HEADER)
        count = FieldDescription("Value", TypeCode.VARUINT)
        system = "Universal.System"
        writer.metadata(
            [
                MetadataRecord(1, "Universal.Events", 1, 0, "cpu", fields=(count,)),
                MetadataRecord(2, system, 3, 0, "ProcessMapping"),
                MetadataRecord(3, system, 4, 0, "ProcessSymbol"),
            ]
        )
        rows = [ThreadRow(1 + place, PROCESS + place, PROCESS) for place in range(THREADS)]
        writer.threads(rows)
        told = []
        for mapping, (name, base) in enumerate(FILES.items(), 1):
            told.append(EventRecord(2, 0, 1, record(ProcessMapping_V0(mapping, base, base + (1 << 20), 0, name, 0))))
            for place in range(METHODS // len(FILES)):
                start, number_of = base + 256 * place, f"{place}"
                text = f"void [App] App.Type::Method{number_of}()[QuickJitted]" if "memfd" in name else f"f{number_of}"
                told.append(EventRecord(3, 0, 1, record(ProcessSymbol_V0(place, mapping, start, start + 255, text))))
        writer.events(told)
        held = stacks(number, list(FILES.values()))
        for region in range(regions):
            part = samples // regions
            writer.stacks(1, held)
            writer.labels(1, [[Label(LabelKind.TEXT, "Expected actual values", "Error")]])
            events(writer, 1, b"\1", part, region * part, number, 1)
            writer.sequence_point((region + 1) * part * PERIOD, flags=Forget.NOTHING)
        writer.end()


def trace(path: Path, samples: int, number: int, regions: int) -> None:
    """What EventPipe writes."""
    runtime, sampler = "Microsoft-Windows-DotNETRuntimeRundown", "Microsoft-DotNETCore-SampleProfiler"
    with path.open("wb") as file:
        writer = NetTrace4Writer(file, HEADER)
        writer.metadata(
            [
                MetadataRecord(1, sampler, 0),
                MetadataRecord(2, runtime, 144, 1),
                MetadataRecord(3, runtime, 146, 1),
            ]
        )
        base = 0x7E00_0000_0000
        held = stacks(number, [base + (place << 24) for place in range(len(FILES))])
        for region in range(regions):
            part = samples // regions
            writer.stacks(1, held)
            events(writer, 1, (2).to_bytes(4, "little"), part, region * part, number, 0)
            writer.sequence_point((region + 1) * part * PERIOD)
        flags = MethodFlags(MethodFlags.Jitted)
        told = [
            MethodDCEndVerbose_V1(start, 1, start, 256, 0x06000001, flags, "App.Type", f"Method{place}", "void  ()", 0)
            for file_number in range(len(FILES))
            for place in range(METHODS // len(FILES))
            for start in [base + (file_number << 24) + 256 * place]
        ]
        time = samples * PERIOD
        writer.events([EventRecord(2, time, 1, record(method)) for method in told])
        writer.events([EventRecord(3, time, 1, record(DCEndComplete_V1(0)))])
        writer.end()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--stacks", type=int, default=50_000)
    parser.add_argument("--regions", type=int, default=10)
    parser.add_argument("--keep", type=Path, help="a folder for both files")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = options.keep or Path(name)
        took = {}
        for make in (trace, recording):
            path = folder / f"{make.__name__}.nettrace"
            if not path.exists():
                make(path, options.samples, options.stacks, options.regions)
            runs = [whole([sys.executable, "-m", "clrevents", "top", str(path)]) for _ in range(3)]
            assert not any(code for _, _, code in runs)
            took[make.__name__] = min(seconds for seconds, _, _ in runs)
            print(f"{make.__name__:<10}{path.stat().st_size / 1e6:8.0f} MB{took[make.__name__]:8.2f} s", flush=True)
        print(f"recording / trace {took['recording'] / took['trace']:.2f}")


if __name__ == "__main__":
    main()
