# The types that make the compiled engine fast, and the functions of slots.h; the algorithm is in slots.py.
cimport cython

ctypedef unsigned long long u64

cdef extern from "slots.h":
    object create "clrevents_create"(object cls)
    void forget "clrevents_forget"(object made)
    bytes located "clrevents_located"(object cls, list setters)
    bint closed "clrevents_closed"(object cls, bytes slots)
    Py_ssize_t run_of_numbers "clrevents_numbers"(
        size_t codes, size_t counts, Py_ssize_t room, bint first, bytes slots, Py_ssize_t slot, Py_ssize_t at, Py_ssize_t run, object item, bytes buf, Py_ssize_t pos, Py_ssize_t end
    ) except -2
    bint sole "clrevents_sole"(list items)
    int five "clrevents_five"(bytes slots, object item, object a, object b, object c, object d, object e) except -1
    int exchange "clrevents_exchange"(bytes slots, Py_ssize_t k, object item, list items, Py_ssize_t at) except -1
    bint idle "clrevents_idle"(list items, Py_ssize_t at, object cls)
    int put "clrevents_put"(bytes slots, Py_ssize_t k, object item, object value) except -1
    u64 natural_at "clrevents_number"(bytes buf, Py_ssize_t pos, Py_ssize_t size)
    long long signed_at "clrevents_signed"(bytes buf, Py_ssize_t pos, Py_ssize_t size)
    long long unfolded "clrevents_unfolded"(u64 number)
    long long counted "(long long)"(u64 number)
    double real "clrevents_real"(bytes buf, Py_ssize_t pos, Py_ssize_t size)
    Py_ssize_t zero_unit "clrevents_zero_unit"(bytes buf, Py_ssize_t pos, Py_ssize_t end)
    Py_ssize_t zero_byte "clrevents_zero_byte"(bytes buf, Py_ssize_t pos, Py_ssize_t end)
    object text16 "clrevents_text16"(bytes buf, Py_ssize_t pos, Py_ssize_t size)
    object text8 "clrevents_text8"(bytes buf, Py_ssize_t pos, Py_ssize_t size)
    object replaced "clrevents_replaced"(bytes buf, Py_ssize_t pos, Py_ssize_t size)
    object octets "clrevents_octets"(bytes buf, Py_ssize_t pos, Py_ssize_t size)
    object guid "clrevents_guid"(bytes buf, Py_ssize_t pos)
    bint same "clrevents_same"(bytes buf, Py_ssize_t one, Py_ssize_t other, Py_ssize_t size)
    object sealed "clrevents_sealed"(list made)


cdef inline u64 natural_sum(long long one, long long other):
    return <u64>one + <u64>other


# Where numbers are in memory, for functions of C; whoever has it keeps the numbers too.
cdef inline size_t place_of(const long long[::1] numbers):
    return <size_t>&numbers[0] if numbers.shape[0] else 0



@cython.final
cdef class SlottedClass:
    cdef object cls
    cdef bint closed
    cdef bytes slots


@cython.final
cdef class SharedValues:
    cdef long long[::1] starts
    cdef long long[::1] sizes
    cdef long long[::1] fields
    cdef list programs
    cdef list values

    @cython.locals(few=cython.Py_ssize_t, mixed=u64)
    cdef size_t place(self, bytes buf, Py_ssize_t pos, Py_ssize_t size)

    cdef object find(
        self, size_t place, bytes buf, Py_ssize_t pos, Py_ssize_t size, object program, Py_ssize_t field
    )

    cdef int keep(
        self, size_t place, Py_ssize_t pos, Py_ssize_t size, object program, Py_ssize_t field, object value
    ) except -1


@cython.final
cdef class ReadPlace:
    cdef bytes buf
    cdef SharedValues shared
    cdef long long[::1] counts
    cdef size_t counts_at
    cdef Py_ssize_t counts_room
    cdef Py_ssize_t pos
    cdef bint first


@cython.final
cdef class FieldProgram:
    cdef const long long[::1] code
    cdef long long[::1] luck
    cdef size_t code_at
    cdef long long[::1] runs
    cdef list parts
    cdef Py_ssize_t fields
    cdef Py_ssize_t size

    @cython.locals(at=cython.Py_ssize_t, run=cython.longlong, op=cython.longlong)
    cdef int find_runs(self) except -1

    @cython.locals(slot=cython.Py_ssize_t, pos=cython.Py_ssize_t, run=cython.Py_ssize_t, make=cython.bint)
    cdef object record(
        self,
        ReadPlace cursor,
        SlottedClass shape,
        object item,
        Py_ssize_t at,
        Py_ssize_t fields,
        Py_ssize_t end,
    )

    @cython.locals(
        op=cython.longlong,
        pos=cython.Py_ssize_t,
        size=cython.Py_ssize_t,
        stop=cython.Py_ssize_t,
        a=cython.longlong,
        number=cython.longlong,
        natural=u64,
        shape=SlottedClass,
    )
    cdef object value(self, ReadPlace cursor, Py_ssize_t at, Py_ssize_t end, bint make)

    @cython.locals(luck=cython.longlong)
    cdef bint lucky(self, Py_ssize_t field) except -1

    cdef object tried(self, Py_ssize_t field, object found)

    @cython.locals(place=cython.size_t)
    cdef object text(self, SharedValues shared, Py_ssize_t field, bytes buf, Py_ssize_t pos, Py_ssize_t size)

    @cython.locals(top=u64, natural=u64, byte=u64, more=u64, shift=cython.uint)
    cdef object varint(self, ReadPlace cursor, Py_ssize_t pos, Py_ssize_t end, long long how, bint make)

    @cython.locals(
        how=cython.longlong, count=cython.longlong, size=cython.Py_ssize_t, kind=cython.Py_ssize_t, place=cython.size_t
    )
    cdef object many(self, ReadPlace cursor, Py_ssize_t at, Py_ssize_t pos, Py_ssize_t end, bint make)

    @cython.locals(made=list, first=cython.bint)
    cdef object elements(self, ReadPlace cursor, Py_ssize_t kind, long long count, Py_ssize_t end, bint make)


@cython.final
cdef class FittingPayloads:
    cdef bytes buf
    cdef list programs
    cdef list shapes
    cdef const long long[::1] entries
    cdef const long long[::1] kinds
    cdef const long long[::1] starts
    cdef const long long[::1] ends
    cdef unsigned char[::1] fit
    cdef dict singles
    cdef SharedValues shared
    cdef long long[::1] counts
    cdef list last
    cdef bint busy

    @cython.locals(
        cursor=ReadPlace,
        program=FieldProgram,
        size=cython.Py_ssize_t,
        entry=cython.longlong,
        known=cython.longlong,
        fits=cython.int,
        start=cython.Py_ssize_t,
        end=cython.Py_ssize_t,
    )
    cpdef Py_ssize_t check(self, Py_ssize_t row, Py_ssize_t last) except -1

    @cython.locals(old=list, made=list)
    cpdef list read(self, Py_ssize_t row, Py_ssize_t last)

    @cython.locals(
        place=cython.Py_ssize_t,
        cursor=ReadPlace,
        program=FieldProgram,
        shape=SlottedClass,
        size=cython.Py_ssize_t,
        entry=cython.longlong,
        known=cython.longlong,
        start=cython.Py_ssize_t,
        end=cython.Py_ssize_t,
        made=list,
        blanks=list,
    )
    cdef list records(self, Py_ssize_t row, Py_ssize_t last, list old)


@cython.final
cdef class EventFiller:
    cdef SlottedClass shape
    cdef list every
    cdef const long long[::1] kinds
    cdef const long long[::1] times
    cdef list exact
    cdef const u64[::1] threads
    cdef bint missing
    cdef u64[::1] thread_keys
    cdef u64[::1] kind_keys
    cdef list thread_ids
    cdef list names
    cdef list last

    @cython.locals(
        spares=cython.Py_ssize_t,
        old=list,
        made=list,
        top=u64,
        row=cython.Py_ssize_t,
        count=cython.Py_ssize_t,
        slots=bytes,
        thread=u64,
        kind=u64,
        place=cython.size_t,
    )
    cpdef list events(self, object rows, Py_ssize_t first, list payloads)
