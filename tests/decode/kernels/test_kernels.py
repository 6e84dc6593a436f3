"""Both engines of the kernels agree on every output, status and state, whatever bytes they are given.

Compiled integers wrap where Python's grow, shifts have a width, and a list takes what an array refuses: all of
this is looked for. And nothing is read outside of the block (with its padding) or of the payload.
"""

from __future__ import annotations

import struct
from random import Random
from typing import Any

import attrs
import numpy as np
import pytest

import kernel_cases as cases
from clrevents.decode.kernels.engine import end_to_end, pick
from clrevents.decode.kernels.header_scan import HeaderScanner, adjacent, arranged
from clrevents.decode.stream.salvage import head
from kernel_cases import PADDING, Block, Payloads
from kernel_twins import Engine, Watched, interpreted, twins

M64 = (1 << 64) - 1
BLOCKS = 1500
COLUMNS = ("metadata_ids", "thread_ids", "stack_ids", "ticks", "offsets", "sizes")


@pytest.fixture(scope="module")
def engines() -> tuple[Engine, Engine]:
    return twins()


@pytest.fixture(scope="module")
def real() -> list[Block]:
    found = cases.pieces()
    assert len(found) > 300
    return found


def agree_on_block(engines: tuple[Engine, Engine], block: Block, limit: int) -> None:
    size = len(block.content)
    results = []
    for poison in (b"\0", b"\xff"):
        buf = b"\x81" + block.content + poison * PADDING
        results.append([engine.scan(buf, 1, 1 + size, block.labels, limit) for engine in engines])
        assert results[-1][0] == results[-1][1], block
    # The running values of an event that is not whole are of no use; all else is the block's own.
    rows = engines[0].scan_module.ROWS, engines[0].scan_module.RUNS, engines[0].scan_module.MARKS
    for one, other in zip(results[0][0], results[1][0], strict=True):
        assert one[0] == other[0], block
        counts = [one[1][n] for n in rows]
        assert counts == [other[1][n] for n in rows], block
        assert one[1][0] == other[1][0], block
        for a, b in zip(one[2:8], other[2:8], strict=True):
            assert a[: counts[0]] == b[: counts[0]], block
        assert one[8][: counts[1]] == other[8][: counts[1]], block
        assert one[9][: counts[2]] == other[9][: counts[2]], block


def agree_on_payloads(engines: tuple[Engine, Engine], given: Payloads) -> None:
    first, second = (e.walk(given.buf, given.program, given.starts, given.ends, given.repeats) for e in engines)
    assert first == second, given
    for poison in (0x00, 0xFF):
        buf = cases.poisoned(given, poison)
        again = engines[1].walk(buf, given.program, given.starts, given.ends, given.repeats)
        assert again == first, given


@pytest.mark.parametrize("limit", [1, 3, 64])
def test_what_the_fuzzer_found(engines: tuple[Engine, Engine], limit: int) -> None:
    found = cases.corpus_blocks()
    assert len(found) > 50
    for block in found:
        agree_on_block(engines, block, limit)


def test_mutated_blocks(engines: tuple[Engine, Engine], real: list[Block]) -> None:
    """A bounded number; `tools/hammer_kernels.py` goes on for as long as one likes."""
    rng = Random(1)
    seen = set()
    for _ in range(BLOCKS):
        block = cases.mutated(rng.choice(real), real, rng)
        agree_on_block(engines, block, rng.choice((1, 2, 5, 64)))
        seen.add(engines[1].scan(block.content + bytes(PADDING), 0, len(block.content), block.labels, 64)[-1][0])
    assert seen == {0, 2, 3}


def test_varints_of_every_length(engines: tuple[Engine, Engine]) -> None:
    """Behind every flag a number that is as wide as its field, wider, and never ends."""
    for flags in range(256):
        for length in (1, 4, 5, 6, 9, 10, 11, 30):
            for last in (b"\x01", b"\x7f", b"\xff"):
                number = b"\xff" * (length - 1) + last
                for labels in (False, True):
                    # A time near the end of its range first, so that what is added to it wraps.
                    content = b"\x00" + b"\xfe" * 9 + b"\x01" + bytes([flags]) + number * 6 + bytes(40)
                    agree_on_block(engines, Block(content, labels), 64)


def test_a_scan_stays_inside(real: list[Block]) -> None:
    """The interpreted twin reads no byte in front of the block, and none behind its padding."""
    scanner, rng = interpreted(), Random(2)
    blocks = cases.corpus_blocks() + [cases.mutated(rng.choice(real), real, rng) for _ in range(BLOCKS // 3)]
    blocks += [Block(bytes([flags]) + b"\xff" * 300, labels) for flags in range(256) for labels in (False, True)]
    for block in blocks:
        for size in (len(block.content), min(len(block.content), 2)):
            buf = b"\x81" + block.content[:size] + b"\xff" * (2 * PADDING)
            scanner.scan(Watched(buf, 1, 1 + size + PADDING), 1, 1 + size, block.labels, 64)


def headed(content: bytes, rng: Random) -> bytes:
    """A block behind its header, which is mostly sound."""
    length = rng.choice((20, 20, 20, 22, 24, rng.randrange(30)))
    flags = rng.choice((1, 1, 1, 1, 3, rng.choice((0, 2, 5, 0x101, 0xFFFF))))
    spans = [rng.choice((0, 5, 5, -1, -1 << 63, (1 << 63) - 1)) for _ in range(2)]
    spare = bytes(max(length - 20, 0))
    return struct.pack("<HHqq", length, flags, *(sorted(spans) if rng.random() < 0.8 else spans)) + spare + content


@pytest.mark.parametrize("labels", [False, True])
def test_blocks_together_are_scanned_as_each_alone(
    engines: tuple[Engine, Engine], real: list[Block], labels: bool
) -> None:
    rng = Random(9)
    blocks = [block for block in real if block.labels == labels]
    whole = short = 0
    for _ in range(BLOCKS // 3):
        drawn = [rng.choice(blocks) for _ in range(rng.randrange(1, 9))]
        if rng.random() < 0.3:
            drawn[rng.randrange(len(drawn))] = cases.mutated(rng.choice(blocks), blocks, rng)
        parts = [headed(b"" if rng.random() < 0.1 else block.content, rng) for block in drawn]
        limit = rng.choice((3, 40, 200, 1000))
        bodies: list[int] = []
        at = 0
        for part in parts:
            bodies += [at + 1000, at, at + len(part)]
            at += len(part)
        buf = b"".join(parts) + b"\xff" * PADDING
        first, second = (engine.together(buf, bodies, labels, limit) for engine in engines)
        assert first == second
        done, each, *columns = first
        expected: list[list[int]] = [[] for _ in range(8)]
        heads = [each[k : k + 6] for k in range(0, len(each), 6)]
        for place, start, stop in zip(*(bodies[k : 3 * done : 3] for k in range(3)), strict=True):
            length, flags, low, high = struct.unpack_from("<HHqq", buf, start)
            assert 20 <= length <= stop - start
            assert flags in (1, 3) if labels else flags & 1
            ((status, state, *scanned),) = engines[0].scan(buf, start + length, stop, labels, limit)
            assert status == 0
            rows, runs, marks = state[1:4]
            if not rows:
                continue
            before = len(expected[0])
            for row in range(0, runs, 4):
                scanned[6][row] += before
            for row in range(0, marks, 3):
                scanned[7][row] += before
            for column, found, end in zip(expected, scanned, (*[rows] * 6, runs, marks), strict=True):
                column += found[:end]
            ends = [len(expected[0]), len(expected[6]), len(expected[7])]
            assert heads.pop(0) == [*ends, low % (1 << 64), high % (1 << 64), place]
        assert not heads
        assert columns == expected
        whole += done == len(parts)
        short += done < len(parts)
    assert whole > 20
    assert short > 20


def test_rows_that_somebody_keeps_are_left_alone(real: list[Block]) -> None:
    """The scanner uses its memory again once nobody has a part of it, be it a view of a single column."""
    rng, scanner = Random(7), HeaderScanner()
    held: list[tuple[Any, list[int]]] = []
    for block in real + real:
        found = scanner.scan(block.content + bytes(PADDING), 0, len(block.content), 0, block.labels)
        again = HeaderScanner().scan(block.content + bytes(PADDING), 0, len(block.content), 0, block.labels)
        for columns, fresh in zip(found[0], again[0], strict=True):
            for name in (*COLUMNS, "runs", "marks"):
                assert getattr(columns, name).tolist() == getattr(fresh, name).tolist()
        assert found[1:] == again[1:]
        if found[0] and rng.random() < 0.2:
            values = attrs.astuple(found[0][0], recurse=False)[rng.randrange(6)][::2]
            held.append((values, values.tolist()))
        if rng.random() < 0.05:
            held.clear()
        del found, again
    assert held
    for values, before in held:
        assert values.tolist() == before


def block_of(events: int, rng: Random) -> bytes:
    """Event headers of one thread, each but the first in two bytes, with payloads of equal size."""
    size = rng.randrange(3)
    numbers = (rng.randrange(1, 100), 0, 5, 0, *(rng.randrange(100) for _ in range(3)), size)
    return bytes([0b10001111, *numbers]) + bytes(size) + (b"\0\x05" + bytes(size)) * (events - 1)


@pytest.mark.parametrize("seed", [1, 2])
def test_memory_of_many_blocks(seed: int) -> None:
    """Blocks small and larger than what is read at once, of which parts are kept, joined, viewed and dropped."""
    rng, scanner = Random(seed), HeaderScanner()
    blocks = [block_of(n, rng) for n in (1, 5, 1000, 1024, 1500, 5000, 16383, 16384, 16385, 33000, 40000)]
    held: list[tuple[Any, Any]] = []
    pieces = 0
    for _ in range(150):
        block, base = rng.choice(blocks), rng.randrange(1 << 40)
        columns, status, _ = scanner.scan(block + bytes(PADDING), 0, len(block), base, False)
        fresh, _, _ = HeaderScanner().scan(block + bytes(PADDING), 0, len(block), base, False)
        assert status == "done"
        pieces = max(pieces, len(columns))
        for name in COLUMNS:
            mine, right = (np.concatenate([getattr(c, name) for c in found]) for found in (columns, fresh))
            assert np.array_equal(mine, right)
        if rng.random() < 0.4:
            view = getattr(rng.choice(columns), rng.choice(COLUMNS))[:: rng.choice((1, 2))]
            held.append((memoryview(view) if rng.random() < 0.3 else view, view.copy()))
            del view
        elif rng.random() < 0.5:
            cut = [head(c, rng.randrange(1, len(c) + 1)) if rng.random() < 0.3 else c for c in columns]
            whole = [*map(end_to_end, adjacent(cut))]
            for name, column in zip(COLUMNS[1:], whole, strict=True):
                assert np.array_equal(column, np.concatenate([getattr(c, name) for c in cut]))
            held.append((whole[0], whole[0].copy()))
            del cut, whole
        if rng.random() < 0.1:
            assert all(np.array_equal(view, copy) for view, copy in held)
            held = [pair for pair in held if rng.random() < 0.4]
        del columns
    assert all(np.array_equal(view, copy) for view, copy in held)
    assert pieces > 1


def test_a_tally_of_anything(engines: tuple[Engine, Engine]) -> None:
    rng = Random(3)
    edges = (0, 1, -1, (1 << 63) - 1, -(1 << 63), 5)
    # As many that an old one is out of sight when it comes again.
    crowds = (0, 1, M64, 1 << 63), tuple(range(40))
    again = 0
    for _ in range(BLOCKS // 5):
        rows = rng.randrange(90)
        crowd = rng.choice(crowds)
        table = [rng.randrange(9) for _ in range(6)]
        values = [rng.randrange(6) for _ in range(rows)]
        threads = [rng.choice(crowd) for _ in range(rows)]
        times = [rng.choice(edges) for _ in range(rows)]
        first, second = (engine.tally(values, table, threads, times, 9) for engine in engines)
        assert first == second
        used, counts, ids, sums, latest = first
        kinds = [table[value] for value in values]
        assert counts == [kinds.count(kind) for kind in range(9)]
        assert set(ids) == set(threads)
        assert latest == [max(times, default=-1 << 63)]
        for thread in ids:
            mine = [sums[3 * at : 3 * at + 3] for at in range(used) if ids[at] == thread]
            ticks = [time for time, of in zip(times, threads, strict=True) if of == thread]
            assert sum(entry[0] for entry in mine) == len(ticks)
            assert min(entry[1] for entry in mine) == min(ticks)
            assert max(entry[2] for entry in mine) == max(ticks)
        again += used > len(set(ids))
    assert 0 < again < BLOCKS // 10


@pytest.mark.parametrize("stray", [3, 4, -1, (1 << 62), -(1 << 63)])
def test_a_tally_takes_all_or_nothing(engines: tuple[Engine, Engine], stray: int) -> None:
    """An id that the table lacks, or has below zero, keeps the others from being counted too."""
    for values in ([0, 1, stray, 1], [stray], [1, 1, 1, stray]):
        for engine in engines:
            half = len(values) // 2
            known = values[:half].count(0), values[:half].count(1)
            used, counts, ids, sums, latest = engine.tally(
                values, [0, 1, 2, -1], [7] * len(values), [5] * len(values), 3
            )
            assert used == -1
            assert counts == [0 if stray in values[:half] else known[0], 0 if stray in values[:half] else known[1], 0]
            assert ids == [7] * bool(sum(counts))
            assert sums == ([half, 5, 5] if ids else [])
            assert latest == [5 if ids else -1 << 63]


def test_sub_events_of_any_bytes(engines: tuple[Engine, Engine]) -> None:
    random, interpreted, compiled = Random(70), *engines
    seen = set()
    for _ in range(3000):
        sizes = [random.randrange(1, 30) for _ in range(random.randrange(1, 4))]
        content = bytes(random.choice((0, 1, 2, 3, 5, 22, 127, 128, 200, 255)) for _ in range(sum(sizes)))
        forms = [random.choice((-1, 0, 0, 0, 1, 1, 2)) for _ in range(256)] + [0] + [random.choice((-2, 9))] * 255
        buffers, start = [], 1
        for size in sizes:
            latest = random.choice((5, 100, 1 << 40, (1 << 63) - 1))
            count, thread = random.choice((0, 1, 2, size // 3)), random.choice((9, (1 << 64) - 1))
            buffers += [start, start + size, random.choice((0, 5)), latest, count, thread]
            start += size
        rows = 2 + len(sizes) + sum(buffers[4::6])
        found = compiled.unpack(b"\x81" + content + b"\xff" * 4, forms, buffers, rows)
        assert found == interpreted.unpack(Watched(b"\x81" + content + b"\xff" * 4, 1, start), forms, buffers, rows)
        seen.update(status for status, *_ in found[0])
        seen.add(0 if -1 not in found[2] else 2)
    assert seen == {0, 1, 2, 3}


def test_objects_that_follow_each_other(engines: tuple[Engine, Engine]) -> None:
    """Of two types, with any versions; up to one that is changed anywhere. Nothing is read from `stop` on."""
    rng = Random(10)
    heads = b"\5\5\1", b"\1\0\0\0A\6", b"\1\0\0\0B\6"
    both = b"".join(heads[0] + bytes(8) + name for name in heads[1:])
    whole = found = 0
    for _ in range(BLOCKS // 3):
        start, turn, most = rng.randrange(4), rng.randrange(4), rng.choice((20, 30, 1000))
        data, expected = bytearray(start), [[], []]  # type: ignore[var-annotated]
        for _ in range(rng.randrange(9)):
            kind, size = rng.randrange(2), rng.choice((0, 3, 20, 25))
            data += heads[0] + rng.randbytes(8) + heads[1 + kind]
            at = len(data)
            data += size.to_bytes(4, "little")
            data += bytes(-(len(data) + turn) % 4)
            expected[kind] += [at, len(data), len(data) + size]
            data += rng.randbytes(size) + b"\6"
        # Room that the smallest object would not need at the end.
        data += bytes(3)
        stop, changed, count = len(data), rng.random() < 0.5, rng.choice((2, 20))
        if changed:
            data[rng.randrange(start, stop)] ^= 1 << rng.randrange(8)
        buf = bytes(data)
        given = both, start, stop, turn, most, count
        first, second = (engine.objects(buf + bytes(40), *given) for engine in engines)
        assert first == second
        assert interpreted().objects(Watched(buf + bytes(40), start, stop), *given) == first
        for mine, of in zip(first, expected, strict=True):
            assert len(mine) <= 3 * count
            assert changed or mine == of[: len(mine)]
        if not changed and most >= 25 and count == 20:
            assert first == (*expected,)
            whole += 1
        found += len(first[0]) + len(first[1])
    assert whole > 20
    assert found > BLOCKS


def test_an_arrangement_by_any_kinds(engines: tuple[Engine, Engine]) -> None:
    rng = Random(8)
    for _ in range(BLOCKS // 5):
        size = rng.randrange(1, 12)
        kinds = [rng.randrange(size) for _ in range(rng.randrange(60))]
        first, second = (engine.arrange(kinds, size) for engine in engines)
        assert first == second
        assert first[1] == sorted(range(len(kinds)), key=lambda row: kinds[row])
        assert first[0] == [sum(kind <= at for kind in kinds) for at in range(size)]
        order, spans = arranged(np.array(kinds, dtype=np.int64))
        assert order.tolist() == first[1]
        assert [kind for kind, _ in spans] == sorted(set(kinds))
        for kind, span in spans:
            assert [kinds[row] for row in order[span].tolist()] == [kind] * kinds.count(kind)


def test_walks_of_any_program(engines: tuple[Engine, Engine]) -> None:
    rng = Random(4)
    fits = 0
    for _ in range(BLOCKS):
        given = cases.payloads(cases.random_program(rng), rng, rng.randrange(1, 5))
        agree_on_payloads(engines, given)
        fits += engines[1].walk(given.buf, given.program, given.starts, given.ends, given.repeats)[0] == 0
    assert BLOCKS // 20 < fits < BLOCKS * 19 // 20


def test_walks_of_registered_layouts(engines: tuple[Engine, Engine]) -> None:
    rng = Random(5)
    programs = cases.registered_programs()
    assert len(programs) > 150
    for program in programs:
        agree_on_payloads(engines, cases.payloads(program, rng, 8))


def test_a_walk_stays_in_its_payload(engines: tuple[Engine, Engine]) -> None:
    """The interpreted twin is watched; the compiled one gets a buffer that ends where the payload does."""
    rng = Random(6)
    programs = cases.registered_programs()
    for turn in range(BLOCKS):
        program = rng.choice(programs) if turn % 2 else cases.random_program(rng)
        given = cases.payloads(program, rng, 1)
        (start,), (end,) = given.starts, given.ends
        watched = Watched(given.buf, start, end)
        first = engines[0].walk(watched, program, [start], [end], given.repeats)
        exact = given.buf[start:end] or b"\0"
        second = engines[1].walk(exact, program, [0], [end - start], given.repeats)
        assert first[0] == second[0]
        assert first[3] == second[3]
        assert [stop - start for stop in first[2]] == second[2]


@pytest.mark.parametrize("size", [1, 2, 3, 8, 1 << 31, (1 << 61) + 1])
@pytest.mark.parametrize("wide", [1, 2, 4, 8, -1, -2, -4, -8])
def test_counts_that_are_too_large(engines: tuple[Engine, Engine], size: int, wide: int) -> None:
    """`count * size` must not wrap round to something that fits."""
    bits = 8 * abs(wide)
    numbers = {n & ((1 << bits) - 1) for k in range(65) for n in ((1 << k) - 1, 1 << k, (1 << k) // size + 1)}
    numbers |= {-n & ((1 << bits) - 1) for n in range(1, 70)}
    for number in numbers:
        for op in (cases.COUNTED, cases.REST):
            program = [cases.FIXED, 0, abs(wide), 0, 0, 0, op, 0, size, 0, 0, wide]
            data = number.to_bytes(abs(wide), "little") + bytes(24)
            given = Payloads(program, data + b"\xfe" * 8, [0], [len(data)], [1])
            agree_on_payloads(engines, given)
            bad, cells, stops, _ = engines[1].walk(data, program, [0], [len(data)])
            negative = wide < 0 and number >> (bits - 1)
            assert bool(bad) == bool(negative or number * size > 24), (number, size)
            if not bad:
                assert cells[3] == number
                assert stops == [abs(wide) + (number * size if op == cases.COUNTED else 0)]


def test_text_of_any_units(engines: tuple[Engine, Engine]) -> None:
    """Agrees with Python's own decoder too; an odd byte at the end is left out."""
    rng = Random(7)
    for _ in range(BLOCKS):
        texts = [cases.utf16(rng, rng.randrange(6)) + b"\xd8" * rng.randrange(2) for _ in range(4)]
        buf = b"\xfe".join(texts) + b"\0\xdc"
        starts = [sum(map(len, texts[:i])) + i for i in range(4)]
        first, second = (e.narrow(buf, starts, list(map(len, texts))) for e in engines)
        assert first == second
        size, out, ends = first
        begins = [0, *ends[:-1]]
        found = [out[a:b].decode() for a, b in zip(begins, ends, strict=True)]
        whole = [text[: len(text) // 2 * 2] for text in texts]
        assert found == [text.decode("utf-16-le", "replace") for text in whole]
        assert size == ends[-1]


def test_every_unit_alone_and_in_front_of_others(engines: tuple[Engine, Engine]) -> None:
    units = range(1 << 16)
    alone = b"".join(unit.to_bytes(2, "little") for unit in units)
    starts, lengths = [2 * unit for unit in units], [2] * len(units)
    first, second = (engine.narrow(alone, starts, lengths) for engine in engines)
    assert first == second
    pairs = [(a, b) for a in cases.UNITS for b in cases.UNITS]
    data = b"".join(a.to_bytes(2, "little") + b.to_bytes(2, "little") for a, b in pairs)
    first, second = (e.narrow(data, [4 * n for n in range(len(pairs))], [4] * len(pairs)) for e in engines)
    assert first == second
    assert first[1][: first[0]].decode() == "".join(
        data[4 * n : 4 * n + 4].decode("utf-16-le", "replace") for n in range(len(pairs))
    )


def test_gathering(engines: tuple[Engine, Engine]) -> None:
    rng = Random(8)
    for _ in range(BLOCKS // 5):
        buf = rng.randbytes(rng.randrange(1, 60))
        spans = sorted(sorted(rng.choices(range(len(buf) + 1), k=2)) for _ in range(rng.randrange(6)))
        starts, lengths = [a for a, _ in spans], [b - a for a, b in spans]
        first, second = (engine.gather(buf, starts, lengths) for engine in engines)
        assert first == second
        assert first == (sum(lengths), b"".join(buf[a:b] for a, b in spans))
        # A column's bytes are an array.
        assert [engine.gather(np.frombuffer(buf, dtype=np.uint8), starts, lengths) for engine in engines] == [first] * 2


def test_picking(engines: tuple[Engine, Engine]) -> None:
    rng = Random(10)
    for _ in range(BLOCKS // 5):
        buf = rng.randbytes(rng.randrange(1, 60))
        size = rng.randrange(len(buf) + 1)
        places = [rng.randrange(len(buf) - size + 1) for _ in range(rng.randrange(6))]
        first, second = (engine.pick(buf, places, size) for engine in engines)
        assert first == second == b"".join(buf[place : place + size] for place in places)
        if size:
            array = np.array(places, dtype=np.int64)
            assert pick(buf, array, size).tobytes() == first


@pytest.mark.parametrize("place", [-1, -8, 5, 8, 9, 1 << 62, -1 << 63])
def test_bytes_outside_of_a_buffer(engines: tuple[Engine, Engine], place: int) -> None:
    for engine in engines:
        with pytest.raises(IndexError):
            engine.pick(bytes(8), [0, place], 4)
        with pytest.raises(IndexError):
            engine.gather(bytes(8), [place], [4])
        if place > 0:
            with pytest.raises(IndexError):
                engine.narrow(bytes(8), [place], [4])
        # Room for three bytes is none for four.
        out = bytearray(3)
        with pytest.raises(IndexError):
            engine.walk_module.pick(bytes(8), 1, engine._given([0]), 4, out)


def test_a_buffer_that_is_too_short_is_no_crash(engines: tuple[Engine, Engine]) -> None:
    """Bounds are checked in the compiled engine: whoever forgets the padding gets an error, not other memory."""
    for engine in engines:
        with pytest.raises(IndexError):
            engine.scan(b"\xff", 0, 1, False, 4)
        with pytest.raises(IndexError):
            engine.walk(b"\x01", [cases.TEXT8, 0, 0, 0, 0, 0], [0], [50])
        with pytest.raises(IndexError):
            engine.narrow(b"\x01", [0], [50])
        with pytest.raises(IndexError):
            engine.gather(b"\x01", [0], [50])
