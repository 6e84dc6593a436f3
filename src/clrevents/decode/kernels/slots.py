"""Kernel 3: objects of slotted classes: records straight from the bytes of payloads, and events around them.

Reads nothing outside the payloads that it is given, and makes no record of one that does not fit. Knows places and
widths; what a field means, and what is wrong with a payload, is others' business. The names that are defined nowhere
are functions of C (slots.h). No engine runs this file by Python; our tests do, with functions that do the same.
"""

# ruff: noqa: F821
# mypy: disable-error-code="name-defined, type-arg, no-any-return"

# Fields of a program: eight numbers each, (operation, padding in front, least size, a, b, c, d, e). Every operation
# first checks that the least size is there. Numbers that count something are kept as `counts[a]` unless a is negative.
# The body has the operations as plain numbers.
UNSIGNED = 0
SIGNED = 1
CONVERTED = 2  # what part b makes of the number, which has a sign if c
BOOL = 3
REAL = 4
TEXT16 = 5  # UTF-16 up to a zero unit
TEXT8 = 6  # bytes up to a zero byte
GUID = 7  # an object of the shape that is part b, with a number, and part c
RAW = 8  # what part b makes of these bytes
NUMBER = 9  # one to ten bytes, seven bits each; zigzag if a is 1; if more, zigzag and added to `counts[a - 2]`, where
# its value is left: in the first element of an array it is that value
# Where there are many of something, a says how many: `counts[a]`, where it is -1 a 16-bit count that comes first, and
# where it is less, -2 - a.
SPAN = 10  # units of c bytes: bytes if b is 0, else text of units of b bytes
ARRAY = 11  # elements of at least c bytes, exactly those if d, each as the field at b says
STRUCT = 12  # an object of the shape that is part a; its c fields begin at b
WIDTH = 8
# How many numbers a layout can keep as counts.
COUNTS = 16
# Distinct threads and kinds that are recognized at once, and numbers and texts; powers of two.
KNOWN = 64
SHARED = 256
UNKNOWN_ENTRY = -2
TOP = 0xFFFFFFFFFFFFFFFF


class SlottedClass:
    """A slotted class and its slots, in the order in which they are filled. No `__new__` and no `__init__` runs.

    `closed` if its objects are nothing but these slots, so that one that nobody has any more can be filled again.
    """

    def __init__(self, cls: type, setters: list) -> None:
        self.slots = located(cls, setters)
        self.cls = cls
        self.closed = closed(cls, self.slots)


class SharedValues:
    """The texts and arrays that were made last, for fields with the same again; room for `SHARED`.

    A value is known by where it was in its bytes, and by who reads these: a field of a program, of which arrays are.
    """

    def __init__(self, starts: list[int], sizes: list[int], fields: list[int], programs: list, values: list) -> None:
        self.starts = starts
        self.sizes = sizes
        self.fields = fields
        self.programs = programs
        self.values = values

    def place(self, buf: bytes, pos: int, size: int) -> int:
        """Where a value of so many bytes belongs, at least one."""
        few = 8 if size > 8 else size
        mixed = natural_at(buf, pos, few) ^ natural_at(buf, pos + size - few, few) ^ size
        return (mixed ^ mixed >> 13 ^ mixed >> 30 ^ mixed >> 47) & 255

    def find(self, place: int, buf: bytes, pos: int, size: int, program: object, field: int) -> object:
        """The value at this place if it is the same, else None."""
        if (
            self.values[place] is not None
            and self.sizes[place] == size
            and self.programs[place] is program
            and self.fields[place] == field
            and same(buf, self.starts[place], pos, size)
        ):
            return self.values[place]
        return None

    def keep(self, place: int, pos: int, size: int, program: object, field: int, value: object) -> None:
        """Put a value into its place."""
        self.starts[place] = pos
        self.sizes[place] = size
        self.programs[place] = program
        self.fields[place] = field
        self.values[place] = value


class ReadPlace:
    """Where the reading of a payload is, negative if it did not fit, and the counts of its fields so far.

    `first` unless it is in an element that follows another.
    """

    def __init__(self, buf: bytes, counts: list[int], shared: SharedValues) -> None:
        self.buf = buf
        self.counts = counts
        self.counts_at = place_of(counts)
        self.counts_room = len(counts)
        self.shared = shared
        self.pos = 0
        self.first = True


class FieldProgram:
    """A layout: its fields, which are the first `fields` of the program, and the size of a payload, -1 if it varies.

    `luck` has room for a number a field: above -32 if values are worth looking up among those that were made before.
    So has `runs`: how many fields from this one on are numbers that count nothing, as most are.
    """

    def __init__(self, code: list[int], parts: list, fields: int, size: int, luck: list[int], runs: list[int]) -> None:
        self.code = code
        self.code_at = place_of(code)
        self.luck = luck
        self.runs = runs
        self.parts = parts
        self.fields = fields
        self.size = size
        self.find_runs()

    def find_runs(self) -> int:
        """Set `runs`. Raises IndexError if it or `luck` has too little room."""
        at = len(self.code) // 8 - 1
        run = 0
        while at >= 0:
            op = self.code[8 * at]
            if op == 4 or op == 9 or ((op == 0 or op == 1 or op == 3) and self.code[8 * at + 3] < 0):
                run += 1
            else:
                run = 0
            self.runs[at] = run
            self.luck[at] = 0
            at -= 1
        return 0

    def record(self, cursor: ReadPlace, shape: SlottedClass, item: object, at: int, fields: int, end: int) -> object:
        """Fill `item`, an object whose fields are described from `at` on, and return it; None if it does not fit.

        If `item` is None, nothing is made.
        """
        make = item is not None
        slot = 0
        while slot < fields:
            run = self.runs[at >> 3]
            if run > 0 and not at & 7:
                # Without a call for each.
                if run > fields - slot:
                    run = fields - slot
                pos = run_of_numbers(
                    self.code_at,
                    cursor.counts_at,
                    cursor.counts_room,
                    cursor.first,
                    shape.slots,
                    slot,
                    at,
                    run,
                    item,
                    cursor.buf,
                    cursor.pos,
                    end,
                )
                cursor.pos = pos
                if pos < 0:
                    return None
                slot += run
                at += 8 * run
            else:
                value = self.value(cursor, at, end, make)
                if cursor.pos < 0:
                    return None
                if make:
                    put(shape.slots, slot, item, value)
                slot += 1
                at += 8
        return item

    def value(self, cursor: ReadPlace, at: int, end: int, make: bool) -> object:
        """The value of one field, which must not go beyond `end`; None as in `record`."""
        op = self.code[at]
        pos = cursor.pos + self.code[at + 1]
        size = self.code[at + 2]
        if size > end - pos:
            cursor.pos = -1
            return None
        a = self.code[at + 3]
        if op < 4:
            cursor.pos = pos + size
            if op == 1 or (op == 2 and self.code[at + 5]):
                number = signed_at(cursor.buf, pos, size)
                if a >= 0:
                    cursor.counts[a] = number
                if make:
                    return number if op == 1 else self.parts[self.code[at + 4]](number)
            elif make or a >= 0:
                natural = natural_at(cursor.buf, pos, size)
                if a >= 0:
                    cursor.counts[a] = counted(natural)
                if make:
                    if op == 0:
                        return natural
                    return natural != 0 if op == 3 else self.parts[self.code[at + 4]](natural)
            return None
        if op == 5:
            stop = zero_unit(cursor.buf, pos, end)
            cursor.pos = stop + 2 if stop >= 0 else -1
            if not make or stop < 0:
                return None
            if stop - pos > 7 and self.lucky(at >> 3):
                return self.text(cursor.shared, at >> 3, cursor.buf, pos, stop - pos)
            return text16(cursor.buf, pos, stop - pos)
        if op == 6:
            stop = zero_byte(cursor.buf, pos, end)
            cursor.pos = stop + 1 if stop >= 0 else -1
            return text8(cursor.buf, pos, stop - pos) if make and stop >= 0 else None
        if op == 9:
            return self.varint(cursor, pos, end, a, make)
        if op >= 10 and op < 12:
            return self.many(cursor, at, pos, end, make)
        if op == 12:
            cursor.pos = pos
            shape = self.parts[a]
            item = create(shape.cls) if make else None
            return self.record(cursor, shape, item, self.code[at + 4], self.code[at + 5], end)
        cursor.pos = pos + size
        if not make:
            return None
        if op == 4:
            return real(cursor.buf, pos, size)
        if op == 7:
            shape = self.parts[self.code[at + 4]]
            item = create(shape.cls)
            put(shape.slots, 0, item, guid(cursor.buf, pos))
            put(shape.slots, 1, item, self.parts[self.code[at + 5]])
            return item
        return self.parts[self.code[at + 4]](octets(cursor.buf, pos, size))

    def lucky(self, field: int) -> bool:
        """Whether values of a field may be known. Where they mostly are not, one in thousands is tried again."""
        luck = self.luck[field]
        if luck > -32:
            return True
        self.luck[field] = 0 if luck < -4096 else luck - 1
        return False

    def tried(self, field: int, found: object) -> object:
        """What was found of a field, which may be nothing."""
        if found is None:
            self.luck[field] -= 1
        elif self.luck[field] < 32:
            self.luck[field] += 1
        return found

    def text(self, shared: SharedValues, field: int, buf: bytes, pos: int, size: int) -> object:
        """UTF-16 of at least eight bytes, the text that was made last if it is the same."""
        place = shared.place(buf, pos, size)
        found = self.tried(field, shared.find(place, buf, pos, size, None, 0))
        if found is None:
            found = text16(buf, pos, size)
            shared.keep(place, pos, size, None, 0, found)
        return found

    def varint(self, cursor: ReadPlace, pos: int, end: int, how: int, make: bool) -> object:
        """A number of one to ten bytes, modulo 2 ** 64."""
        top = TOP
        natural = 0
        shift = 0
        more = 1
        while more and shift < 70 and pos < end:
            byte = natural_at(cursor.buf, pos, 1)
            pos += 1
            natural |= (byte & 127) << shift
            shift += 7
            more = byte & 128
        cursor.pos = -1 if more else pos
        if more or not make:
            return None
        natural &= top
        if how == 1:
            return unfolded(natural)
        if how > 1:
            if not cursor.first:
                natural = natural_sum(cursor.counts[how - 2], unfolded(natural))
            cursor.counts[how - 2] = counted(natural)
        return natural

    def many(self, cursor: ReadPlace, at: int, pos: int, end: int, make: bool) -> object:
        """Bytes, text, or a tuple."""
        how = self.code[at + 3]
        if how >= 0:
            count = cursor.counts[how]
        elif how == -1:
            count = natural_at(cursor.buf, pos, 2)
            pos += 2
        else:
            count = -2 - how
        size = self.code[at + 5]
        if count < 0 or count > (end - pos) // size:
            cursor.pos = -1
            return None
        kind = self.code[at + 4]
        if self.code[at] == 10:
            size *= count
            cursor.pos = pos + size
            if not make:
                return None
            if kind == 0:
                return octets(cursor.buf, pos, size)
            return text16(cursor.buf, pos, size) if kind == 2 else replaced(cursor.buf, pos, size)
        cursor.pos = pos
        if not make:
            if self.code[at + 6]:
                cursor.pos = pos + size * count
            else:
                self.elements(cursor, kind, count, end, False)
            return None
        if not count or size * count > 256 or not self.lucky(at >> 3):
            return self.elements(cursor, kind, count, end, True)
        # Known values are known by all their bytes.
        self.elements(cursor, kind, count, end, False)
        size = cursor.pos - pos
        if size <= 0 or size > 256:
            cursor.pos = pos
            return self.elements(cursor, kind, count, end, True)
        place = cursor.shared.place(cursor.buf, pos, size)
        found = self.tried(at >> 3, cursor.shared.find(place, cursor.buf, pos, size, self, at))
        if found is None:
            cursor.pos = pos
            found = self.elements(cursor, kind, count, end, True)
            cursor.shared.keep(place, pos, size, self, at, found)
        return found

    def elements(self, cursor: ReadPlace, kind: int, count: int, end: int, make: bool) -> object:
        """A tuple of so many elements, each as the field at `kind` says; None as in `record`."""
        made = []
        first = cursor.first
        cursor.first = True
        while count > 0:
            value = self.value(cursor, kind, end, make)
            cursor.first = False
            if cursor.pos < 0:
                break
            if make:
                made.append(value)
            count -= 1
        cursor.first = first
        return sealed(made) if make and not count else None


class FittingPayloads:
    """The payloads `buf[starts[i]:ends[i]]` of a batch, and the records of those that fit.

    Those of kind k have the program and the shape at `entries[k]`; none where that is -1, and where it is -2 that is
    still to be found out. `fit` is 1 for those whose record can be made; the others are in `singles`. `counts` is room
    for `COUNTS`.
    """

    def __init__(
        self,
        buf: bytes,
        programs: list,
        shapes: list,
        entries: list[int],
        kinds: list[int],
        starts: list[int],
        ends: list[int],
        fit: list[int],
        singles: dict,
        shared: SharedValues,
        counts: list[int],
    ) -> None:
        self.buf = buf
        self.programs = programs
        self.shapes = shapes
        self.entries = entries
        self.kinds = kinds
        self.starts = starts
        self.ends = ends
        self.fit = fit
        self.singles = singles
        self.shared = shared
        self.counts = counts
        self.last: list = []
        self.busy = False

    def check(self, row: int, last: int) -> int:
        """Set `fit` for the rows up to `last`, or to one whose entry is still to be found out: returns where."""
        cursor = ReadPlace(self.buf, self.counts, self.shared)
        size = len(self.buf)
        known = -1
        program = None
        while row < last:
            entry = self.entries[self.kinds[row]]
            fits = 0
            if entry >= 0:
                if entry != known or program is None:
                    program = self.programs[entry]
                    known = entry
                start = self.starts[row]
                end = self.ends[row]
                if start < 0 or end < start or end > size:
                    raise IndexError("a payload outside its bytes")
                if program.size >= 0:
                    fits = end - start == program.size
                else:
                    cursor.pos = start
                    program.record(cursor, self.shapes[entry], None, 0, program.fields, end)
                    fits = cursor.pos == end
            elif entry == -2:
                break
            self.fit[row] = fits
            row += 1
        return row

    def read(self, row: int, last: int) -> list:
        """The records of the rows up to `last`.

        Those of the list made before that nobody else has are filled again at the same place, if nobody has that list.
        """
        if self.busy:
            # Another thread, while a part of a program ran in Python.
            raise RuntimeError("these payloads are already being read")
        self.busy = True
        try:
            old = self.last
            self.last = []
            made = self.records(row, last, old if sole(old) else [])
            self.last = made
            return made
        finally:
            self.busy = False

    def records(self, row: int, last: int, old: list) -> list:
        """The same, by one caller at a time."""
        cursor = ReadPlace(self.buf, self.counts, self.shared)
        size = len(self.buf)
        made = [None] * (last - row if last > row else 0)
        place = 0
        known = -1
        program = None
        # Records without fields, by their entry: one is like the other.
        blanks = [None] * len(self.programs)
        while row < last:
            if self.fit[row]:
                entry = self.entries[self.kinds[row]]
                if entry != known or program is None:
                    program = self.programs[entry]
                    shape = self.shapes[entry]
                    known = entry
                start = self.starts[row]
                end = self.ends[row]
                if start < 0 or end < start or end > size:
                    raise IndexError("a payload outside its bytes")
                cursor.pos = start
                record = blanks[entry]
                if record is None:
                    item = old[place] if shape.closed and idle(old, place, shape.cls) else create(shape.cls)
                    record = program.record(cursor, shape, item, 0, program.fields, end)
                    if not program.fields and shape.closed:
                        blanks[entry] = record
                if cursor.pos != end:
                    raise ValueError("a payload that does not fit")
                made[place] = record
            else:
                made[place] = self.singles.get(row)
            row += 1
            place += 1
        forget(made)
        return made


class EventFiller:
    """What the events of a batch show without being asked: time, thread and name.

    Times are numbers, or `exact` where these have no room for them. `kinds[i]` is a place in `every`, whose `key.name`
    is the name. If `missing`, the largest thread is none, and shown as -1. The last four are room for `KNOWN` numbers
    and objects each: integers and names are shared by the events that have the same.
    """

    def __init__(
        self,
        shape: SlottedClass,
        every: list,
        kinds: list[int],
        times: list[int],
        exact: list,
        threads: list[int],
        missing: bool,
        thread_keys: list[int],
        kind_keys: list[int],
        thread_ids: list,
        names: list,
    ) -> None:
        self.shape = shape
        self.every = every
        self.kinds = kinds
        self.times = times
        self.exact = exact
        self.threads = threads
        self.missing = missing
        self.thread_keys = thread_keys
        self.kind_keys = kind_keys
        self.thread_ids = thread_ids
        self.names = names
        self.last: list = []

    def events(self, rows: object, first: int, payloads: list) -> list:
        """The events of the rows from `first` on, which are the rows 0, 1, … of `rows`.

        Slots are (rows, row, time, thread, name, payload). Those made before that nobody else has are filled again, if
        nobody has their list either; what was their payload is in `payloads` then.
        """
        old = self.last
        self.last = []
        spares = len(old) if self.shape.closed and sole(old) else 0
        count = len(payloads)
        made = old if spares == count else [None] * count
        top = TOP
        row = 0
        slots = self.shape.slots
        cls = self.shape.cls
        while row < count:
            item = old[row] if row < spares and idle(old, row, cls) else create(cls)
            time = self.times[first] if self.exact is None else self.exact[first]
            thread = self.threads[first]
            place = thread & 63
            number = self.thread_ids[place]
            if number is None or self.thread_keys[place] != thread:
                number = -1 if self.missing and thread == top else thread
                self.thread_keys[place] = thread
                self.thread_ids[place] = number
            kind = self.kinds[first]
            place = kind & 63
            name = self.names[place]
            if name is None or self.kind_keys[place] != kind:
                name = self.every[kind].key.name
                self.kind_keys[place] = kind
                self.names[place] = name
            five(slots, item, rows, row, time, number, name)
            exchange(slots, 5, item, payloads, row)
            made[row] = item
            row += 1
            first += 1
        if made is not old:
            forget(made)
        self.last = made
        return made
