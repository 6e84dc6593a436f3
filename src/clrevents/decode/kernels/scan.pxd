# The types that make the compiled engine fast; the algorithm is in scan.py alone.
cimport cython

ctypedef unsigned long long u64

@cython.locals(
    metadata_ids=u64[::1],
    thread_ids=u64[::1],
    stack_ids=u64[::1],
    times=u64[::1],
    offsets=u64[::1],
    sizes=u64[::1],
    pos=cython.Py_ssize_t,
    start=cython.Py_ssize_t,
    row=cython.Py_ssize_t,
    full=cython.Py_ssize_t,
    run=cython.Py_ssize_t,
    mark=cython.Py_ssize_t,
    marked=cython.Py_ssize_t,
    metadata_id=u64,
    sequence=u64,
    capture=u64,
    processor=u64,
    thread=u64,
    stack=u64,
    time=u64,
    size=u64,
    latest=u64,
    has_sorted=u64,
    delta=u64,
    top=u64,
    word=u64,
    label=u64,
    b=u64,
    flags=cython.uint,
    shift=cython.uint,
    fresh=cython.int,
    status=cython.int,
)
cpdef int scan(
    const unsigned char[::1] buf,
    Py_ssize_t end,
    u64 base,
    Py_ssize_t first,
    Py_ssize_t max_rows,
    bint labels,
    u64[::1] state,
    u64[:, ::1] columns,
    u64[::1] runs,
    u64[::1] marks,
) except -1

@cython.locals(
    sign=u64,
    done=cython.Py_ssize_t,
    kept=cython.Py_ssize_t,
    most=cython.Py_ssize_t,
    rows=cython.Py_ssize_t,
    start=cython.Py_ssize_t,
    stop=cython.Py_ssize_t,
    length=cython.Py_ssize_t,
    flags=cython.uint,
    low=u64,
    high=u64,
    at=cython.Py_ssize_t,
)
cpdef Py_ssize_t together(
    const unsigned char[::1] buf,
    Py_ssize_t count,
    const long long[::1] bodies,
    u64 base,
    Py_ssize_t first,
    Py_ssize_t max_rows,
    bint labels,
    u64[::1] state,
    u64[:, ::1] columns,
    u64[::1] runs,
    u64[::1] marks,
    u64[::1] heads,
) except -1

@cython.locals(
    at=cython.Py_ssize_t,
    last=cython.Py_ssize_t,
    row=cython.Py_ssize_t,
    first=cython.Py_ssize_t,
    value=cython.longlong,
    thread=u64,
    low=cython.longlong,
    high=cython.longlong,
    time=cython.longlong,
)
cpdef Py_ssize_t tally(
    Py_ssize_t rows,
    const long long[::1] values,
    const long long[::1] table,
    Py_ssize_t size,
    const u64[::1] thread_ids,
    const long long[::1] times,
    long long[::1] counts,
    Py_ssize_t used,
    u64[::1] threads,
    long long[::1] sums,
    long long[::1] latest,
) except? -2

@cython.locals(
    pos=cython.Py_ssize_t,
    row=cython.Py_ssize_t,
    start=cython.Py_ssize_t,
    time=u64,
    number=u64,
    width=cython.longlong,
    delta=u64,
    more=u64,
    b=u64,
    size=u64,
    shift=cython.uint,
    status=cython.int,
)
cpdef int unpack(
    const unsigned char[::1] buf,
    Py_ssize_t end,
    u64 base,
    u64 latest,
    u64 metadata,
    const long long[::1] widths,
    Py_ssize_t full,
    u64[::1] state,
    u64[::1] ids,
    u64[::1] times,
    u64[::1] offsets,
    u64[::1] sizes,
) except -1

@cython.locals(
    which=cython.Py_ssize_t, at=cython.Py_ssize_t, begin=cython.longlong, row=cython.Py_ssize_t, status=cython.int
)
cpdef int unpack_all(
    const unsigned char[::1] buf,
    u64 base,
    u64 metadata,
    Py_ssize_t head,
    const long long[::1] widths,
    const long long[::1] buffers,
    Py_ssize_t count,
    u64[::1] state,
    u64[::1] ids,
    u64[::1] times,
    u64[::1] offsets,
    u64[::1] sizes,
    long long[::1] ends,
) except -1
