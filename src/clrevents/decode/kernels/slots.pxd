# The types that make the compiled engine fast, and the functions that reach into CPython; the algorithm is in slots.py.
cimport cython

ctypedef unsigned long long u64

cdef extern from *:
    """
    #include <string.h>
    #include <structmember.h>

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
    static void clrevents_forget(PyObject *made) {
        /* It would look at every item again and again, and the items are no business of its own either. */
        PyObject_GC_UnTrack(made);
    }
    /* Where slots are in objects of a class, as bytes: nobody else can put a place there. */
    static PyObject *clrevents_located(PyObject *cls, PyObject *setters) {
        Py_ssize_t count, k, *places;
        PyObject *found;
        if (!PyType_Check(cls))
            return PyErr_Format(PyExc_TypeError, "%R is not a class", cls);
        count = PyList_GET_SIZE(setters);
        found = PyBytes_FromStringAndSize(NULL, count * (Py_ssize_t)sizeof(Py_ssize_t));
        if (found == NULL)
            return NULL;
        places = (Py_ssize_t *)PyBytes_AS_STRING(found);
        for (k = 0; k < count; k++) {
            PyObject *setter = PyList_GET_ITEM(setters, k);
            PyMemberDef *member = NULL;
            if (Py_TYPE(setter) == &PyMemberDescr_Type)
                member = ((PyMemberDescrObject *)setter)->d_member;
            if (member == NULL || member->type != T_OBJECT_EX || member->flags & READONLY
                || !PyType_IsSubtype((PyTypeObject *)cls, PyDescr_TYPE(setter))) {
                Py_DECREF(found);
                return PyErr_Format(PyExc_TypeError, "%R is not a slot of %R", setter, cls);
            }
            places[k] = member->offset;
        }
        return found;
    }
    /* Whether objects of a class are these different slots and nothing else that had to be there or to be called. */
    static int clrevents_closed(PyObject *cls, PyObject *slots) {
        PyTypeObject *type = (PyTypeObject *)cls;
        Py_ssize_t count = PyBytes_GET_SIZE(slots) / (Py_ssize_t)sizeof(Py_ssize_t), k, l;
        const Py_ssize_t *places = (const Py_ssize_t *)PyBytes_AS_STRING(slots);
        Py_ssize_t size = (Py_ssize_t)sizeof(PyObject) + count * (Py_ssize_t)sizeof(PyObject *);
        if (type->tp_weaklistoffset > 0)
            size += sizeof(PyObject *);
        if (count > 64 || type->tp_new != PyBaseObject_Type.tp_new || !PyType_IS_GC(type) || type->tp_basicsize != size
            || type->tp_alloc != PyType_GenericAlloc || type->tp_itemsize != 0 || type->tp_dictoffset != 0
            || type->tp_flags & Py_TPFLAGS_MANAGED_DICT || type->tp_finalize != NULL || type->tp_del != NULL)
            return 0;
        for (k = 0; k < count; k++)
            for (l = 0; l < k; l++)
                if (places[k] == places[l])
                    return 0;
        return 1;
    }
    /* Whether an object of this class is in this list and nowhere else, not even known to a weak reference. */
    static CYTHON_INLINE int clrevents_idle(PyObject *list, Py_ssize_t at, PyObject *cls) {
    #ifdef Py_GIL_DISABLED
        return 0;
    #else
        PyObject *item;
        PyTypeObject *type = (PyTypeObject *)cls;
        if ((size_t)at >= (size_t)PyList_GET_SIZE(list))
            return 0;
        item = PyList_GET_ITEM(list, at);
        return Py_REFCNT(item) == 1 && Py_TYPE(item) == type
            && (!type->tp_weaklistoffset || *(PyObject **)((char *)item + type->tp_weaklistoffset) == NULL);
    #endif
    }
    static CYTHON_INLINE int clrevents_put(PyObject *slots, Py_ssize_t k, PyObject *item, PyObject *value) {
        PyObject **place, *old;
        if ((size_t)k >= (size_t)PyBytes_GET_SIZE(slots) / sizeof(Py_ssize_t)) {
            PyErr_SetString(PyExc_IndexError, "more values than slots");
            return -1;
        }
        place = (PyObject **)((char *)item + ((Py_ssize_t *)PyBytes_AS_STRING(slots))[k]);
        old = *place;
        Py_INCREF(value);
        *place = value;
        Py_XDECREF(old);
        return 0;
    }
    static CYTHON_INLINE const unsigned char *clrevents_at(PyObject *buf, Py_ssize_t pos) {
        return (const unsigned char *)PyBytes_AS_STRING(buf) + pos;
    }
    static CYTHON_INLINE unsigned long long clrevents_unsigned(PyObject *buf, Py_ssize_t pos, Py_ssize_t size) {
        const unsigned char *at = clrevents_at(buf, pos);
        unsigned long long found = 0;
        while (size > 0)
            found = found << 8 | at[--size];
        return found;
    }
    static CYTHON_INLINE unsigned long long clrevents_number(PyObject *buf, Py_ssize_t pos, Py_ssize_t size) {
    #if PY_LITTLE_ENDIAN
        const unsigned char *at = clrevents_at(buf, pos);
        unsigned long long eight;
        unsigned int four;
        unsigned short two;
        switch (size) {
            case 8: memcpy(&eight, at, 8); return eight;
            case 4: memcpy(&four, at, 4); return four;
            case 2: memcpy(&two, at, 2); return two;
            case 1: return at[0];
        }
    #endif
        return clrevents_unsigned(buf, pos, size);
    }
    static CYTHON_INLINE long long clrevents_signed(PyObject *buf, Py_ssize_t pos, Py_ssize_t size) {
        unsigned long long found = clrevents_number(buf, pos, size), sign = 1ULL << (8 * size - 1);
        return (long long)((found ^ sign) - sign);
    }
    static CYTHON_INLINE long long clrevents_unfolded(unsigned long long number) {
        return (long long)(number >> 1 ^ (~(number & 1) + 1));
    }
    static double clrevents_real(PyObject *buf, Py_ssize_t pos, Py_ssize_t size) {
        unsigned long long number = clrevents_number(buf, pos, size);
        unsigned int half = (unsigned int)number;
        double wide;
        float narrow;
        if (size == 8) {
            memcpy(&wide, &number, 8);
            return wide;
        }
        memcpy(&narrow, &half, 4);
        return narrow;
    }
    static Py_ssize_t clrevents_zero_unit(PyObject *buf, Py_ssize_t pos, Py_ssize_t end) {
        const unsigned char *data = clrevents_at(buf, 0);
        unsigned long long four;
        for (; end - pos > 7; pos += 8) {
            memcpy(&four, data + pos, 8);
            if ((four - 0x0001000100010001ULL) & ~four & 0x8000800080008000ULL)
                break;
        }
        for (; end - pos > 1; pos += 2)
            if (!data[pos] && !data[pos + 1])
                return pos;
        return -1;
    }
    static Py_ssize_t clrevents_zero_byte(PyObject *buf, Py_ssize_t pos, Py_ssize_t end) {
        const unsigned char *at = clrevents_at(buf, pos), *found = memchr(at, 0, (size_t)(end - pos));
        return found == NULL ? -1 : pos + (found - at);
    }
    static PyObject *clrevents_text16(PyObject *buf, Py_ssize_t pos, Py_ssize_t size) {
        const unsigned char *at = clrevents_at(buf, pos);
        Py_ssize_t count = size / 2, k;
        unsigned int high = 0, low = 0;
        int order = -1;
        for (k = 0; k < count; k++) {
            low |= at[2 * k];
            high |= at[2 * k + 1];
        }
        if (!high && low < 0x80 && !(size & 1)) {
            PyObject *text = PyUnicode_New(count, 127);
            if (text != NULL && count) {
                Py_UCS1 *to = PyUnicode_1BYTE_DATA(text);
                for (k = 0; k < count; k++)
                    to[k] = at[2 * k];
            }
            return text;
        }
        return PyUnicode_DecodeUTF16((const char *)at, size, "surrogatepass", &order);
    }
    static PyObject *clrevents_text8(PyObject *buf, Py_ssize_t pos, Py_ssize_t size) {
        const char *at = (const char *)clrevents_at(buf, pos);
        PyObject *text = PyUnicode_DecodeUTF8(at, size, NULL);
        if (text == NULL && PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) {
            PyErr_Clear();
            text = PyUnicode_DecodeLatin1(at, size, NULL);
        }
        return text;
    }
    static PyObject *clrevents_replaced(PyObject *buf, Py_ssize_t pos, Py_ssize_t size) {
        return PyUnicode_DecodeUTF8((const char *)clrevents_at(buf, pos), size, "replace");
    }
    static PyObject *clrevents_octets(PyObject *buf, Py_ssize_t pos, Py_ssize_t size) {
        return PyBytes_FromStringAndSize((const char *)clrevents_at(buf, pos), size);
    }
    static PyObject *clrevents_guid(PyObject *buf, Py_ssize_t pos) {
        /* The first three groups are little-endian. */
        static const unsigned char from[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
        const unsigned char *at = clrevents_at(buf, pos);
        unsigned char big[16];
        int k;
        for (k = 0; k < 16; k++)
            big[k] = at[from[k]];
        return _PyLong_FromByteArray(big, 16, 0, 0);
    }
    /* The number as an object, the one that was made last if it is the same and worth a look. */
    static CYTHON_INLINE PyObject *clrevents_shared(
        unsigned long long *keys, PyObject *numbers, long long *luck, unsigned long long natural) {
        PyObject *found;
        size_t place;
        if (natural <= 256)
            return PyLong_FromLong((long)natural);
        if (*luck <= -32) {
            *luck = *luck < -4096 ? 0 : *luck - 1;
            return PyLong_FromUnsignedLongLong(natural);
        }
        place = (natural ^ natural >> 7 ^ natural >> 17) & 255;
        if (place >= (size_t)PyList_GET_SIZE(numbers)) {
            PyErr_SetString(PyExc_IndexError, "no room for a number");
            return NULL;
        }
        found = PyList_GET_ITEM(numbers, place);
        if (found != Py_None && keys[place] == natural) {
            if (*luck < 32)
                *luck += 1;
            Py_INCREF(found);
            return found;
        }
        *luck -= 1;
        found = PyLong_FromUnsignedLongLong(natural);
        if (found != NULL) {
            PyObject *old = PyList_GET_ITEM(numbers, place);
            keys[place] = natural;
            Py_INCREF(found);
            PyList_SET_ITEM(numbers, place, found);
            Py_DECREF(old);
        }
        return found;
    }
    /* `run` fields in a row that are nothing but a number: where they end, -1 if they do not fit. */
    static Py_ssize_t clrevents_numbers(
        size_t codes, size_t lucks, size_t known, PyObject *numbers, PyObject *slots, Py_ssize_t slot,
        Py_ssize_t at, Py_ssize_t run, PyObject *item, PyObject *buf, Py_ssize_t pos, Py_ssize_t end) {
        const long long *code = (const long long *)codes + at;
        long long *luck = (long long *)lucks + at / 8;
        const Py_ssize_t *places = (const Py_ssize_t *)PyBytes_AS_STRING(slots) + slot;
        Py_ssize_t room = PyBytes_GET_SIZE(slots) / (Py_ssize_t)sizeof(Py_ssize_t) - slot;
        for (; run > 0; run--, code += 8, luck++, places++, room--) {
            PyObject *value, **place, *old;
            Py_ssize_t size = (Py_ssize_t)code[2];
            pos += (Py_ssize_t)code[1];
            if (size > end - pos)
                return -1;
            if (code[0] == 0)
                value = clrevents_shared((unsigned long long *)known, numbers, luck, clrevents_number(buf, pos, size));
            else if (code[0] == 1)
                value = PyLong_FromLongLong(clrevents_signed(buf, pos, size));
            else if (code[0] == 3)
                value = PyBool_FromLong(clrevents_number(buf, pos, size) != 0);
            else
                value = PyFloat_FromDouble(clrevents_real(buf, pos, size));
            if (value == NULL)
                return -2;
            pos += size;
            if (room <= 0) {
                Py_DECREF(value);
                PyErr_SetString(PyExc_IndexError, "more values than slots");
                return -2;
            }
            place = (PyObject **)((char *)item + *places);
            old = *place;
            *place = value;
            Py_XDECREF(old);
        }
        return pos;
    }
    /* Whether nobody has this list but its only owner here. */
    static CYTHON_INLINE int clrevents_sole(PyObject *list) {
    #ifdef Py_GIL_DISABLED
        return 0;
    #else
        return Py_REFCNT(list) == 1;
    #endif
    }
    /* All six slots of an event. */
    static CYTHON_INLINE int clrevents_six(
        PyObject *slots, PyObject *item, PyObject *a, PyObject *b, PyObject *c, PyObject *d, PyObject *e, PyObject *f) {
        PyObject *values[6] = {a, b, c, d, e, f};
        const Py_ssize_t *places = (const Py_ssize_t *)PyBytes_AS_STRING(slots);
        int k;
        if (PyBytes_GET_SIZE(slots) < 6 * (Py_ssize_t)sizeof(Py_ssize_t)) {
            PyErr_SetString(PyExc_IndexError, "more values than slots");
            return -1;
        }
        for (k = 0; k < 6; k++) {
            PyObject **place = (PyObject **)((char *)item + places[k]), *old = *place;
            Py_INCREF(values[k]);
            *place = values[k];
            Py_XDECREF(old);
        }
        return 0;
    }
    static CYTHON_INLINE int clrevents_same(PyObject *buf, Py_ssize_t one, Py_ssize_t other, Py_ssize_t size) {
        return memcmp(clrevents_at(buf, one), clrevents_at(buf, other), (size_t)size) == 0;
    }
    static PyObject *clrevents_sealed(PyObject *made) {
        PyObject *all = PyList_AsTuple(made);
        if (all != NULL)
            clrevents_forget(all);
        return all;
    }
    """
    object create "clrevents_create"(object cls)
    void forget "clrevents_forget"(object made)
    bytes located "clrevents_located"(object cls, list setters)
    bint closed "clrevents_closed"(object cls, bytes slots)
    Py_ssize_t run_of_numbers "clrevents_numbers"(
        size_t codes, size_t lucks, size_t known, list numbers, bytes slots, Py_ssize_t slot,
        Py_ssize_t at, Py_ssize_t run, object item, bytes buf, Py_ssize_t pos, Py_ssize_t end
    ) except -2
    bint sole "clrevents_sole"(list items)
    int six "clrevents_six"(bytes slots, object item, object a, object b, object c, object d, object e, object f) except -1
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


# Where numbers are in memory, for functions of C; whoever has it keeps the numbers too.
cdef inline size_t place_of(const long long[::1] numbers):
    return <size_t>&numbers[0] if numbers.shape[0] else 0


cdef inline size_t place_of_keys(u64[::1] keys):
    return <size_t>&keys[0] if keys.shape[0] else 0


@cython.final
cdef class SlottedClass:
    cdef object cls
    cdef bint closed
    cdef bytes slots


@cython.final
cdef class Shared:
    cdef u64[::1] keys
    cdef size_t keys_at
    cdef list numbers
    cdef long long[::1] starts
    cdef long long[::1] sizes
    cdef list texts


@cython.final
cdef class ReadPlace:
    cdef bytes buf
    cdef Shared shared
    cdef long long[::1] counts
    cdef Py_ssize_t pos


@cython.final
cdef class FieldProgram:
    cdef const long long[::1] code
    cdef long long[::1] luck
    cdef size_t code_at
    cdef size_t luck_at
    cdef long long[::1] runs
    cdef list parts
    cdef Py_ssize_t fields
    cdef Py_ssize_t size

    @cython.locals(at=cython.Py_ssize_t, run=cython.longlong, op=cython.longlong)
    cdef int find_runs(self) except -1

    @cython.locals(slot=cython.Py_ssize_t, pos=cython.Py_ssize_t, run=cython.Py_ssize_t)
    cdef object record(
        self,
        ReadPlace cursor,
        SlottedClass shape,
        object item,
        Py_ssize_t at,
        Py_ssize_t fields,
        Py_ssize_t end,
        bint make,
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

    @cython.locals(mixed=u64, place=cython.size_t)
    cdef object text(self, Shared shared, Py_ssize_t field, bytes buf, Py_ssize_t pos, Py_ssize_t size)

    @cython.locals(top=u64, natural=u64, byte=u64, more=u64, shift=cython.uint)
    cdef object varint(self, ReadPlace cursor, Py_ssize_t pos, Py_ssize_t end, bint zigzag, bint make)

    @cython.locals(
        how=cython.longlong, count=cython.longlong, size=cython.Py_ssize_t, kind=cython.Py_ssize_t, made=list
    )
    cdef object many(self, ReadPlace cursor, Py_ssize_t at, Py_ssize_t pos, Py_ssize_t end, bint make)


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
    cdef Shared shared
    cdef long long[::1] counts
    cdef long long[::1] heads
    cdef long long[::1] chain
    cdef list last
    cdef Py_ssize_t last_row
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

    @cython.locals(
        at=cython.Py_ssize_t,
        found=cython.Py_ssize_t,
        count=cython.Py_ssize_t,
        entry=cython.longlong,
        known=cython.longlong,
        shape=SlottedClass,
    )
    cdef Py_ssize_t spare(self, Py_ssize_t row, list old) except -1

    cpdef list read(self, Py_ssize_t row, Py_ssize_t last, bint again)

    @cython.locals(
        spares=cython.Py_ssize_t,
        at=cython.Py_ssize_t,
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

    @cython.locals(at=cython.Py_ssize_t, found=cython.Py_ssize_t, count=cython.Py_ssize_t, made=list, slots=bytes)
    cpdef Py_ssize_t release(self) except -1

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
