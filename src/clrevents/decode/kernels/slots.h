/* Objects whose slots are filled without `__init__`, and values from bytes: for the kernel `slots`.

   What must hold, for these functions reach into CPython:

   1. Bytes. `buf` is a bytes object, and callers have checked that `pos` to `pos + size`, or to `end`, is within it.
      Nothing else of the input is trusted: every size and count comes from a program that a layout was made into, or
      was compared with what is left.
   2. Slots. `slots` are offsets made by `clrevents_located`, from members of the class whose objects they are used on;
      nobody else can make them. So each lies within the object and holds a reference or NULL.
   3. The collector. Objects that it is not told of are made of immutable values that were there before them, and are
      immutable themselves: no cycle can go through them. Lists handed out hold only such objects.
   4. Filling again. An object is filled again only if its class is `closed`, exactly one reference to it exists, the
      list's, and no weak reference: nobody can see it change. Without a GIL that cannot be known, so it is never done.
   5. References. A slot's old value is released after the new one stands in its place: its finalizer may run anything.

   With CLREVENTS_CHECKED defined, what of this can be checked is, and a breach ends the process. */
#include <string.h>
#include <structmember.h>
#include "texts.h"

#ifdef CLREVENTS_CHECKED
#define HOLDS(invariant) ((invariant) ? (void)0 : Py_FatalError("clrevents: " #invariant))
#else
#define HOLDS(invariant) ((void)0)
#endif

/* Objects. */

/* An object of a class whose slots are all empty, unknown to the collector (3). */
static PyObject *clrevents_create(PyObject *cls) {
    PyTypeObject *type = (PyTypeObject *)cls;
    PyObject *item;
    if (!PyType_Check(cls) || type->tp_new != PyBaseObject_Type.tp_new || type->tp_flags & Py_TPFLAGS_IS_ABSTRACT)
        /* Not a class, or one that is more than slots: Python decides. */
        return PyObject_CallMethod((PyObject *)&PyBaseObject_Type, "__new__", "O", cls);
    if (PyType_IS_GC(type) && type->tp_alloc == PyType_GenericAlloc && type->tp_itemsize == 0
        && type->tp_dictoffset == 0 && !(type->tp_flags & Py_TPFLAGS_MANAGED_DICT)) {
        /* Nothing but slots: the collector is not told of it in the first place. */
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

/* A list or tuple of such objects: the collector would look at every one of them again and again. */
static void clrevents_forget(PyObject *made) {
    HOLDS(PyList_CheckExact(made) || PyTuple_CheckExact(made));
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

/* Whether nobody has this list but its only owner here. */
static CYTHON_INLINE int clrevents_sole(PyObject *list) {
#ifdef Py_GIL_DISABLED
    return 0;
#else
    return Py_REFCNT(list) == 1;
#endif
}

/* Whether an object of this class is in this list and nowhere else, not even known to a weak reference (4). */
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

/* Where slot `k` of an object is (2). */
static CYTHON_INLINE PyObject **clrevents_slot(PyObject *slots, Py_ssize_t k, PyObject *item) {
    Py_ssize_t offset;
    if ((size_t)k >= (size_t)PyBytes_GET_SIZE(slots) / sizeof(Py_ssize_t)) {
        PyErr_SetString(PyExc_IndexError, "more values than slots");
        return NULL;
    }
    offset = ((const Py_ssize_t *)PyBytes_AS_STRING(slots))[k];
    HOLDS(offset >= (Py_ssize_t)sizeof(PyObject));
    HOLDS(offset + (Py_ssize_t)sizeof(PyObject *) <= Py_TYPE(item)->tp_basicsize);
    return (PyObject **)((char *)item + offset);
}

/* Slot `k` of an object gets a value, whose reference it takes over (5). */
static CYTHON_INLINE int clrevents_set(PyObject *slots, Py_ssize_t k, PyObject *item, PyObject *value) {
    PyObject **place = clrevents_slot(slots, k, item), *old;
    if (place == NULL) {
        Py_DECREF(value);
        return -1;
    }
    old = *place;
    *place = value;
    Py_XDECREF(old);
    return 0;
}

static CYTHON_INLINE int clrevents_put(PyObject *slots, Py_ssize_t k, PyObject *item, PyObject *value) {
    Py_INCREF(value);
    return clrevents_set(slots, k, item, value);
}

/* The first slots of an event. */
static CYTHON_INLINE int clrevents_five(
    PyObject *slots, PyObject *item, PyObject *a, PyObject *b, PyObject *c, PyObject *d, PyObject *e) {
    PyObject *values[5] = {a, b, c, d, e};
    int k;
    for (k = 0; k < 5; k++)
        if (clrevents_put(slots, k, item, values[k]) < 0)
            return -1;
    return 0;
}

/* Slot `k` gets what is at a place of this list, which gets what was there; where the slot was empty, both have it. */
static CYTHON_INLINE int clrevents_exchange(
    PyObject *slots, Py_ssize_t k, PyObject *item, PyObject *list, Py_ssize_t at) {
    PyObject **place = clrevents_slot(slots, k, item), *value;
    if (place == NULL)
        return -1;
    if ((size_t)at >= (size_t)PyList_GET_SIZE(list)) {
        PyErr_SetString(PyExc_IndexError, "no such value");
        return -1;
    }
    value = PyList_GET_ITEM(list, at);
    if (*place == NULL)
        Py_INCREF(value);
    else
        PyList_SET_ITEM(list, at, *place);
    *place = value;
    return 0;
}

/* Values from bytes (1). */

static CYTHON_INLINE const unsigned char *clrevents_at(PyObject *buf, Py_ssize_t pos) {
    HOLDS(pos >= 0 && pos <= PyBytes_GET_SIZE(buf));
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

/* Where the first zero unit is, or -1. */
static Py_ssize_t clrevents_zero_unit(PyObject *buf, Py_ssize_t pos, Py_ssize_t end) {
    Py_ssize_t found = pos < end ? (Py_ssize_t)clrevents_text_end(clrevents_at(buf, 0), (size_t)pos, (size_t)end) : end;
    return end - found > 1 ? found : -1;
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

/* Numbers and records. */

/* One to ten bytes of seven bits each: where they end, -1 if they do not fit. */
static CYTHON_INLINE Py_ssize_t clrevents_varint(
    PyObject *buf, Py_ssize_t pos, Py_ssize_t end, unsigned long long *natural) {
    const unsigned char *at = clrevents_at(buf, pos);
    Py_ssize_t size = 0;
    *natural = 0;
    do {
        if (size == 10 || size == end - pos)
            return -1;
        *natural |= (unsigned long long)(at[size] & 127) << 7 * size;
    } while (at[size++] & 128);
    return pos + size;
}

/* `run` fields in a row that are nothing but a number: where they end, -1 if they do not fit. None gets no values. */
static Py_ssize_t clrevents_numbers(
    size_t codes, size_t counts, Py_ssize_t room, int first, PyObject *slots, Py_ssize_t slot, Py_ssize_t at, Py_ssize_t run, PyObject *item, PyObject *buf, Py_ssize_t pos,
    Py_ssize_t end) {
    const long long *code = (const long long *)codes + at;
    for (; run > 0; run--, code += 8) {
        PyObject *value;
        Py_ssize_t size = (Py_ssize_t)code[2];
        pos += (Py_ssize_t)code[1];
        if (size > end - pos)
            return -1;
        if (code[0] == 9) {
            unsigned long long natural;
            long long how = code[3];
            pos = clrevents_varint(buf, pos, end, &natural);
            if (pos < 0)
                return -1;
            if (item == Py_None)
                continue;
            size = 0;
            if (how > 1) {
                unsigned long long *before = (unsigned long long *)counts + (how - 2);
                if (how - 2 >= room) {
                    PyErr_SetString(PyExc_IndexError, "no room for a number");
                    return -2;
                }
                if (!first)
                    natural = *before + (unsigned long long)clrevents_unfolded(natural);
                *before = natural;
            }
            value = how == 1 ? PyLong_FromLongLong(clrevents_unfolded(natural)) : PyLong_FromUnsignedLongLong(natural);
        } else if (item == Py_None) {
            pos += size;
            continue;
        } else if (code[0] == 0)
            value = PyLong_FromUnsignedLongLong(clrevents_number(buf, pos, size));
        else if (code[0] == 1)
            value = PyLong_FromLongLong(clrevents_signed(buf, pos, size));
        else if (code[0] == 3)
            value = PyBool_FromLong(clrevents_number(buf, pos, size) != 0);
        else
            value = PyFloat_FromDouble(clrevents_real(buf, pos, size));
        if (value == NULL || clrevents_set(slots, slot++, item, value) < 0)
            return -2;
        pos += size;
    }
    return pos;
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
