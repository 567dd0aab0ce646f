/* Devices that are lost.  A device with an error gets no new work, but its data still comes home (rule 6).  A device
 * that cannot send data home, or whose streams have failed, is lost: data with another copy is kept, data without is
 * reported in one line. */
#include "coherence/protocol.h"

#include <stdio.h>

/* --- what is lost ------------------------------------------------------------------------------------------------- */

/* A line of at most 8 arrays. */
struct list {
    char text[800];
    size_t length;
    int arrays;
};

static void list_add(struct list *l, const struct sc_matrix *m, uintptr_t lo, uintptr_t hi)
{
    if (++l->arrays > 8)
        return;
    l->length += (size_t)snprintf(l->text + l->length, sizeof l->text - l->length, "%s%#lx + %lu bytes",
                                  l->arrays > 1 ? ", " : "", (unsigned long)lo, (unsigned long)(hi - lo));
    if (m->writer.call) {
        const char *name = sc_trace_routine_name(m->writer.routine);

        l->length += (size_t)snprintf(l->text + l->length, sizeof l->text - l->length, " (%s, call %llu)",
                                      name ? name : "?", (unsigned long long)m->writer.call);
    }
}

/* Sectors with a failed transfer from the device to the host.  Transfers of open sectors were checked when the
 * sectors were opened. */
static uint64_t not_landed(int device, const struct sc_matrix *m, const struct sc_tile *t)
{
    int first = (int)(sc_matrix_tile_index(m, t) / (uint32_t)m->row_parts) * SC_SECTORS;
    uint64_t missing = 0;

    for (uint64_t rest = t->host_valid; rest; rest &= rest - 1) {
        int s = __builtin_ctzll(rest);

        if (t->landed[s].seq && t->landed[s].device == device && !m->open[first + s] &&
            sc_protocol.ops->sync(t->landed[s]) != SC_OK)
            missing |= UINT64_C(1) << s;
    }
    return missing;
}

/* Sectors that the device failed to write into other devices' memory (exchange.c): they become invalid there.
 * Returns the failed sectors that the host lacks. */
static uint64_t not_pushed(int device, struct sc_matrix *m, struct sc_tile *t)
{
    uint64_t missing = 0;

    for (int d = 0; d < sc_protocol.devices; d++) {
        struct sc_copy *c = &t->copy[d];
        uint64_t its = 0;

        for (uint64_t rest = d == device ? 0 : c->valid; rest; rest &= rest - 1) {
            int s = __builtin_ctzll(rest);

            if (c->ready[s].seq && c->ready[s].device == device && sc_protocol.ops->sync(c->ready[s]) != SC_OK)
                its |= UINT64_C(1) << s;
        }
        if (its)
            sc_protocol_dropped(m, t, d, its);
        missing |= its;
    }
    return missing & ~t->host_valid;
}

/* True, and their bytes on the host, when sectors of the tile existed nowhere else. */
static bool lose_tile(int device, struct sc_matrix *m, struct sc_tile *t, uintptr_t *lo, uintptr_t *hi)
{
    uint64_t missing = not_pushed(device, m, t) | not_landed(device, m, t);
    uint64_t lost = sc_protocol_lost(m, t, device, missing);
    int first = (int)(sc_matrix_tile_index(m, t) / (uint32_t)m->row_parts) * SC_SECTORS;
    uintptr_t none;

    return lost && sc_matrix_sector_range(m, first + __builtin_ctzll(lost), lo, &none) &&
           sc_matrix_sector_range(m, first + 63 - __builtin_clzll(lost), &none, hi);
}

static void lose_matrix(int device, struct sc_matrix *m, struct list *list)
{
    uintptr_t lo = UINTPTR_MAX, hi = 0, a, b;

    for (int i = 0; i < m->row_parts * m->col_parts; i++)
        if (lose_tile(device, m, &m->tiles[i], &a, &b)) {
            lo = a < lo ? a : lo;
            hi = b > hi ? b : hi;
        }
    if (lo < hi)
        list_add(list, m, lo, hi);
}

void sc_device_lost(int device, const char *doing)
{
    struct list list = {.length = 0};
    char more[32] = "";

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    if (sc_protocol.lost[device])
        return;
    sc_protocol.failed[device] = true;
    __atomic_store_n(&sc_protocol.lost[device], true, __ATOMIC_RELAXED);
    for (size_t i = 0; i < sc_directory_count(); i++)
        lose_matrix(device, sc_directory_at(i), &list);
    if (list.arrays > 8)
        snprintf(more, sizeof more, " and %d more", list.arrays - 8);
    if (list.arrays)
        sc_log(SC_LOG_ERROR,
               "device %d (%s) is lost (%s), and with it what only it had of %s%s: older values are there now", device,
               sc_protocol.properties[device].name, doing, list.text, more);
    else
        sc_log(SC_LOG_WARN, "device %d (%s) is lost (%s); no data was only there, calls go on elsewhere", device,
               sc_protocol.properties[device].name, doing);
}

/* --- noticing ----------------------------------------------------------------------------------------------------- */

void sc_devices_look(void)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    for (unsigned bad = __atomic_load_n(&sc_protocol.bad, __ATOMIC_ACQUIRE); bad; bad &= bad - 1)
        sc_device_lost(__builtin_ctz(bad), "waiting for it");
}

bool sc_landed(struct sc_fence f)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    if (!sc_reached(f))
        return false;
    if (sc_sync(f) != SC_OK)
        sc_devices_look();
    return true;
}
/* SPDX-License-Identifier: BSD-2-Clause */
