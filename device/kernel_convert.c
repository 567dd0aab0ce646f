/* Conversions to CSR on host addresses, in two passes over the slots: the first counts the entries of every row, the
 * second places the entries. */
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "device/slot.h"

static void put_integer(void *at, int bytes, int64_t i, int64_t value)
{
    if (bytes == 4)
        ((int32_t *)at)[i] = (int32_t)value;
    else
        ((int64_t *)at)[i] = value;
}

static void put_value(const struct sc_csr_conversion *c, int64_t at, const struct sc_slot *s)
{
    size_t elem = sc_type_bytes(c->type);
    char *to = (char *)c->csr_values + (size_t)at * elem;
    bool single = c->type == SC_S || c->type == SC_C;

    if (s->value < 0) {
        memset(to, 0, elem);
        if (single)
            *(float *)to = 1;
        else
            *(double *)to = 1;
        return;
    }
    memcpy(to, (const char *)c->values + (size_t)s->value * elem, elem);
    if (s->conjugated && single)
        ((float *)to)[1] = -((float *)to)[1];
    else if (s->conjugated)
        ((double *)to)[1] = -((double *)to)[1];
}

static void add_value(const struct sc_csr_conversion *c, int64_t at, const struct sc_slot *s)
{
    size_t elem = sc_type_bytes(c->type);
    bool single = c->type == SC_S || c->type == SC_C;
    double old[2] = {0, 0}; /* large enough for any type */
    char *to = (char *)c->csr_values + (size_t)at * elem;

    memcpy(old, to, elem);
    put_value(c, at, s);
    for (size_t i = 0; i < elem / (single ? sizeof(float) : sizeof(double)); i++)
        if (single)
            ((float *)to)[i] = ((float *)old)[i] + ((float *)to)[i];
        else
            ((double *)to)[i] = old[i] + ((double *)to)[i];
}

static int64_t column_at(const struct sc_csr_conversion *c, int64_t at)
{
    return sc_slot_integer(c->csr_columns, c->to_bytes, at) - c->to_base;
}

/* Moves `n` entries from position `from` to position `to`. */
static void move(const struct sc_csr_conversion *c, int64_t to, int64_t from, int64_t n)
{
    size_t elem = sc_type_bytes(c->type), integer = (size_t)c->to_bytes;
    char *columns = c->csr_columns, *values = c->csr_values;

    memmove(columns + (size_t)to * integer, columns + (size_t)from * integer, (size_t)n * integer);
    memmove(values + (size_t)to * elem, values + (size_t)from * elem, (size_t)n * elem);
}

/* Inserts an entry into the sorted row [start, end); returns the new end. */
static int64_t insert(const struct sc_csr_conversion *c, int64_t start, int64_t end, const struct sc_slot *s)
{
    int64_t at = end;

    while (at > start && column_at(c, at - 1) > s->col)
        at--;
    if (at > start && column_at(c, at - 1) == s->col) {
        add_value(c, at - 1, s);
        return end;
    }
    if (end >= c->entries)
        return end;
    move(c, at + 1, at, end - at);
    put_integer(c->csr_columns, c->to_bytes, at, s->col + c->to_base);
    put_value(c, at, s);
    return end + 1;
}

/* Appends an entry at `end`; returns the new end. */
static int64_t append(const struct sc_csr_conversion *c, int64_t end, const struct sc_slot *s)
{
    if (end < c->entries) {
        put_integer(c->csr_columns, c->to_bytes, end, s->col + c->to_base);
        put_value(c, end, s);
    }
    return end + 1;
}

/* end[i]: end of the entries placed in row i so far.  The integers are not trusted: no entry is written out of
 * bounds. */
static void place(const struct sc_csr_conversion *c, const int64_t *start, int64_t *end, int64_t slots)
{
    struct sc_slot s;

    for (int64_t i = 0; i < slots; i++)
        if (sc_slot_entry(c, i, &s)) {
            int64_t r = s.row - c->row;

            end[r] = c->sorted ? insert(c, start[r], end[r], &s) : append(c, end[r], &s);
        }
}

/* Removes the gaps behind rows shortened by sums, and adapts `start`. */
static void close_gaps(const struct sc_csr_conversion *c, int64_t *start, const int64_t *end)
{
    int64_t at = 0;

    for (int64_t i = 0; i < c->rows; i++) {
        int64_t n = end[i] - start[i];

        move(c, at, start[i], n);
        start[i] = at;
        at += n;
    }
    start[c->rows] = at;
}

/* Computes the start of every row from the slots, before entries with equal columns are summed. */
static void count(const struct sc_csr_conversion *c, int64_t *start, int64_t slots)
{
    struct sc_slot s;

    for (int64_t i = 0; i < slots; i++)
        if (sc_slot_entry(c, i, &s))
            start[s.row - c->row + 1]++;
    for (int64_t i = 0; i < c->rows; i++)
        start[i + 1] += start[i];
}

enum sc_status sc_device_convert(const struct sc_csr_conversion *c)
{
    size_t rows = (size_t)c->rows + 1;
    int64_t *start = calloc(2 * rows, sizeof *start), *end = start + rows, slots = sc_slots(c);

    if (!start)
        return SC_ERR_MEMORY;
    count(c, start, slots);
    for (int64_t i = 0; i <= c->rows; i++)
        end[i] = start[i] = start[i] < c->entries ? start[i] : c->entries;
    place(c, start, end, slots);
    if (c->sorted)
        close_gaps(c, start, end);
    for (int64_t i = 0; i <= c->rows; i++)
        put_integer(c->csr_rows, c->to_bytes, i, start[i] + c->to_base);
    free(start);
    return SC_OK;
}
/* SPDX-License-Identifier: BSD-2-Clause */
