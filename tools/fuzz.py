"""Feeds mutated traces to everything that clrevents makes of a trace, and keeps the inputs that make it misbehave.

    python tools/fuzz.py --seconds 600 [--seeds DIR ...] [--keep DIR] [--seed N] [--engine own|atheris]
    python tools/fuzz.py --cost --seconds 3600 [--seeds DIR ...] [--keep DIR]

Mutations are of meaning, of structure and of bytes (tests/support/fuzzing/mutations.py); seeds are the traces in the
folders, slimmed, the hostile streams of the tests and first blocks of traces in every container. Each input goes
through a few families of uses (tests/support/fuzzing/product.py): reports, pages, exports, rewrites, displays,
commands. It is written to the folder given by `--keep` if anything but `TraceError` escapes, an output is not what it
must be, it takes more than 10 s or 600 MB, or the process dies; fewer events of it where they do the same. Fix the bug,
and put the input into tests/corpus/ as FAMILY/NAME.bin, which tests/test_corpus.py replays. With atheris, decoding is
guided by coverage.

With `--cost` it looks for small inputs that take long or much memory instead, in every way of reading a trace
(tests/support/costs/costly_uses.py): it repeats and mixes parts of streams and goes on from the worst found.
`--seconds` are then processor time. It prints and keeps the worst five by time and by memory, and exits with 1 if one
of them takes more than an input of its size may (tests/support/costs/cost_runs.py). A finding becomes a small
generated case in tests/cost/.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import functools
import gzip
import hashlib
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cost_search import Found
    from fuzz_runs import Campaign, Find

ROOT = Path(__file__).resolve().parents[1]
LARGEST = 8 * 1024


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


def attempt(data: bytes, keep: Path, known: set[str]) -> None:
    """Decode one input in all ways; failures are kept once per location in the code."""
    from fuzz_runs import attempted

    find = attempted("pieces", data)
    if find is not None and find.place not in known:
        known.add(find.place)
        keep_find(find, keep)


def keep_find(find: Find, keep: Path) -> None:
    """Write down what was found."""
    name = f"{find.family.replace(' ', '-')}-{hashlib.sha1(find.data).hexdigest()[:8]}"
    (keep / f"{name}.bin").write_bytes(find.data)
    (keep / f"{name}.txt").write_text(f"{find.place}\n{find.text}")
    print(f"FOUND {name}: {find.place}: {find.text.strip()[-200:]}", flush=True)


def run_own(folders: list[Path], seconds: float, keep: Path, seed: int, families: Sequence[str], first: bool) -> int:
    """The number of finds. A child does the work, so that one that dies is a find as well, and the next goes on."""
    from fuzz_runs import Find

    until = time.monotonic() + seconds
    died = 0
    while (left := until - time.monotonic()) > 0:
        command = [sys.executable, __file__, "--engine", "child", "--seed", str(seed + died), "--seconds", str(left)]
        command += [word for folder in folders for word in ("--seeds", str(folder))] + ["--keep", str(keep)]
        command += [word for family in families for word in ("--family", family)] + ["--first"] * first
        code = subprocess.run(command).returncode
        if code in (0, 1):
            break
        died += 1
        family, data = (keep / "current.txt").read_text(), (keep / "current.bin").read_bytes()
        keep_find(Find(family, f"{family}: the process ended with {code}", data, ""), keep)
        if first:
            break
    return len(list(keep.glob("*.txt")))


def run_child(folders: list[Path], seconds: float, keep: Path, seed: int, families: Sequence[str], first: bool) -> int:
    """The number of finds, of these families if there are any."""
    import fuzz_runs

    traces = list(fuzz_runs.seeds(folders))
    known = {path.read_text().partition("\n")[0] for path in keep.glob("*.txt")}
    campaign = fuzz_runs.Campaign(traces, random.Random(seed), own_seeds(), known=known)
    campaign.families = families or campaign.families
    print(f"{len(traces)} traces, {len(campaign.others)} other streams, {len(known)} finds known", flush=True)

    def note(family: str, data: bytes) -> None:
        (keep / "current.bin").write_bytes(data)
        (keep / "current.txt").write_text(family)
        # Where no Python runs any more, the process ends.
        faulthandler.dump_traceback_later(20 * fuzz_runs.SECONDS, exit=True)

    until, told = time.monotonic() + seconds, time.monotonic()
    count = 0
    while time.monotonic() < until:
        for find in campaign.step(note):
            print(f"found {find.place}", flush=True)
            faulthandler.cancel_dump_traceback_later()
            with contextlib.suppress(Exception):
                find = fuzz_runs.shrunk(find)
            keep_find(find, keep)
            count += 1
        if first and count:
            break
        if time.monotonic() - told > 300:
            told = time.monotonic()
            _tell(campaign, until - told)
    _tell(campaign, 0)
    faulthandler.cancel_dump_traceback_later()
    return count


def _tell(campaign: Campaign, left: float) -> None:
    families = ", ".join(f"{name} {count}" for name, count in sorted(campaign.done.items()))
    print(f"{campaign.done.total()} executions, {len(campaign.known)} finds, {left:.0f} s left: {families}", flush=True)


def run_atheris(folders: list[Path], seconds: float, keep: Path, seed: int) -> None:
    import atheris  # type: ignore[import-untyped, unused-ignore]

    with atheris.instrument_imports(include=["clrevents"]):
        from exercise import exercise
        from mutations import mutate

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
        return bytes(mutate(bytearray(data), corpus, rng, largest))

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
    import costly_uses
    from cost_runs import measure
    from cost_search import MEASURES, Search
    from mutations import MUTATIONS

    modes = {name: functools.partial(costly_uses.of_bytes, name) for name in costly_uses.USES}
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
    parser.add_argument("--engine", choices=("own", "atheris", "child"), default="own")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--family", action="append", default=[], help="of uses; all without it")
    parser.add_argument("--first", action="store_true", help="stop at the first find")
    parser.add_argument("--cost", action="store_true", help="look for inputs that take long, or much memory")
    parser.add_argument("--largest", type=int, default=1 << 18, help="bytes of an input with --cost")
    options = parser.parse_args()
    support = ROOT / "tests" / "support"
    sys.path[:0] = [str(ROOT / "src"), str(support), *map(str, filter(Path.is_dir, support.iterdir()))]
    options.keep.mkdir(parents=True, exist_ok=True)
    folders = options.seeds or [ROOT / "fixtures", ROOT / "tests" / "corpus", ROOT.parent / "shared" / "vectors"]
    if options.cost:
        sys.exit(1 if run_cost(folders, options.seconds, options.keep, options.seed, options.largest) else 0)
    if options.engine == "atheris":
        run_atheris(folders, options.seconds, options.keep, options.seed)
    else:
        run = run_child if options.engine == "child" else run_own
        chosen = options.family, options.first
        sys.exit(1 if run(folders, options.seconds, options.keep, options.seed, *chosen) else 0)


if __name__ == "__main__":
    main()
