"""Runs millions of blocks, payloads and objects through both kernel engines, which must agree on everything.

    python tools/hammer_kernels.py [--blocks 1000000] [--payloads 1000000] [--objects 100000] [--seed 1]

Needs an installation with compiled kernels. Blocks are pieces of the fixtures and of the fuzzer's findings, a few
hundred bytes each, randomly changed; payloads belong to random programs and to those of all registered layouts;
objects are of a few classes, with values of any kind. Prints a summary; stops at the first difference and prints
the input. Every seed gives a different run.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[1]
_STATUS = ("done", "full", "truncated", "bad varint")


def hammer_blocks(count: int, rng: Random) -> None:
    """Scans, each block once or in several calls."""
    import kernel_cases as cases
    from kernel_twins import compiled, interpreted

    one, other = interpreted(), compiled()
    assert other is not None
    real = cases.pieces() + [b for b in cases.corpus_blocks() if b.content]
    ends: Counter[int] = Counter()
    rows = 0
    began = time.monotonic()
    for done in range(1, count + 1):
        block = cases.mutated(rng.choice(real), real, rng)
        # Poison after the block that would be read as another header, and a different number of rows per call.
        buf = block.content + rng.choice((b"\0", b"\xff", b"\x81")) * cases.PADDING
        limit = rng.choice((1, 7, 40, 40, 40))
        first = one.scan(buf, 0, len(block.content), block.labels, limit)
        if first != other.scan(buf, 0, len(block.content), block.labels, limit):
            sys.exit(f"the engines differ: limit {limit}, {block!r}")
        ends[first[-1][0]] += 1
        rows += sum(call[1][one.scan_module.ROWS] for call in first)
        if done % max(count // 10, 1) == 0:
            _tell(f"{done:,} blocks, {rows:,} events", began, {_STATUS[k]: n for k, n in sorted(ends.items())})


def hammer_payloads(count: int, rng: Random) -> None:
    """Walks, one to four payloads at a time."""
    import kernel_cases as cases
    from kernel_twins import compiled, interpreted

    one, other = interpreted(), compiled()
    assert other is not None
    programs = cases.registered_programs()
    done = misfits = told = 0
    began = time.monotonic()
    while done < count:
        program = rng.choice(programs) if rng.random() < 0.5 else cases.random_program(rng)
        given = cases.payloads(program, rng, rng.randrange(1, 5))
        first = one.walk(given.buf, program, given.starts, given.ends, given.repeats)
        if first != other.walk(given.buf, program, given.starts, given.ends, given.repeats):
            sys.exit(f"the engines differ: {given!r}")
        done += len(given.starts)
        misfits += first[0]
        if done - told >= max(count // 10, 1) or done >= count:
            told = done
            _tell(f"{done:,} payloads", began, {"did not fit": misfits})


def hammer_objects(count: int, rng: Random) -> None:
    """Makes records of up to eight payloads per call, and events; one call in eight has an invalid argument."""
    import kernel_cases as cases
    from kernel_twins import compiled, interpreted

    one, other = interpreted(), compiled()
    assert other is not None
    done = calls = refused = told = 0
    began = time.monotonic()
    while done < count:
        reading, making = cases.reading(rng), cases.making(rng)
        for given, ends in (
            (reading, [engine.read(reading) for engine in (one, other)]),
            (making, [engine.events(making, making) for engine in (one, other)]),
        ):
            if not cases.alike(*map(cases.contents, ends)):
                sys.exit(f"the engines differ: {given!r}: {ends!r}")
            calls += 1
            refused += isinstance(ends[0], type) or len(ends[0]) == 1
        done += len(reading.starts) + len(making.payloads)
        if done - told >= max(count // 10, 1) or done >= count:
            told = done
            _tell(f"{done:,} objects", began, {"calls": calls, "refused": refused})


def _tell(what: str, began: float, counts: dict[str, int]) -> None:
    numbers = ", ".join(f"{number:,} {name}" for name, number in counts.items())
    print(f"{what}: {numbers}; no difference; {time.monotonic() - began:.0f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=int, default=1_000_000)
    parser.add_argument("--payloads", type=int, default=1_000_000)
    parser.add_argument("--objects", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    support = ROOT / "tests" / "support"
    sys.path[:0] = [str(support), *map(str, filter(Path.is_dir, support.iterdir()))]
    # The installed package comes first: its kernels are the compiled ones.
    sys.path.append(str(ROOT / "src"))
    from kernel_twins import compiled

    if compiled() is None:
        sys.exit("the kernels are not compiled here, so there is nothing to compare with")
    hammer_blocks(options.blocks, Random(options.seed))
    hammer_payloads(options.payloads, Random(options.seed))
    hammer_objects(options.objects, Random(options.seed))


if __name__ == "__main__":
    main()
