/* Conversions of sparse matrices to CSR on emulated devices: checks of the operands, and virtual cost. */
#include "device/emu/emu_int.h"
#include "device/slot.h"

static bool holds(int device, const void *memory, int64_t n, size_t each)
{
    return n <= 0 || sc_emu_memory_holds(device, memory, (uint64_t)n * each);
}

bool sc_emu_conversion_valid(int device, const struct sc_csr_conversion *c)
{
    size_t from = (size_t)c->from_bytes, to = (size_t)c->to_bytes, elem = sc_type_bytes(c->type);
    bool lines = c->layout == SC_LAYOUT_LINES, diagonals = c->layout == SC_LAYOUT_DIAGONALS;
    int64_t values = c->count * (lines ? c->block * c->block : diagonals ? c->diagonals : 1);
    bool good = holds(device, c->index, diagonals ? c->diagonals : c->count, from) &&
                (diagonals || !c->count || holds(device, c->start, lines ? c->lines + 1 : c->count, from)) &&
                holds(device, c->values, values, elem) && holds(device, c->csr_rows, c->rows + 1, to) &&
                holds(device, c->csr_columns, c->entries, to) && holds(device, c->csr_values, c->entries, elem);

    if (!good)
        sc_log(SC_LOG_ERROR, "emulated device %d: an operand of a conversion is not in one block of its memory",
               device);
    return good;
}

/* A sort by row takes several passes over three integers per slot. */
#define BYTES_PER_SLOT 128

uint64_t sc_emu_conversion_bytes(const struct sc_csr_conversion *c)
{
    return (uint64_t)sc_slots(c) * BYTES_PER_SLOT +
           (uint64_t)c->entries * 2 * (sc_type_bytes(c->type) + (size_t)c->to_bytes);
}
/* SPDX-License-Identifier: BSD-2-Clause */
