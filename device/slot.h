/* A conversion to CSR (struct sc_csr_conversion), entry by entry, for the host and for devices.  A slot is a candidate
 * entry of the source; most slots are entries.  Slots are numbered in the CSR's order within a row: a stable sort of
 * the entries by row gives the CSR. */
#ifndef SC_DEVICE_SLOT_H
#define SC_DEVICE_SLOT_H

#include "base/types.h"

#ifndef SC_SLOT_FN /* a device's compiler needs qualifiers of its own */
#define SC_SLOT_FN static inline
#endif

struct sc_slot {
    int64_t row, col;
    int64_t value; /* index in `values`; -1: the number one */
    bool conjugated;
};

/* Number of slots of stored entries; the slots of the unit diagonal follow. */
SC_SLOT_FN int64_t sc_slots_stored(const struct sc_csr_conversion *c)
{
    int64_t each = c->layout == SC_LAYOUT_LINES ? c->block * c->block
                   : c->layout == SC_LAYOUT_DIAGONALS ? c->diagonals : 1;

    return c->count * each * (c->mirrored ? 2 : 1);
}

SC_SLOT_FN int64_t sc_slots(const struct sc_csr_conversion *c)
{
    return sc_slots_stored(c) + (c->ones ? c->rows : 0);
}

SC_SLOT_FN int64_t sc_slot_integer(const void *at, int bytes, int64_t i)
{
    return bytes == 4 ? ((const int32_t *)at)[i] : ((const int64_t *)at)[i];
}

/* The last line that starts at or before a position; lines may be empty. */
SC_SLOT_FN int64_t sc_slot_line(const struct sc_csr_conversion *c, int64_t position)
{
    int64_t low = 0, high = c->lines;

    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;

        if (sc_slot_integer(c->start, c->from_bytes, middle) - c->from_base <= position)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Position in the matrix, and index in `values`, of stored entry i. */
SC_SLOT_FN void sc_slot_stored(const struct sc_csr_conversion *c, int64_t i, struct sc_slot *s)
{
    int64_t area = c->block * c->block, within, line, across;

    s->value = i;
    if (c->layout == SC_LAYOUT_COORDINATES) {
        s->row = sc_slot_integer(c->start, c->from_bytes, i) - c->from_base;
        s->col = sc_slot_integer(c->index, c->from_bytes, i) - c->from_base;
    } else if (c->layout == SC_LAYOUT_DIAGONALS) {
        s->row = c->first + i % c->count;
        s->col = s->row + sc_slot_integer(c->index, c->from_bytes, i / c->count);
    } else {
        within = i % area;
        line = sc_slot_line(c, c->first + i / area);
        across = sc_slot_integer(c->index, c->from_bytes, i / area) - c->from_base;
        s->row = (c->by_columns ? across : line) * c->block + within / c->block;
        s->col = (c->by_columns ? line : across) * c->block + within % c->block;
        if (!c->block_by_rows)
            s->value += within % c->block * c->block + within / c->block - within;
    }
}

/* False if the slot has no entry in the requested rows. */
SC_SLOT_FN bool sc_slot_entry(const struct sc_csr_conversion *c, int64_t slot, struct sc_slot *s)
{
    int64_t stored = sc_slots_stored(c), row;
    bool mirror = c->mirrored && slot % 2;

    if (slot >= stored) {
        s->row = s->col = c->row + slot - stored;
        s->value = -1;
        s->conjugated = false;
        return s->row < c->m && s->row < c->n;
    }
    sc_slot_stored(c, c->mirrored ? slot / 2 : slot, s);
    if (s->row < 0 || s->row >= c->m || s->col < 0 || s->col >= c->n)
        return false;
    if (s->row == s->col ? !c->diagonal || mirror : s->col < s->row ? !c->lower : !c->upper)
        return false;
    if (mirror != c->transposed) {
        row = s->row;
        s->row = s->col;
        s->col = row;
    }
    s->conjugated = (c->type == SC_C || c->type == SC_Z) && (mirror && c->mirror_conjugated) != c->conjugated;
    return s->row >= c->row && s->row < c->row + c->rows;
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
