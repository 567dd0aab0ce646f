/* Elements of a vector that ranks exchange. Adapters fetch the elements before the loops of a library touch the
 * vector. */
#ifndef SC_ADAPTERS_BORDERS_H
#define SC_ADAPTERS_BORDERS_H

#include <stdint.h>

#include "adapters/weak.h"

enum {
    SC_ADAPTER_LEAST_PART = 8192, /* elements of a rank's vector; smaller vectors are left to faults */
    SC_ADAPTER_MOST_RUNS = 64,    /* runs of numbers; of more runs, neighbours are joined */
    SC_ADAPTER_GAP = 4096         /* bytes; runs with a smaller gap are fetched together */
};

static inline int64_t sc_adapter_number(const void *numbers, size_t bytes, int64_t i)
{
    return bytes == sizeof(int32_t) ? ((const int32_t *)numbers)[i] : ((const int64_t *)numbers)[i];
}

/* The end of the elements from i on that ascend by one. */
static inline int64_t sc_adapter_ascent(const void *numbers, size_t bytes, int64_t i, int64_t count)
{
    const int32_t *narrow = numbers;
    const int64_t *wide = numbers;

    if (bytes == sizeof *narrow)
        while (++i < count && (int64_t)narrow[i] - narrow[i - 1] == 1)
            ;
    else
        while (++i < count && wide[i] - wide[i - 1] == 1)
            ;
    return i;
}

/* The runs first[] to end[] of numbers, with gaps of less than `gap` numbers.  Returns the count, 0 for too many. */
static inline int sc_adapter_runs_apart(const void *numbers, size_t bytes, int64_t count, int64_t gap, int64_t *first,
                                        int64_t *end)
{
    int runs = 0;

    for (int64_t i = 0, next; i < count; i = next) {
        const int64_t k = sc_adapter_number(numbers, bytes, i);
        int64_t after;

        next = sc_adapter_ascent(numbers, bytes, i, count);
        after = k + (next - i);
        if (runs && k >= first[runs - 1] - gap && k < end[runs - 1] + gap) {
            first[runs - 1] = k < first[runs - 1] ? k : first[runs - 1];
            end[runs - 1] = after < end[runs - 1] ? end[runs - 1] : after;
            continue;
        }
        if (runs == SC_ADAPTER_MOST_RUNS)
            return 0;
        first[runs] = k;
        end[runs++] = after;
    }
    return runs;
}

/* At most SC_ADAPTER_MOST_RUNS runs first[] to end[] that contain the numbers of elements of `element` bytes.  Returns
 * the count, 0 without numbers.  A longer transfer costs less than the faults of the elements. */
static inline int sc_adapter_runs(const void *numbers, size_t bytes, int64_t count, size_t element, int64_t *first,
                                  int64_t *end)
{
    int runs = 0;

    for (int64_t gap = (int64_t)(SC_ADAPTER_GAP / element); count > 0 && !runs; gap = 8 * gap + 1)
        runs = sc_adapter_runs_apart(numbers, bytes, count, gap, first, end);
    return runs;
}

/* Fetches the elements with these numbers (integers of `bytes` bytes).  Borders between ranks are runs of numbers.  A
 * run costs one transfer; a fault would bring its read-ahead as well. */
static inline void sc_adapter_get(const void *vector, size_t element, const void *numbers, size_t bytes, int64_t count,
                                  enum semcache_mode mode)
{
    int64_t first[SC_ADAPTER_MOST_RUNS], end[SC_ADAPTER_MOST_RUNS];
    const int runs = semcache_acquire ? sc_adapter_runs(numbers, bytes, count, element, first, end) : 0;

    for (int i = 0; i < runs; i++)
        (void)semcache_acquire((const char *)vector + (size_t)first[i] * element, (size_t)(end[i] - first[i]) * element,
                               mode);
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
