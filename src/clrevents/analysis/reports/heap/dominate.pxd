# The types that make the compiled engine fast; the algorithms are in dominate.py alone.
cimport cython

@cython.locals(
    count=cython.int,
    at=cython.int,
    node=cython.int,
    target=cython.int,
    found=cython.int,
    edge=cython.longlong,
    end=cython.longlong,
)
cpdef Py_ssize_t descend(
    int root,
    const long long[::1] offsets,
    const int[::1] targets,
    int[::1] number,
    int[::1] order,
    int[::1] parent,
    int[::1] cursor,
) except -1

@cython.locals(
    k=cython.int,
    node=cython.int,
    target=cython.int,
    edge=cython.longlong,
    end=cython.longlong,
    place=cython.longlong,
    total=cython.longlong,
)
cpdef Py_ssize_t reverse(
    int count,
    const long long[::1] offsets,
    const int[::1] targets,
    const int[::1] number,
    const int[::1] order,
    long long[::1] starts,
    int[::1] sources,
) except -1

@cython.locals(
    k=cython.int,
    node=cython.int,
    least=cython.int,
    above=cython.int,
    depth=cython.int,
    edge=cython.longlong,
    end=cython.longlong,
)
cpdef Py_ssize_t dominate(
    int count,
    const long long[::1] starts,
    const int[::1] sources,
    int[::1] parent,
    int[::1] semi,
    int[::1] label,
    int[::1] stack,
    int[::1] dominator,
) except -1

@cython.locals(k=cython.int)
cpdef Py_ssize_t gather_up(int count, const int[::1] parent, long long[::1] sums) except -1

@cython.locals(k=cython.int, above=cython.int, most=cython.int)
cpdef Py_ssize_t fold(
    int count, const int[::1] parent, const int[::1] groups, int[::1] top, int[::1] depth
) except -1

@cython.locals(k=cython.int, group=cython.int, added=cython.Py_ssize_t)
cpdef Py_ssize_t outermost(
    int count,
    const int[::1] parent,
    const int[::1] groups,
    const long long[::1] sums,
    int[::1] first,
    int[::1] following,
    int[::1] inside,
    long long[::1] totals,
) except -1

@cython.locals(
    head=cython.Py_ssize_t,
    tail=cython.Py_ssize_t,
    node=cython.int,
    target=cython.int,
    edge=cython.longlong,
    end=cython.longlong,
)
cpdef Py_ssize_t spread(
    const long long[::1] offsets, const int[::1] targets, int[::1] parent, int[::1] queue, Py_ssize_t filled
) except -1
