# The types that make the compiled engine fast; the algorithm is in fill.py alone.
cimport cython

cdef extern from *:
    """
    static PyObject *clrevents_create(PyObject *cls) {
        PyTypeObject *type = (PyTypeObject *)cls;
        PyObject *item;
        if (!PyType_Check(cls) || type->tp_new != PyBaseObject_Type.tp_new || type->tp_flags & Py_TPFLAGS_IS_ABSTRACT)
            /* Not a class, or one that is more than slots: Python decides, as it does in the other engine. */
            return PyObject_CallMethod((PyObject *)&PyBaseObject_Type, "__new__", "O", cls);
        /* Made from values that were there before, and never changed: no cycle can go through it. So the
           collector, which would look at all of them again and again, need not know of it. */
        if (PyType_IS_GC(type) && type->tp_alloc == PyType_GenericAlloc && type->tp_itemsize == 0
            && type->tp_dictoffset == 0 && !(type->tp_flags & Py_TPFLAGS_MANAGED_DICT)) {
            /* Nothing but slots: memory that the collector is not told of in the first place. */
            item = PyObject_GC_New(PyObject, type);
            if (item != NULL)
                memset((char *)item + sizeof(PyObject), 0, type->tp_basicsize - sizeof(PyObject));
            return item;
        }
        item = type->tp_alloc(type, 0);
        if (item != NULL && PyType_IS_GC(type))
            PyObject_GC_UnTrack(item);
        return item;
    }
    static void clrevents_forget(PyObject *list) {
        /* It would look at every item again and again, and the items are no business of its own either. */
        PyObject_GC_UnTrack(list);
    }
    static int clrevents_put(PyObject *slot, PyObject *item, PyObject *value) {
        descrsetfunc set = Py_TYPE(slot)->tp_descr_set;
        if (set == NULL) {
            PyErr_Format(PyExc_AttributeError, "'%.100s' object has no attribute '__set__'", Py_TYPE(slot)->tp_name);
            return -1;
        }
        return set(slot, item, value);
    }
    """
    void forget "clrevents_forget"(object made)
    object create "clrevents_create"(object cls)
    int put "clrevents_put"(object slot, object item, object value) except -1

@cython.locals(
    row=cython.Py_ssize_t,
    slot=cython.Py_ssize_t,
    count=cython.Py_ssize_t,
    at=cython.longlong,
    made=list,
    values=list,
)
cpdef list fill(
    object cls,
    list setters,
    list columns,
    const long long[::1] places,
    const unsigned long long[::1] unsigned,
    const long long[::1] signed,
    Py_ssize_t first,
    Py_ssize_t last,
)

@cython.locals(at=cython.Py_ssize_t, count=cython.Py_ssize_t)
cpdef Py_ssize_t scatter(list into, const long long[::1] rows, list values) except -1
