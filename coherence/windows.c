/* The table of windows in flight (partial_fetch.c starts and finishes them). */
#include "coherence/protocol.h"

struct sc_window sc_windows[SC_WINDOWS_MAX];
int sc_windows_used;

void sc_windows_trim(void)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert(sc_windows_used >= 0 && sc_windows_used <= SC_WINDOWS_MAX);
    while (sc_windows_used && !sc_windows[sc_windows_used - 1].m)
        sc_windows_used--;
}

static bool meets(const struct sc_window *w, const struct sc_matrix *m, uintptr_t lo, uintptr_t hi)
{
    return w->m == m && w->lo < hi && w->hi > lo;
}

void sc_partial_cancel(struct sc_matrix *m, uintptr_t lo, uintptr_t hi)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert(lo < hi);
    for (int i = 0; i < sc_windows_used; i++)
        if (meets(&sc_windows[i], m, lo, hi))
            sc_windows[i].m = NULL;
    sc_windows_trim();
}

bool sc_partial_any(void)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    return sc_windows_used != 0;
}

const struct sc_window *sc_window_at(const struct sc_matrix *m, uintptr_t page)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert(!(page % SC_PAGE));
    for (int i = 0; i < sc_windows_used; i++)
        if (meets(&sc_windows[i], m, page, page + 1))
            return &sc_windows[i];
    return NULL;
}

bool sc_partial_meets(const struct sc_matrix *m, uintptr_t lo, uintptr_t hi)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert(lo < hi);
    for (int i = 0; i < sc_windows_used; i++)
        if (meets(&sc_windows[i], m, lo, hi))
            return true;
    return false;
}

struct sc_window *sc_window_free(void)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    for (int i = 0; i < sc_windows_used; i++)
        if (!sc_windows[i].m)
            return &sc_windows[i];
    return sc_windows_used < SC_WINDOWS_MAX ? &sc_windows[sc_windows_used++] : NULL;
}
/* SPDX-License-Identifier: BSD-2-Clause */
