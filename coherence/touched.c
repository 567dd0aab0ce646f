/* Ranges of bytes whose state or protection has changed since check.c checked them. */
#include "coherence/protocol.h"

#define RANGES 1024  /* noted between two checks; further ranges displace the oldest, which the rounds find */
#define NEIGHBOURS 8 /* of the last ranges: one of them may grow */

static struct sc_range touched[RANGES]; /* a ring */
static size_t first_touched, count_touched;

static struct sc_range *touched_at(size_t i)
{
    return &touched[(first_touched + i) % RANGES];
}

void sc_check_touched(uintptr_t lo, uintptr_t hi)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert(lo < hi);
    for (size_t back = 1; back <= NEIGHBOURS && back <= count_touched; back++) {
        struct sc_range *last = touched_at(count_touched - back);

        if (lo <= last->hi && last->lo <= hi) {
            last->lo = lo < last->lo ? lo : last->lo;
            last->hi = hi > last->hi ? hi : last->hi;
            return;
        }
    }
    if (count_touched == RANGES)
        first_touched++;
    else
        count_touched++;
    *touched_at(count_touched - 1) = (struct sc_range){lo, hi};
}

bool sc_check_next(struct sc_range *range)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    if (!count_touched)
        return false;
    *range = *touched_at(0);
    first_touched++;
    count_touched--;
    return true;
}

size_t sc_check_count(void)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    return count_touched;
}
/* SPDX-License-Identifier: BSD-2-Clause */
