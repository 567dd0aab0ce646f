/* Questions of reports and checks: the tile at an address, the host BLAS. */
#include "coherence/protocol.h"

#include <inttypes.h>
#include <stdio.h>

uint64_t sc_coherence_calls(void) { return __atomic_load_n(&sc_protocol.calls, __ATOMIC_RELAXED); }

/* A tile at an address, for reports. */
struct place {
    uint32_t matrix, tile;        /* numbers in the trace */
    int64_t row, col, rows, cols; /* position and size of the tile in the matrix */
    uint64_t devices;             /* a bit for each device with a valid copy of the sector at the address */
};

static bool find(uintptr_t address, struct place *out)
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
    *out = (struct place){.matrix = m->id, .tile = sc_matrix_tile_index(m, t), .row = t->row, .col = t->col,
                             .rows = t->rows, .cols = t->cols};
    for (int d = 0; d < sc_protocol.devices; d++)
        if (t->copy[d].valid & bit)
            out->devices |= UINT64_C(1) << d;
    return true;
}

static bool place_of(uintptr_t address, struct place *out)
{
    bool found;

    sc_protocol_lock();
    found = find(address, out);
    sc_protocol_unlock();
    return found;
}

static void log_event(void *context, const char *line)
{
    (void)context;
    sc_log(SC_LOG_ERROR, "verify:   %s", line);
}

void sc_coherence_report_place(const char *what, uintptr_t address, int events)
{
    struct place p;
    char devices[128] = "no device";
    int n = 0;

    if (!place_of(address, &p)) {
        sc_log(SC_LOG_ERROR, "verify: the %s lies in memory that is not tracked: copied in and out", what);
        return;
    }
    for (int d = 0; d < SC_DEVICES_MAX; d++)
        if (p.devices >> d & 1)
            n += snprintf(devices + n, sizeof devices - (size_t)n, "%s%d", n ? ", " : "device ", d);
    sc_log(SC_LOG_ERROR,
           "verify: the %s: matrix %u, tile %u (rows %" PRId64 " to %" PRId64 ", columns %" PRId64 " to %" PRId64
           "), which %s has; the last events of the tile:",
           what, p.matrix, p.tile, p.row, p.row + p.rows - 1, p.col, p.col + p.cols - 1, devices);
    sc_trace_recent(p.matrix, p.tile, events, log_event, NULL);
}

enum sc_status sc_coherence_kernel_on_host(const struct sc_kernel *kernel)
{
    enum sc_status status;

    sc_inside_enter();
    status = sc_device_kernel_host(sc_protocol.host->blas_symbol, kernel);
    sc_inside_leave();
    return status;
}

bool sc_coherence_block(const void *ptr, uintptr_t *base, size_t *bytes)
{
    struct sc_host_block block;

    if (!sc_host_in_arena(ptr) || !sc_host_block_of(ptr, &block))
        return false;
    *base = block.base;
    *bytes = block.bytes;
    return true;
}
/* SPDX-License-Identifier: BSD-2-Clause */
