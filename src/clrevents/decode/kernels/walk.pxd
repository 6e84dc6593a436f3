# The types that make the compiled engine fast, and the functions of texts.h; the algorithms are in walk.py alone.
cimport cython

ctypedef unsigned long long u64

cdef extern from "texts.h":
    void *memcpy(void *to, const void *source, size_t size)
    size_t clrevents_plain_units(const unsigned char *source, size_t count, unsigned char *to)
    size_t clrevents_text_end(const unsigned char *data, size_t pos, size_t end)


# They look at the bounds of all that they touch: IndexError where Cython's own look at a single place would raise it.
cdef inline int move(
    const unsigned char[::1] buf, size_t pos, unsigned char[::1] out, size_t at, size_t size
) except -1:
    cdef size_t room = <size_t>buf.shape[0], left = <size_t>out.shape[0]
    if not size:
        return 0
    if size > room or pos > room - size or size > left or at > left - size:
        raise IndexError("bytes outside of the buffer")
    memcpy(&out[at], &buf[pos], size)
    return 0


cdef inline size_t plain_units(
    const unsigned char[::1] buf, size_t pos, size_t end, unsigned char[::1] out, size_t at
) except? 0x7FFFFFFF:
    cdef size_t room = <size_t>buf.shape[0], left = <size_t>out.shape[0], count
    if end <= pos:
        return 0
    count = (end - pos) // 2
    if end > room or count > left or at > left - count:
        raise IndexError("bytes outside of the buffer")
    return clrevents_plain_units(&buf[pos], count, &out[at])


cdef inline size_t text_end(const unsigned char[::1] buf, size_t pos, size_t end) except? 0x7FFFFFFF:
    if end <= pos:
        return pos
    if end > <size_t>buf.shape[0]:
        raise IndexError("bytes outside of the buffer")
    return clrevents_text_end(&buf[0], pos, end)



@cython.locals(
    bad=cython.Py_ssize_t,
    run=cython.size_t,
    row=cython.size_t,
    pos=cython.size_t,
    end=cython.size_t,
    left=cython.Py_ssize_t,
    at=cython.size_t,
    cell=cython.size_t,
    size=cython.Py_ssize_t,
    first=cython.size_t,
    room=cython.size_t,
    wide=cython.Py_ssize_t,
    op=cython.int,
    state=cython.int,
    signed=cython.int,
    number=u64,
    top=u64,
    count=u64,
    byte=u64,
    more=u64,
    shift=cython.uint,
)
cpdef Py_ssize_t walk(
    const unsigned char[::1] buf,
    Py_ssize_t rows,
    Py_ssize_t total,
    const long long[::1] program,
    Py_ssize_t length,
    const long long[::1] starts,
    const long long[::1] ends,
    const long long[::1] repeats,
    u64[::1] cells,
    long long[::1] stops,
    long long[::1] states,
) except -1

@cython.locals(
    at=cython.size_t,
    row=cython.size_t,
    pos=cython.size_t,
    end=cython.size_t,
    size=cython.size_t,
    unit=cython.uint,
    low=cython.uint,
)
cpdef Py_ssize_t narrow(
    const unsigned char[::1] buf,
    Py_ssize_t rows,
    const long long[::1] starts,
    const long long[::1] lengths,
    unsigned char[::1] out,
    long long[::1] ends,
) except -1

@cython.locals(at=cython.size_t, row=cython.size_t, size=cython.size_t)
cpdef Py_ssize_t gather(
    const unsigned char[::1] buf,
    Py_ssize_t rows,
    const long long[::1] starts,
    const long long[::1] lengths,
    unsigned char[::1] out,
) except -1

@cython.locals(row=cython.size_t)
cpdef int pick(
    const unsigned char[::1] buf, Py_ssize_t rows, const long long[::1] places, size_t size, unsigned char[::1] out
) except -1

@cython.locals(done=cython.Py_ssize_t, size=cython.Py_ssize_t)
cpdef Py_ssize_t chain(
    const unsigned char[::1] buf,
    Py_ssize_t pos,
    Py_ssize_t stop,
    int kind,
    Py_ssize_t most,
    Py_ssize_t count,
    long long[::1] places,
) except -1

@cython.locals(
    done=cython.Py_ssize_t,
    found=cython.Py_ssize_t,
    size=cython.Py_ssize_t,
    start=cython.Py_ssize_t,
    head=cython.Py_ssize_t,
    at=cython.Py_ssize_t,
)
cpdef Py_ssize_t objects(
    const unsigned char[::1] buf,
    const unsigned char[::1] heads,
    Py_ssize_t length,
    Py_ssize_t pos,
    Py_ssize_t stop,
    Py_ssize_t turn,
    int tag,
    Py_ssize_t most,
    Py_ssize_t count,
    long long[::1] places,
    long long[::1] others,
) except -1

@cython.locals(row=cython.Py_ssize_t, kind=cython.Py_ssize_t, at=cython.Py_ssize_t)
cpdef int arrange(
    Py_ssize_t rows, const long long[::1] kinds, Py_ssize_t size, long long[::1] ends, long long[::1] order
) except -1
