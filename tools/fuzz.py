"""Feeds mutated traces to the decoder and keeps the inputs that make it misbehave.

    python tools/fuzz.py --seconds 600 [--seeds DIR ...] [--keep DIR] [--engine atheris|own]
    python tools/fuzz.py --cost --seconds 3600 [--seeds DIR ...] [--keep DIR]

Coverage-guided if atheris is installed, plain mutation otherwise. Seeds are small traces in every container: the
hostile streams of the tests, vectors, and the first blocks of fixtures, also rewritten as other generations. An input
is written to the folder given by `--keep` if it raises anything but `TraceError`, hangs, or gives a result that depends
on how the bytes were split; give it a name and fix the bug. tests/test_corpus.py replays the kept inputs.

With `--cost` it looks for small inputs that take long or much memory instead, in every way of reading a trace
(tests/support/costs/cost_modes.py): it repeats and mixes parts of streams and goes on from the worst found.
`--seconds` are then processor time. It prints and keeps the worst five by time and by memory, and exits with 1 if one
of them takes more than an input of its size may (tests/support/costs/cost_runs.py). A finding becomes a small
generated case in tests/cost/.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import gzip
import hashlib
import os
import random
import signal
import struct
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cost_search import Found

ROOT = Path(__file__).resolve().parents[1]
LARGEST = 8 * 1024
PATIENCE = 20
INTERESTING = (0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 19, 20, 22, 24, 25, 48, 64, 127, 128, 129, 255)
NUMBERS = (0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x7FFFFFFFFFFFFFFF, 1 << 63, (1 << 64) - 1, 1 << 24, 1 << 16)


def seeds(folders: list[Path]) -> list[bytes]:
    """Small traces in full, and the first blocks of larger ones, with and without the last bytes appended."""
    found: dict[bytes, None] = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            name = path.name.removesuffix(".gz")
            if not name.endswith((".nettrace", ".netperf", ".bin")):
                continue
            data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            found.update(dict.fromkeys(_heads(data)))
    return list(found)


def own_seeds() -> list[bytes]:
    """Streams written by the tests: hostile ones, and a real trace in generations that no fixture has."""
    from generations import GENERATIONS, written
    from hostile import cases

    return [data for _, data in cases()] + [head for g in GENERATIONS for head in _heads(written(g))]


def _heads(data: bytes) -> list[bytes]:
    if len(data) <= LARGEST:
        return [data]
    return [data[:size] for size in (2000, 5000, LARGEST - 500)] + [data[: LARGEST - 1500] + data[-1000:]]


def mutate(data: bytearray, others: list[bytes], rng: random.Random) -> bytearray:
    """A few random changes, some of which take the structure of a trace into account."""
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 5, 9))):
        if not data:
            data = bytearray(rng.choice(others))
        rng.choice(MUTATIONS)(data, others, rng)
    del data[LARGEST:]
    return data


def _place(data: bytearray, rng: random.Random) -> int:
    return rng.randrange(len(data)) if data else 0


def _flip(data: bytearray, others: list[bytes], rng: random.Random) -> None:
    if data:
        data[_place(data, rng)] ^= 1 << rng.randrange(8)


def _byte(data: bytearray, others: list[bytes], rng: random.Random) -> None:
    if data:
        data[_place(data, rng)] = rng.choice(INTERESTING) if rng.random() < 0.7 else rng.randrange(256)


def _number(data: bytearray, others: list[bytes], rng: random.Random) -> None:
    width, code = rng.choice(((2, "H"), (4, "I"), (8, "Q")))
    at = _place(data, rng)
    if at + width <= len(data):
        value = rng.choice(NUMBERS) if rng.random() < 0.6 else rng.choice(INTERESTING)
        struct.pack_into("<" + code, data, at, value & ((1 << 8 * width) - 1))


def _add(data: bytearray, others: list[bytes], rng: random.Random) -> None:
    at = _place(data, rng)
    if at + 4 <= len(data):
        (value,) = struct.unpack_from("<I", data, at)
        struct.pack_into("<I", data, at, (value + rng.randrange(-16, 17)) & 0xFFFFFFFF)


def _varint(data: bytearray, others: list[bytes], rng: random.Random) -> None:
    at = _place(data, rng)
    data[at : at + rng.choice((0, 1, 2))] = bytes([0x80 | rng.randrange(128)] * rng.randrange(1, 12)) + b"\x01"


def _drop(data: bytearray, others: list[bytes], rng: random.Random) -> None:
    at = _place(data, rng)
    del data[at : at + rng.choice((1, 2, 4, 8, 24, 100, 1000))]


def _insert(data: bytearray, others: list[bytes], rng: random.Random) -> None:
    at = _place(data, rng)
    data[at:at] = rng.randbytes(rng.choice((1, 2, 4, 8, 60)))


def _zero(data: bytearray, others: list[bytes], rng: random.Random) -> None:
    at = _place(data, rng)
    size = min(rng.choice((2, 8, 40, 300)), len(data) - at)
    data[at : at + size] = bytes(size)


def _repeat(data: bytearray, others: list[bytes], rng: random.Random) -> None:
    at = _place(data, rng)
    piece = bytes(data[at : at + rng.choice((4, 30, 200, 1000))])
    to = _place(data, rng)
    data[to:to] = piece


def _splice(data: bytearray, others: list[bytes], rng: random.Random) -> None:
    other = rng.choice(others)
    at = rng.randrange(len(other)) if other else 0
    data[_place(data, rng) :] = other[at:]


def _cut(data: bytearray, others: list[bytes], rng: random.Random) -> None:
    del data[_place(data, rng) :]


def _resize_block(data: bytearray, others: list[bytes], rng: random.Random) -> None:
    """Change the content of one block and adjust its size."""
    blocks = list(find_blocks(data))
    if not blocks:
        return
    size_at, start, end, wide = rng.choice(blocks)
    content = bytearray(data[start:end])
    for _ in range(rng.choice((1, 2, 4))):
        rng.choice(MUTATIONS[:9])(content, others, rng)
    if wide:
        aligned = data[:start]
        rest = bytes(data[end:])
        struct.pack_into("<i", aligned, size_at, len(content))
        data[:] = aligned + content + rest
    else:
        kind = data[size_at + 3]
        data[size_at:end] = struct.pack("<I", (len(content) & 0xFFFFFF) | kind << 24) + content


def _swap_blocks(data: bytearray, others: list[bytes], rng: random.Random) -> None:
    """Replace the content of one block with that of another."""
    blocks = list(find_blocks(data))
    if len(blocks) < 2:
        return
    (_, start, end, _), (size_at, to, stop, wide) = rng.sample(blocks, 2)
    content = data[start:end]
    if wide:
        struct.pack_into("<i", data, size_at, len(content))
        data[to:stop] = content
    else:
        kind = data[rng.choice(blocks)[0] + 3]
        data[size_at:stop] = struct.pack("<I", (len(content) & 0xFFFFFF) | (kind & 0xF) << 24) + content


def find_blocks(data: bytearray) -> Iterator[tuple[int, int, int, bool]]:
    """(position of the size, start and end of the content, whether the size has four bytes) of each valid block."""
    if data[:8] == b"Nettrace" and data[8:12] == bytes(4):
        pos = 20
        while pos + 4 <= len(data):
            size = int.from_bytes(data[pos : pos + 3], "little")
            if pos + 4 + size > len(data):
                return
            yield pos, pos + 4, pos + 4 + size, False
            pos += 4 + size
        return
    pos = data.find(b"Block\x06")
    while pos >= 0:
        size_at = pos + 6
        if size_at + 4 > len(data):
            return
        size = int.from_bytes(data[size_at : size_at + 4], "little", signed=True)
        start = size_at + 4 + -(size_at + 4) % 4
        if size >= 0 and start + size <= len(data):
            yield size_at, start, start + size, True
        pos = data.find(b"Block\x06", pos + 6)


MUTATIONS: tuple[Callable[[bytearray, list[bytes], random.Random], None], ...] = (
    _flip,
    _byte,
    _byte,
    _number,
    _add,
    _varint,
    _drop,
    _insert,
    _zero,
    _repeat,
    _splice,
    _cut,
    _resize_block,
    _resize_block,
    _resize_block,
    _swap_blocks,
)


class Hang(BaseException):
    """The decoder did not return in time."""


def _alarm(number: int, frame: FrameType | None) -> None:
    raise Hang(f"no answer within {PATIENCE} seconds")


def attempt(data: bytes, keep: Path, known: set[str]) -> None:
    """Run one input; failures are kept once per location in the code."""
    from exercise import exercise

    signal.alarm(PATIENCE)
    try:
        exercise(data)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        signal.alarm(0)
        frames = traceback.extract_tb(error.__traceback__)
        ours = [f for f in frames if "clrevents" in f.filename] or list(frames)
        text = str(error).partition(":")[0] if isinstance(error, AssertionError) else ""
        place = f"{type(error).__name__} {Path(ours[-1].filename).name}:{ours[-1].lineno} {text}"
        if place not in known:
            known.add(place)
            name = hashlib.sha1(data).hexdigest()[:12]
            (keep / f"{name}.bin").write_bytes(data)
            (keep / f"{name}.txt").write_text(place + "\n" + "".join(traceback.format_exception(error)))
            print(f"FOUND {name}: {place}: {str(error)[:300]}", flush=True)
    finally:
        signal.alarm(0)


def run_own(folders: list[Path], seconds: float, keep: Path, seed: int) -> int:
    corpus = seeds(folders) + own_seeds()
    rng = random.Random(seed)
    known: set[str] = set()
    until = time.monotonic() + seconds
    done = 0
    while time.monotonic() < until:
        data = bytes(mutate(bytearray(rng.choice(corpus)), corpus, rng))
        attempt(data, keep, known)
        done += 1
        if done % 1000 == 0:
            print(f"{done} inputs, {len(known)} findings, {until - time.monotonic():.0f} s left", flush=True)
    print(f"{done} inputs, {len(known)} findings")
    return len(known)


def run_atheris(folders: list[Path], seconds: float, keep: Path, seed: int) -> None:
    import atheris  # type: ignore[import-untyped, unused-ignore]

    with atheris.instrument_imports(include=["clrevents"]):
        from exercise import exercise

        corpus = seeds(folders) + own_seeds()

    exercise(corpus[0])
    print(f"{len(corpus)} seeds")
    known: set[str] = set()
    folder = keep / "grown"
    folder.mkdir(exist_ok=True)
    for data in corpus:
        (folder / hashlib.sha1(data).hexdigest()[:12]).write_bytes(data)

    def change(data: bytes, largest: int, seed: int) -> bytes:
        rng = random.Random(seed)
        if rng.random() < 0.4:
            return bytes(atheris.Mutate(data, largest))
        return bytes(mutate(bytearray(data), corpus, rng)[:largest])

    atheris.Setup(
        [
            sys.argv[0],
            str(folder),
            f"-max_total_time={int(seconds)}",
            f"-max_len={LARGEST}",
            f"-seed={seed}",
            # The engine itself grows by about 50 KB per input; without it, the same inputs stay at 75 MB.
            "-rss_limit_mb=6000",
            "-timeout=60",
            "-print_final_stats=1",
            f"-artifact_prefix={keep}/",
        ],
        lambda data: attempt(data, keep, known),
        custom_mutator=change,
    )
    atheris.Fuzz()


def cost_seeds(folders: list[Path], largest: int = 200_000) -> list[bytes]:
    """Whole small traces, and the beginnings of larger ones in two sizes."""
    from generations import GENERATIONS, written
    from hostile import cases

    found: dict[bytes, None] = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.name.removesuffix(".gz").endswith((".nettrace", ".netperf", ".bin")):
                data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
                found.update(dict.fromkeys((data[:30_000], data[:largest])))
    found.update(dict.fromkeys(written(generation)[:largest] for generation in GENERATIONS))
    found.update(dict.fromkeys(data for _, data in cases()))
    return list(found)


def run_cost(folders: list[Path], seconds: float, keep: Path, seed: int, largest: int) -> int:
    """The number of places (of a measure, mode and container) where an input takes more than it may."""
    import cost_modes
    from cost_runs import measure
    from cost_search import MEASURES, Search

    modes = {name: functools.partial(cost_modes.run, name) for name in cost_modes.MODES}
    search = Search(cost_seeds(folders), tuple(modes), MUTATIONS[:12], random.Random(seed), largest)
    for data in search.seeds[:: max(len(search.seeds) // 40, 1)]:
        for mode in modes.values():
            # What is imported and prepared once for any trace must be there before the processes fork.
            with contextlib.suppress(Exception):
                mode(data)
    print(f"{len(search.seeds)} seeds after {_processor_time():.0f} s", flush=True)
    begun = told = _processor_time()
    faults: set[str] = set()
    done = over = 0
    with contextlib.suppress(KeyboardInterrupt):
        while (now := _processor_time()) - begun < seconds:
            data, wanted = search.next()
            costs = measure(data, {mode: modes[mode] for mode in wanted})
            done += 1
            for mode, cost in costs.items():
                if cost.fault and (last := cost.fault.strip().splitlines()[-1]) not in faults:
                    faults.add(last)
                    _keep(keep, f"fault-{mode}", data, cost.fault)
                    print(f"FAULT {mode}: {last[:300]}", flush=True)
            for measured, found in search.add(data, costs):
                if found.share > 1:
                    name = _keep(keep, f"{measured}-{found.mode}", data, cost_line(found))
                    print(f"FOUND {name}: {measured} {found.share:.2f}, {cost_line(found)}", flush=True)
            if now - told > 60:
                told = now
                worst = ", ".join(f"{m} {f.share:.2f} ({f.mode})" for m in MEASURES for f in search.worst(m, 1))
                print(f"{done} inputs, {now - begun:.0f} s of processor time, worst {worst}", flush=True)
    print(f"{done} inputs, {_processor_time() - begun:.0f} s of processor time, {len(faults)} faults")
    for measured in MEASURES:
        print(f"worst by {measured}:")
        for place, found in enumerate(search.worst(measured), 1):
            _keep(keep, f"worst-{measured}-{place}", found.data, cost_line(found))
            print(f"  {found.share:.2f} of what it may take: {cost_line(found)}")
        over += sum(found.share > 1 for found in search.worst(measured, None))
    return over + len(faults)


def _processor_time() -> float:
    """Of this process and of those that it waited for."""
    return sum(os.times()[:4])


def cost_line(found: Found) -> str:
    """What an input took, in words."""
    size, seconds, memory = len(found.data), found.cost.seconds, found.cost.memory
    beyond = max(seconds - 2, 0) / max(size, 1) * 1e6
    return (
        f"{found.mode}: {size} bytes, {seconds:.2f} s ({beyond:.1f} us a byte beyond 2 s, "
        f"{seconds / max(size, 1) * 1e6:.1f} in all), {memory / 2**20:.0f} MiB {found.cost.fault[:80]}"
    ).rstrip()


def _keep(folder: Path, what: str, data: bytes, text: str) -> str:
    name = f"{what}-{hashlib.sha1(data).hexdigest()[:8]}"
    (folder / f"{name}.bin").write_bytes(data)
    (folder / f"{name}.txt").write_text(text + "\n")
    return name


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seeds", type=Path, action="append", default=[])
    parser.add_argument("--keep", type=Path, default=Path("findings"))
    parser.add_argument("--engine", choices=("atheris", "own"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cost", action="store_true", help="look for inputs that take long, or much memory")
    parser.add_argument("--largest", type=int, default=1 << 18, help="bytes of an input with --cost")
    options = parser.parse_args()
    support = ROOT / "tests" / "support"
    sys.path[:0] = [str(ROOT / "src"), str(support), str(support / "costs")]
    options.keep.mkdir(parents=True, exist_ok=True)
    folders = options.seeds or [ROOT / "fixtures", ROOT / "tests" / "corpus", ROOT.parent / "shared" / "vectors"]
    if options.cost:
        sys.exit(1 if run_cost(folders, options.seconds, options.keep, options.seed, options.largest) else 0)
    engine = options.engine
    if engine is None:
        try:
            import atheris  # noqa: F401

            engine = "atheris"
        except ImportError:
            engine = "own"
    signal.signal(signal.SIGALRM, _alarm)
    if engine == "own":
        sys.exit(1 if run_own(folders, options.seconds, options.keep, options.seed) else 0)
    run_atheris(folders, options.seconds, options.keep, options.seed)


if __name__ == "__main__":
    main()
