# The types that make the compiled engine fast; the algorithms are in walk.py alone.
cimport cython

ctypedef unsigned long long u64

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

@cython.locals(
    at=cython.size_t,
    row=cython.size_t,
    pos=cython.size_t,
    end=cython.size_t,
)
cpdef Py_ssize_t gather(
    const unsigned char[::1] buf,
    Py_ssize_t rows,
    const long long[::1] starts,
    const long long[::1] lengths,
    unsigned char[::1] out,
) except -1

@cython.locals(done=cython.Py_ssize_t, size=cython.Py_ssize_t)
cpdef Py_ssize_t chain(
    const unsigned char[::1] buf,
    Py_ssize_t pos,
    Py_ssize_t stop,
    int kind,
    Py_ssize_t most,
    Py_ssize_t count,
    long long[::1] heads,
) except -1

@cython.locals(done=cython.Py_ssize_t, size=cython.Py_ssize_t, start=cython.Py_ssize_t, at=cython.Py_ssize_t)
cpdef Py_ssize_t objects(
    const unsigned char[::1] buf,
    const unsigned char[::1] head,
    Py_ssize_t length,
    Py_ssize_t pos,
    Py_ssize_t stop,
    Py_ssize_t turn,
    int tag,
    Py_ssize_t most,
    Py_ssize_t count,
    long long[::1] places,
) except -1

@cython.locals(row=cython.Py_ssize_t, kind=cython.Py_ssize_t, at=cython.Py_ssize_t)
cpdef int arrange(
    Py_ssize_t rows, const long long[::1] kinds, Py_ssize_t size, long long[::1] ends, long long[::1] order
) except -1
