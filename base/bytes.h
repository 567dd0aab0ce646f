/* Runs of equal bytes in tables with a byte per page, by eights: a matrix of a gigabyte has 262144 pages. */
#ifndef SC_BASE_BYTES_H
#define SC_BASE_BYTES_H

#include <stddef.h>
#include <stdint.h>

typedef uint64_t sc_eight __attribute__((may_alias, aligned(1)));

#define SC_EIGHT_OF(value) (UINT64_C(0x0101010101010101) * (uint8_t)(value))

/* The number of bytes at the front of p[0, n) that have the value. */
static inline size_t sc_bytes_run(const uint8_t *p, size_t n, uint8_t value)
{
    size_t i = 0;

    while (n - i >= 8 && *(const sc_eight *)(p + i) == SC_EIGHT_OF(value))
        i += 8;
    while (i < n && p[i] == value)
        i++;
    return i;
}

/* The same at the back. */
static inline size_t sc_bytes_run_back(const uint8_t *p, size_t n, uint8_t value)
{
    size_t i = n;

    while (i >= 8 && *(const sc_eight *)(p + i - 8) == SC_EIGHT_OF(value))
        i -= 8;
    while (i > 0 && p[i - 1] == value)
        i--;
    return n - i;
}

/* Raises bytes that are smaller to the value. */
static inline void sc_bytes_at_least(uint8_t *p, size_t n, uint8_t value)
{
    for (size_t i = 0; i < n;) {
        size_t zeros = sc_bytes_run(p + i, n - i, 0), end = i + zeros;

        for (; end - i >= 8; i += 8)
            *(sc_eight *)(p + i) = SC_EIGHT_OF(value);
        for (; i < end; i++)
            p[i] = value;
        for (i += sc_bytes_run(p + i, n - i, value); i < n && p[i] != 0; i++)
            p[i] = p[i] > value ? p[i] : value;
    }
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
