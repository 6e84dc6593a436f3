/* Units of UTF-16 in plain bytes: for the kernels `walk` and `slots`.

   Callers have checked that all bytes from `pos` to `end`, or `2 * count` of them, are there. */
#ifndef CLREVENTS_TEXTS_H
#define CLREVENTS_TEXTS_H

#include <string.h>

/* `count` units as bytes, or 0 if one of them is no ASCII. */
static CYTHON_INLINE size_t clrevents_plain_units(const unsigned char *from, size_t count, unsigned char *to) {
    unsigned int high = 0, low = 0;
    size_t k;
    for (k = 0; k < count; k++) {
        low |= from[2 * k];
        high |= from[2 * k + 1];
    }
    if (high || low > 127)
        return 0;
    for (k = 0; k < count; k++)
        to[k] = from[2 * k];
    return count;
}

/* The first zero unit, or where no whole unit is left. */
static CYTHON_INLINE size_t clrevents_text_end(const unsigned char *data, size_t pos, size_t end) {
    unsigned long long four;
    for (; end - pos > 7; pos += 8) {
        memcpy(&four, data + pos, 8);
        if ((four - 0x0001000100010001ULL) & ~four & 0x8000800080008000ULL)
            break;
    }
    while (end - pos > 1 && (data[pos] || data[pos + 1]))
        pos += 2;
    return pos;
}

#endif
