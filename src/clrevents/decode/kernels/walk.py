"""Kernel 2: a layout as a program of integers, run over many payloads; UTF-16 to UTF-8; chains of blocks; sorting.

Integers and bytes in, integers and bytes out: makes no objects, raises nothing, reads nothing outside the
payload it is given. Knows widths and places; what a field means is `columns`' business. The names that are defined
nowhere are functions of C (walk.pxd), and where Python runs this file what `plain.py` gives it.
"""

# ruff: noqa: F821
# mypy: disable-error-code="name-defined"

# Instructions: six numbers each, (operation, padding in front, a, b, c, d). Each writes two cells: where it
# found its value and how many, or for NUMBER the value. The body has the operations as plain numbers.
FIXED = 0  # a bytes
TEXT16 = 1  # UTF-16 up to a zero unit; the second cell counts bytes
TEXT8 = 2  # bytes up to a zero byte
COUNTED = 3  # elements of a bytes; the count is c bytes into what instruction b found, d bytes wide (< 0: signed)
PREFIXED = 4  # a 16-bit count, then elements of a bytes
NUMBER = 5  # one to ten bytes, seven bits each
REST = 6  # as COUNTED with elements of at least a bytes, which a second walk reads: the last instruction
PREFIXED_REST = 7  # as REST behind a 16-bit count
WIDTH = 6
# Taken into a local variable: a literal beyond 31 bits is a Python object in the compiled engine, each time.
TOP = 0xFFFFFFFFFFFFFFFF


def walk(
    buf: bytes,
    rows: int,
    total: int,
    program: list[int],
    length: int,
    starts: list[int],
    ends: list[int],
    repeats: list[int],
    cells: list[int],
    stops: list[int],
    states: list[int],
) -> int:
    """Run the program `repeats[i]` times in succession from `starts[i]`, never beyond `ends[i]`.

    `total` is the sum of `repeats`; the two cells of instruction k in run r are `cells[2 * k * total + r]` and
    the one `total` behind it. `stops[i]` is the position behind row i, `states[i]` 0 or the instruction that
    did not fit, counted from 1; cells behind it are left as they are. Returns the number of such rows.
    """
    top = TOP
    bad = 0
    run = 0
    row = 0
    while row < rows:
        pos = starts[row]
        end = ends[row]
        left = repeats[row]
        state = 0
        while left and not state:
            at = 0
            cell = run
            while at < length:
                op = program[at]
                pos += program[at + 1]
                if pos > end:
                    state = at // 6 + 1
                    break
                size = program[at + 2]
                if op == 0:
                    if size > end - pos:
                        state = at // 6 + 1
                        break
                    cells[cell] = pos
                    pos += size
                elif op == 1:
                    first = pos
                    pos = text_end(buf, pos, end)
                    if end - pos < 2:
                        state = at // 6 + 1
                        break
                    cells[cell] = first
                    cells[cell + total] = pos - first
                    pos += 2
                elif op == 2:
                    first = pos
                    while pos < end and buf[pos]:
                        pos += 1
                    if pos >= end:
                        state = at // 6 + 1
                        break
                    cells[cell] = first
                    cells[cell + total] = pos - first
                    pos += 1
                elif op == 5:
                    number = 0
                    shift = 0
                    more = 1
                    while more and shift < 70 and pos < end:
                        byte = buf[pos]
                        pos += 1
                        number |= (byte & 127) << shift
                        shift += 7
                        more = byte & 128
                    if more:
                        state = at // 6 + 1
                        break
                    cells[cell] = number & top
                else:
                    if op == 4 or op == 7:
                        if end - pos < 2:
                            state = at // 6 + 1
                            break
                        count = buf[pos] | buf[pos + 1] << 8
                        pos += 2
                    else:
                        first = cells[2 * program[at + 3] * total + run] + program[at + 4]
                        wide = program[at + 5]
                        signed = 0
                        if wide < 0:
                            wide = -wide
                            signed = 1
                        count = 0
                        shift = 0
                        while wide:
                            byte = buf[first]
                            count |= byte << shift
                            shift += 8
                            first += 1
                            wide -= 1
                        if signed and byte & 128:
                            state = at // 6 + 1
                            break
                    room = end - pos
                    if count and size and count > room // size:
                        state = at // 6 + 1
                        break
                    cells[cell] = pos
                    cells[cell + total] = count
                    if op < 6:
                        pos += count * size
                at += 6
                cell += 2 * total
            left -= 1
            run += 1
        run += left
        if state:
            bad += 1
        stops[row] = pos
        states[row] = state
        row += 1
    return bad


def chain(buf: bytes, pos: int, stop: int, kind: int, most: int, count: int, places: list[int]) -> int:
    """Blocks of one kind from `pos` on, each behind a size of three bytes and its kind, which end before `stop`.

    Up to the first that has more than `most` bytes or fewer than four; `places` gets the place of its size, its start
    and its end. Returns how many there are, at most `count`.
    """
    done = 0
    while done < count and stop - pos >= 4 and buf[pos + 3] == kind:
        size = buf[pos] | buf[pos + 1] << 8 | buf[pos + 2] << 16
        if size < 4 or size > most or size > stop - pos - 4:
            break
        places[3 * done] = pos
        places[3 * done + 1] = pos + 4
        pos += 4 + size
        places[3 * done + 2] = pos
        done += 1
    return done


def objects(
    buf: bytes,
    heads: bytes,
    length: int,
    pos: int,
    stop: int,
    turn: int,
    tag: int,
    most: int,
    count: int,
    places: list[int],
    others: list[int],
) -> int:
    """Objects from `pos` on, each behind a head, a size of four bytes and padding, before a tag.

    There are two `heads`, of `length` bytes each, of which the eight from the fourth on (versions) may differ. Padding
    ends at a multiple of four of place and `turn`; tags are before `stop`. Up to the first that has more than `most`
    bytes or another tag.
    `places` gets, of those behind the first head, the place of the size, the start and the end; `others` those behind
    the second, and after the room for `count` how many these are. Returns how many of the first there are, at most
    `count`, as of the others.
    """
    done = 0
    found = 0
    while done < count and found < count and stop - pos >= length + 8:
        head = 0
        at = 0
        while at < length:
            if buf[pos + at] == heads[head + at]:
                at += 1
                if at == 3:
                    at = 11
            elif head:
                break
            else:
                head = length
                at = 0
        if at < length:
            break
        pos += length
        size = buf[pos] | buf[pos + 1] << 8 | buf[pos + 2] << 16
        start = pos + 4 + (4 - (pos + turn) % 4) % 4
        if buf[pos + 3] or size > most or size >= stop - start or buf[start + size] != tag:
            break
        if head:
            others[3 * found] = pos
            others[3 * found + 1] = start
            others[3 * found + 2] = start + size
            found += 1
        else:
            places[3 * done] = pos
            places[3 * done + 1] = start
            places[3 * done + 2] = start + size
            done += 1
        pos = start + size + 1
    others[3 * count] = found
    return done


def narrow(buf: bytes, rows: int, starts: list[int], lengths: list[int], out: bytearray, ends: list[int]) -> int:
    """UTF-16LE text of `lengths[i]` bytes at `starts[i]` as UTF-8, one behind the other, ending at `ends[i]`.

    Half a pair becomes U+FFFD. `out` needs room for three bytes a unit; returns how many bytes were written.
    """
    at = 0
    row = 0
    while row < rows:
        pos = starts[row]
        end = pos + lengths[row] // 2 * 2
        size = plain_units(buf, pos, end, out, at)
        pos += 2 * size
        at += size
        while pos < end:
            unit = buf[pos] | buf[pos + 1] << 8
            pos += 2
            if unit < 0x80:
                out[at] = unit
                at += 1
            elif unit < 0x800:
                out[at] = 0xC0 | unit >> 6
                out[at + 1] = 0x80 | unit & 0x3F
                at += 2
            else:
                if 0xD800 <= unit < 0xE000:
                    low = 0
                    if unit < 0xDC00 and pos < end:
                        low = buf[pos] | buf[pos + 1] << 8
                    if 0xDC00 <= low < 0xE000:
                        pos += 2
                        unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)
                        out[at] = 0xF0 | unit >> 18
                        out[at + 1] = 0x80 | unit >> 12 & 0x3F
                        out[at + 2] = 0x80 | unit >> 6 & 0x3F
                        out[at + 3] = 0x80 | unit & 0x3F
                        at += 4
                        continue
                    unit = 0xFFFD
                out[at] = 0xE0 | unit >> 12
                out[at + 1] = 0x80 | unit >> 6 & 0x3F
                out[at + 2] = 0x80 | unit & 0x3F
                at += 3
        ends[row] = at
        row += 1
    return at


def gather(buf: bytes, rows: int, starts: list[int], lengths: list[int], out: bytearray) -> int:
    """Bytes `lengths[i]` at `starts[i]`, one behind the other; returns how many were written."""
    at = 0
    row = 0
    while row < rows:
        size = lengths[row]
        move(buf, starts[row], out, at, size)
        at += size
        row += 1
    return at


def pick(buf: bytes, rows: int, places: list[int], size: int, out: bytearray) -> None:
    """`size` bytes at each of these places, one value behind the other."""
    row = 0
    while row < rows:
        move(buf, places[row], out, row * size, size)
        row += 1


def arrange(rows: int, kinds: list[int], size: int, ends: list[int], order: list[int]) -> None:
    """Row numbers by kind into `order`, rising within each; those of kind k end at `ends[k]`, which must be 0 at first.

    Every kind is at least 0 and below `size`.
    """
    row = 0
    while row < rows:
        ends[kinds[row]] += 1
        row += 1
    kind = 0
    at = 0
    while kind < size:
        row = ends[kind]
        ends[kind] = at
        at += row
        kind += 1
    row = 0
    while row < rows:
        kind = kinds[row]
        at = ends[kind]
        order[at] = row
        ends[kind] = at + 1
        row += 1
