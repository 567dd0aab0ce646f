/* Conversions to CSR on host addresses: one walk over the slots counts the entries of each row, one places them. */
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

/* next[i]: where the next entry of row i goes.  What the integers say is not believed: no entry is put outside. */
static void place(const struct sc_csr_conversion *c, int64_t *next, int64_t slots)
{
    struct sc_slot s;

    for (int64_t i = 0; i < slots; i++) {
        int64_t at;

        if (!sc_slot_entry(c, i, &s))
            continue;
        at = next[s.row - c->row]++;
        if (at >= c->entries)
            continue;
        put_integer(c->csr_columns, c->to_bytes, at, s.col + c->to_base);
        put_value(c, at, &s);
    }
}

enum sc_status sc_device_convert(const struct sc_csr_conversion *c)
{
    int64_t *next = calloc((size_t)c->rows + 1, sizeof *next), slots = sc_slots(c);
    struct sc_slot s;

    if (!next)
        return SC_ERR_MEMORY;
    for (int64_t i = 0; i < slots; i++)
        if (sc_slot_entry(c, i, &s))
            next[s.row - c->row + 1]++;
    for (int64_t i = 0; i < c->rows; i++)
        next[i + 1] += next[i];
    for (int64_t i = 0; i <= c->rows; i++)
        put_integer(c->csr_rows, c->to_bytes, i, (next[i] < c->entries ? next[i] : c->entries) + c->to_base);
    place(c, next, slots);
    free(next);
    return SC_OK;
}
