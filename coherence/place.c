/* What reports and checks ask: what is at an address, and the host BLAS. */
#include "coherence/protocol.h"

uint64_t sc_coherence_calls(void)
{
    uint64_t calls;

    sc_protocol_lock();
    calls = sc_protocol.calls;
    sc_protocol_unlock();
    return calls;
}

static bool find(uintptr_t address, struct sc_place *out)
{
    struct sc_matrix *m = sc_directory_next(address, address + 1);
    const struct sc_tile *t;
    int64_t element, row, col;
    uint64_t bit;

    if (!m)
        return false;
    element = (int64_t)((address - m->base) / m->elem);
    row = element % m->ld;
    col = element / m->ld;
    if (row >= m->rows || col >= m->cols)
        return false;
    t = sc_matrix_tile(m, sc_matrix_tile_row(m, row), sc_matrix_tile_col(m, col));
    bit = sc_tile_sectors(m, t, col, 1);
    *out = (struct sc_place){.matrix = m->id, .tile = sc_matrix_tile_index(m, t), .row = t->row, .col = t->col,
                             .rows = t->rows, .cols = t->cols};
    for (int d = 0; d < sc_protocol.devices; d++)
        if (t->copy[d].valid & bit)
            out->devices |= UINT64_C(1) << d;
    return true;
}

bool sc_coherence_place(uintptr_t address, struct sc_place *out)
{
    bool found;

    sc_protocol_lock();
    found = find(address, out);
    sc_protocol_unlock();
    return found;
}

enum sc_status sc_coherence_kernel_on_host(const struct sc_kernel *kernel)
{
    enum sc_status status;

    sc_inside_enter();
    status = sc_device_kernel_host(sc_protocol.host->blas_symbol, kernel);
    sc_inside_leave();
    return status;
}
