"""Kernel 1: the compressed event headers of blocks, into integer columns; and counting by kind and by thread.

Integers in, integers out: makes no objects, raises nothing, touches no payload. The caller pads the buffer
with PADDING bytes after `end`, so that no header reads outside it (docs/format.md, "Compressed event headers").
Times, thread ids and sequence numbers wrap as unsigned 64- and 32-bit numbers do.
"""

PADDING = 96
# Taken into local variables: in the compiled engine a literal beyond 31 bits is a Python object, each time.
TOP = 0xFFFFFFFFFFFFFFFF
SIGN = 0x8000000000000000
WORD = 0xFFFFFFFF
# The function body has these as plain numbers: in the compiled engine a name would be a look-up for each event.
DONE = 0
FULL = 1
TRUNCATED = 2
BAD_VARINT = 3

# Places in `state`, which carries the running values from one call to the next within a block.
POS = 0
ROWS = 1
RUNS = 2
MARKS = 3
METADATA = 4
SEQUENCE = 5
CAPTURE = 6
PROCESSOR = 7
THREAD = 8
STACK = 9
TIME = 10
SIZE = 11
SORTED = 12
HAS_SORTED = 13
STATE = 14


def scan(
    buf: bytes,
    end: int,
    base: int,
    first: int,
    max_rows: int,
    labels: bool,
    state: list[int],
    columns: list[list[int]],
    runs: list[int],
    marks: list[int],
) -> int:
    """Scan from `state[POS]` until `end` or `max_rows`; returns a status, leaves counts in `state`.

    Rows are written from place `first` of the columns on: metadata id, thread id, stack id, time, offset (counted from
    where `buf` has `base`) and size. The counts of rows, runs and marks in `state` say how many are there already.
    `runs` gets (row, capture thread, sequence, processor) where a capture thread's run of rows begins;
    `marks` gets (row, flags, offset) where 16-byte activity ids stand in the bytes, or, with `labels`,
    (row, flags, label list id) where the label list changes. On TRUNCATED and BAD_VARINT `state[POS]` is the
    start of the event that could not be read.
    """
    metadata_ids = columns[0]
    thread_ids = columns[1]
    stack_ids = columns[2]
    times = columns[3]
    offsets = columns[4]
    sizes = columns[5]
    top = TOP
    word = WORD
    pos = state[POS]
    metadata_id = state[METADATA]
    sequence = state[SEQUENCE]
    capture = state[CAPTURE]
    processor = state[PROCESSOR]
    thread = state[THREAD]
    stack = state[STACK]
    time = state[TIME]
    size = state[SIZE]
    latest = state[SORTED]
    has_sorted = state[HAS_SORTED]
    row = first + state[ROWS]
    full = first + max_rows
    run = state[RUNS]
    mark = state[MARKS]
    marked = mark
    fresh = 1
    status = 0
    start = pos
    while pos < end:
        if row == full:
            status = 1
            break
        start = pos
        flags = buf[pos]
        pos += 1
        if flags & 1:
            b = buf[pos]
            pos += 1
            metadata_id = b
            if b > 127:
                metadata_id = b & 127
                shift = 7
                while b > 127 and shift < 35:
                    b = buf[pos]
                    pos += 1
                    metadata_id |= (b & 127) << shift
                    shift += 7
                metadata_id &= word
                if b > 127:
                    status = 3
                    break
        if flags & 2:
            b = buf[pos]
            pos += 1
            delta = b
            if b > 127:
                delta = b & 127
                shift = 7
                while b > 127 and shift < 35:
                    b = buf[pos]
                    pos += 1
                    delta |= (b & 127) << shift
                    shift += 7
                if b > 127:
                    status = 3
                    break
            sequence += delta + 1
            b = buf[pos]
            pos += 1
            capture = b
            if b > 127:
                capture = b & 127
                shift = 7
                while b > 127 and shift < 70:
                    b = buf[pos]
                    pos += 1
                    capture |= (b & 127) << shift
                    shift += 7
                capture &= top
                if b > 127:
                    status = 3
                    break
            b = buf[pos]
            pos += 1
            processor = b
            if b > 127:
                processor = b & 127
                shift = 7
                while b > 127 and shift < 35:
                    b = buf[pos]
                    pos += 1
                    processor |= (b & 127) << shift
                    shift += 7
                processor &= word
                if b > 127:
                    status = 3
                    break
            fresh = 1
        elif metadata_id:
            sequence += 1
        else:
            fresh = 1
        if flags & 4:
            b = buf[pos]
            pos += 1
            thread = b
            if b > 127:
                thread = b & 127
                shift = 7
                while b > 127 and shift < 70:
                    b = buf[pos]
                    pos += 1
                    thread |= (b & 127) << shift
                    shift += 7
                thread &= top
                if b > 127:
                    status = 3
                    break
        if flags & 8:
            b = buf[pos]
            pos += 1
            stack = b
            if b > 127:
                stack = b & 127
                shift = 7
                while b > 127 and shift < 35:
                    b = buf[pos]
                    pos += 1
                    stack |= (b & 127) << shift
                    shift += 7
                stack &= word
                if b > 127:
                    status = 3
                    break
        b = buf[pos]
        pos += 1
        if b < 128:
            time += b
        else:
            delta = b & 127
            shift = 7
            while b > 127 and shift < 70:
                b = buf[pos]
                pos += 1
                delta |= (b & 127) << shift
                shift += 7
            time += delta
            if b > 127:
                status = 3
                break
        if time > top:
            time &= top
        if flags & 48:
            marks[mark] = row - first
            marks[mark + 1] = flags & 48
            marks[mark + 2] = pos
            mark += 3
            if labels:
                if flags & 16:
                    b = buf[pos]
                    pos += 1
                    label = b
                    if b > 127:
                        label = b & 127
                        shift = 7
                        while b > 127 and shift < 35:
                            b = buf[pos]
                            pos += 1
                            label |= (b & 127) << shift
                            shift += 7
                        label &= word
                        if b > 127:
                            status = 3
                            break
                    marks[mark - 1] = label
            else:
                if flags & 16:
                    pos += 16
                if flags & 32:
                    pos += 16
        if flags & 128:
            b = buf[pos]
            pos += 1
            size = b
            if b > 127:
                size = b & 127
                shift = 7
                while b > 127 and shift < 35:
                    b = buf[pos]
                    pos += 1
                    size |= (b & 127) << shift
                    shift += 7
                size &= word
                if b > 127:
                    status = 3
                    break
        if pos > end or size > end - pos:
            status = 2
            break
        if flags & 64:
            latest = time
            has_sorted = 1
        if fresh:
            fresh = 0
            runs[run] = row - first
            runs[run + 1] = capture
            runs[run + 2] = sequence & word
            runs[run + 3] = processor
            run += 4
        metadata_ids[row] = metadata_id
        thread_ids[row] = thread
        stack_ids[row] = stack
        times[row] = time
        offsets[row] = base + pos
        sizes[row] = size
        row += 1
        pos += size
    if status > 1:
        if pos > end:
            # What stands behind the block is no part of it: whatever it says, the block is too short.
            status = 2
        pos = start
        if mark > marked and marks[mark - 3] == row - first:
            mark -= 3
    state[POS] = pos
    state[ROWS] = row - first
    state[RUNS] = run
    state[MARKS] = mark
    state[METADATA] = metadata_id
    state[SEQUENCE] = sequence & word
    state[CAPTURE] = capture
    state[PROCESSOR] = processor
    state[THREAD] = thread
    state[STACK] = stack
    # Where the last varint was bad, nobody has cut it to size.
    state[TIME] = time & top
    state[SIZE] = size
    state[SORTED] = latest
    state[HAS_SORTED] = has_sorted
    return status


def together(
    buf: bytes,
    count: int,
    bodies: list[int],
    base: int,
    first: int,
    max_rows: int,
    labels: bool,
    state: list[int],
    columns: list[list[int]],
    runs: list[int],
    marks: list[int],
    heads: list[int],
) -> int:
    """Scan `count` blocks, each from a fresh start, up to the first that is not sound or has no room.

    Of the three numbers of each in `bodies`, the last two are where its header starts and where it stops. `heads` gets
    six of each that has events: the numbers of rows, and of integers in `runs` and `marks`, after it, its first and
    last tick, and its first number in `bodies`; and behind the room for all blocks, how many of these there are.
    Returns how many blocks were scanned.
    """
    sign = SIGN
    done = 0
    kept = 0
    most = 0
    while done < count:
        start = bodies[3 * done + 1]
        stop = bodies[3 * done + 2]
        length = buf[start] | buf[start + 1] << 8
        flags = buf[start + 2] | buf[start + 3] << 8
        if length < 20 or length > stop - start or not flags & 1:
            break
        low = 0
        high = 0
        at = 8
        while at:
            at -= 1
            low = low << 8 | buf[start + 4 + at]
            high = high << 8 | buf[start + 12 + at]
        # Of flags that are not known the salvage wants to see more.
        if labels and (flags > 3 or low ^ sign > high ^ sign):
            break
        rows = state[1]
        # A block that is begun in vain is read twice.
        if rows and rows + most > max_rows:
            break
        # What is sorted, is so in all blocks.
        at = 4
        while at < 12:
            state[at] = 0
            at += 1
        state[0] = start + length
        if scan(buf, stop, base, first, max_rows, labels, state, columns, runs, marks):
            break
        rows = state[1] - rows
        if rows:
            if rows > most:
                most = rows
            at = 0
            while at < 3:
                heads[6 * kept + at] = state[1 + at]
                at += 1
            heads[6 * kept + 3] = low
            heads[6 * kept + 4] = high
            heads[6 * kept + 5] = bodies[3 * done]
            kept += 1
        done += 1
    heads[6 * count] = kept
    return done


def tally(
    rows: int,
    values: list[int],
    table: list[int],
    size: int,
    thread_ids: list[int],
    times: list[int],
    counts: list[int],
    used: int,
    threads: list[int],
    sums: list[int],
    latest: list[int],
) -> int:
    """Count rows by kind into `counts`, and by thread into `threads` and `sums`: rows, first and last time of each.

    A row's kind is `table[value]`; where one has none (the table, of `size`, lacks it or has it below zero) nothing is
    counted and -1 returned. The first `used` threads are there already; returns how many are then. `counts` must be
    long enough, and there must be room for one more thread a row. A thread not seen for a while comes again.
    `latest[0]` is the latest time of all that was counted.
    """
    row = 0
    while row < rows:
        value = values[row]
        if value < 0 or value >= size or table[value] < 0:
            while row:
                row -= 1
                counts[table[values[row]]] -= 1
            return -1
        counts[table[value]] += 1
        row += 1
    row = 0
    while row < rows:
        thread = thread_ids[row]
        at = used - 1
        last = used - 16
        if last < 0:
            last = 0
        while at >= last and threads[at] != thread:
            at -= 1
        low = times[row]
        high = low
        if at < last:
            at = used
            used += 1
            threads[at] = thread
            sums[3 * at] = 0
        else:
            low = sums[3 * at + 1]
            high = sums[3 * at + 2]
        first = row
        while row < rows and thread_ids[row] == thread:
            time = times[row]
            if time < low:
                low = time
            if time > high:
                high = time
            row += 1
        sums[3 * at] += row - first
        sums[3 * at + 1] = low
        sums[3 * at + 2] = high
        if high > latest[0]:
            latest[0] = high
    return used


def unpack(
    buf: bytes,
    base: int,
    metadata: int,
    head: int,
    forms: list[int],
    buffers: list[int],
    count: int,
    state: list[int],
    kinds: list[int],
    threads: list[int],
    times: list[int],
    offsets: list[int],
    sizes: list[int],
    ends: list[int],
) -> int:
    """The sub-events of `count` packed buffers: kind, thread, time, offset (from `base` on) and size of each, those of
    a buffer behind the buffer itself, which has number 0.

    `forms` has, by number, the bytes of the length of each one's payload, -1 where it is unknown; then the kind of
    each, -2 where that is to be looked up. `buffers` has six numbers of each: where it starts, with `head` bytes
    before its sub-events, and where it ends, its first and its last time, how many sub-events it has, and its thread.
    `state` is where to go on, 0 for a buffer that is not begun, the next row, the time before, the next buffer, and the
    row after its last. `ends` gets the row behind each buffer, -1 for one that does not add up, whose rows are taken
    back.

    Returns 0 at the end, 1 after a sub-event `metadata`, which may change the forms, 2 after a buffer that does not add
    up, and 3 where the kind of `buf[state[0]]` is to be looked up.
    """
    which = state[3]
    while which < count:
        at = 6 * which
        thread = buffers[at + 5]
        if state[0] == 0:
            row = state[1]
            kinds[row] = forms[256]
            threads[row] = thread
            times[row] = buffers[at + 2]
            offsets[row] = base + buffers[at]
            sizes[row] = head
            state[0] = buffers[at] + head
            state[1] = row + 1
            state[2] = buffers[at + 2]
            state[4] = row + 1 + buffers[at + 4]
        pos = state[0]
        row = state[1]
        time = state[2]
        full = state[4]
        end = buffers[at + 1]
        latest = buffers[at + 3]
        status = 0
        while pos < end and status == 0:
            start = pos
            number = buf[pos]
            pos += 1
            width = forms[number]
            delta = 0
            shift = 0
            more = 128
            while more and shift < 63 and pos < end:
                b = buf[pos]
                pos += 1
                delta |= (b & 127) << shift
                more = b & 128
                shift += 7
            size = 0
            if more or width < 0 or width > end - pos or row == full or delta > latest - time:
                status = 2
            else:
                if width > 0:
                    size = buf[pos]
                if width > 1:
                    size |= buf[pos + 1] << 8
                pos += width
                if size > end - pos:
                    status = 2
                elif forms[256 + number] == -2:
                    status = 3
                    pos = start
                else:
                    time += delta
                    kinds[row] = forms[256 + number]
                    threads[row] = thread
                    times[row] = time
                    offsets[row] = base + pos
                    sizes[row] = size
                    row += 1
                    pos += size
                    if number == metadata:
                        status = 1
        state[0] = pos
        state[1] = row
        state[2] = time
        if status == 1 or status == 3:
            return status
        ends[which] = row
        if status == 2 or row != full:
            status = 2
            state[1] = full - 1 - buffers[at + 4]
            ends[which] = -1
        state[0] = 0
        which += 1
        state[3] = which
        if status:
            return status
    return 0
