/* The public interface (include/semcache/semcache.h; rule L9 of README.md). */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "semcache/semcache.h"

#include "autotuner/schedule.h"
#include "base/config.h"
#include "blas/blas.h"
#include "coherence/access.h"
#include "coherence/call.h"
#include "coherence/devices.h"
#include "host/host.h"
#include "libsemcache/library.h"
#include "libsemcache/public.h"
#include "sparse/sparse.h"
#include "tasks/tasks.h"
#include "trace/trace.h"

enum semcache_status sc_public_status(enum sc_status status)
{
    switch (status) {
    case SC_OK: return SEMCACHE_OK;
    case SC_ERR_MEMORY:
    case SC_ERR_DEVICE_MEMORY: return SEMCACHE_ERROR_MEMORY;
    case SC_ERR_DEVICE: return SEMCACHE_ERROR_DEVICE;
    case SC_ERR_INVALID: return SEMCACHE_ERROR_INVALID;
    case SC_ERR_IO: return SEMCACHE_ERROR_IO;
    case SC_ERR_UNSUPPORTED:
    case SC_ERR_CONFLICT: return SEMCACHE_ERROR_UNSUPPORTED;
    }
    return SEMCACHE_ERROR_DEVICE;
}

const char *semcache_status_name(enum semcache_status status)
{
    switch (status) {
    case SEMCACHE_OK: return "ok";
    case SEMCACHE_ERROR_INVALID: return "invalid argument";
    case SEMCACHE_ERROR_MEMORY: return "out of memory";
    case SEMCACHE_ERROR_NO_DEVICE: return "no device";
    case SEMCACHE_ERROR_TOO_LATE: return "too late: the devices have been opened or closed";
    case SEMCACHE_ERROR_UNSUPPORTED: return "this memory cannot be kept on devices";
    case SEMCACHE_ERROR_DEVICE: return "a device failed";
    case SEMCACHE_ERROR_IO: return "writing failed";
    }
    return "unknown status";
}

const char *semcache_version(void) { return PACKAGE_VERSION; }

/* --- start and end ------------------------------------------------------------------------------------------------ */

enum semcache_status semcache_set_device(const char *device)
{
    enum sc_status status = device ? sc_library_set_device(device) : SC_ERR_INVALID;

    return status == SC_ERR_CONFLICT ? SEMCACHE_ERROR_TOO_LATE : sc_public_status(status);
}

enum semcache_status semcache_init(void)
{
    if (sc_config.offload == SC_OFFLOAD_NEVER)
        return SEMCACHE_ERROR_NO_DEVICE;
    return sc_library_start_waiting() ? SEMCACHE_OK : SEMCACHE_ERROR_NO_DEVICE;
}

enum semcache_status semcache_shutdown(void)
{
    sc_library_end(false);
    return SEMCACHE_OK;
}

static bool is_running(void) { return sc_library_life() == SC_LIBRARY_RUNNING; }

/* Whether copies may still be written back to the host. */
static bool is_tracking(void) { return is_running() || sc_library_life() == SC_LIBRARY_ENDING; }

int semcache_device_count(void) { return is_running() ? sc_coherence_devices() : 0; }

/* --- memory ------------------------------------------------------------------------------------------------------- */

void *semcache_alloc(size_t bytes)
{
    void *memory;

    if (bytes > SIZE_MAX / 2)
        return NULL;
    if (!sc_host_malloc_seen()) {
        memory = sc_host_alloc(bytes);
        return memory || posix_memalign(&memory, SC_PAGE, bytes) == 0 ? memory : NULL;
    }
    if (bytes < sc_config.arena_min)
        bytes = sc_config.arena_min; /* smaller allocations would stay with libc */
    return posix_memalign(&memory, SC_PAGE, bytes) == 0 ? memory : NULL;
}

void semcache_free(void *memory)
{
    const struct sc_library_server *server = sc_library_server();
    struct sc_host_block block;

    if (server && server->free(memory))
        return;
    if (sc_host_malloc_seen() || !sc_host_in_arena(memory) || !sc_host_block_of(memory, &block)) {
        free(memory);
        return;
    }
    if (is_tracking()) {
        sc_trace(.kind = SC_EVENT_FREE, .range = {.address = block.base, .bytes = block.bytes});
        sc_coherence_forget(block.base, block.bytes);
    }
    sc_host_free(memory);
}

/* False for a range that wraps around the end of the address space. */
static bool is_range(const void *memory, size_t bytes) { return (uintptr_t)memory + bytes >= (uintptr_t)memory; }

enum semcache_status semcache_acquire(const void *memory, size_t bytes, enum semcache_mode mode)
{
    if (!is_range(memory, bytes) || mode < SEMCACHE_READ || mode > SEMCACHE_READWRITE || (!memory && bytes))
        return SEMCACHE_ERROR_INVALID;
    if (is_running() && bytes) {
        sc_trace_acquire((uintptr_t)memory, bytes, (enum sc_access)mode);
        sc_coherence_acquire_host((uintptr_t)memory, bytes, (enum sc_access)mode);
    }
    return SEMCACHE_OK;
}

enum semcache_status semcache_sync(const void *memory, size_t bytes)
{
    if (memory)
        return semcache_acquire(memory, bytes, SEMCACHE_READ);
    if (is_running()) {
        sc_trace(.kind = SC_EVENT_HOME);
        sc_coherence_home_all();
    }
    return SEMCACHE_OK;
}

enum semcache_status semcache_invalidate(const void *memory, size_t bytes)
{
    if (!is_range(memory, bytes) || (!memory && bytes))
        return SEMCACHE_ERROR_INVALID;
    if (is_running() && bytes) {
        sc_trace(.kind = SC_EVENT_RELEASE, .range = {.address = (uintptr_t)memory, .bytes = bytes});
        sc_coherence_release_range((uintptr_t)memory, bytes);
    }
    return SEMCACHE_OK;
}

static void trace_prefetch(const struct sc_view *view, int device)
{
    struct sc_event event = {.kind = SC_EVENT_PREFETCH, .access = SC_READ, .type = (uint8_t)view->type,
                             .device = (int16_t)device,
                             .operand = {.address = (uintptr_t)view->ptr, .rows = view->rows, .cols = view->cols,
                                         .step = view->ld, .name = 'A'}};
    uintptr_t base;
    size_t bytes;

    if (sc_coherence_block(view->ptr, &base, &bytes)) {
        event.operand.block = base;
        event.block_pages = (uint32_t)(bytes >> SC_PAGE_SHIFT);
    }
    sc_trace_emit(&event);
}

enum semcache_status semcache_prefetch(const void *memory, int64_t rows, int64_t cols, int64_t ld,
                                       enum semcache_type type, int device)
{
    struct sc_view view = {.ptr = memory, .type = (enum sc_type)type, .rows = rows, .cols = cols, .ld = ld,
                           .access = SC_READ, .split = SC_SPLIT_COLS};

    if (rows < 0 || cols < 0 || ld < rows || ld < 1 || (unsigned)type >= SC_TYPES || device < SEMCACHE_ANY_DEVICE ||
        !sc_view_fits(&view))
        return SEMCACHE_ERROR_INVALID;
    if (semcache_init() != SEMCACHE_OK)
        return SEMCACHE_ERROR_NO_DEVICE;
    if (device >= sc_coherence_devices() || !memory)
        return SEMCACHE_ERROR_INVALID;
    if (rows == 0 || cols == 0)
        return SEMCACHE_OK;
    if (__builtin_expect(sc_trace_on, 0))
        trace_prefetch(&view, device);
    if (rows == 1 || cols == 1) { /* the view of a BLAS call */
        view.vector = true;
        view.ld = cols == 1 ? 1 : ld;
        view.rows = rows * cols;
        view.cols = 1;
    } else {
        sc_schedule_grid(sc_config.schedule, sc_coherence_devices(), sc_coherence_peer_ratio(), rows, cols,
                         sc_config.offload == SC_OFFLOAD_ALWAYS, &view.tile_rows, &view.tile_cols);
    }
    return sc_public_status(sc_tasks_prefetch_view(&view, device));
}

/* --- sparse matrices ---------------------------------------------------------------------------------------------- */

/* The public handle is the internal handle under another name. */
static struct sc_sparse_matrix *inner(struct semcache_sparse *matrix) { return (struct sc_sparse_matrix *)matrix; }

static void scalar(double out[2], const void *value, enum sc_type type)
{
    bool single = type == SC_S || type == SC_C;

    out[0] = single ? (double)((const float *)value)[0] : ((const double *)value)[0];
    out[1] = 0;
    if (sc_type_is_complex(type))
        out[1] = single ? (double)((const float *)value)[1] : ((const double *)value)[1];
}

enum semcache_status semcache_sparse_csr(struct semcache_sparse **matrix, int64_t rows, int64_t cols, const void *start,
                                         const void *columns, const void *values, enum semcache_type type,
                                         int index_bytes, int base)
{
    struct sc_sparse_arrays arrays = {.format = SC_SPARSE_CSR, .type = (enum sc_type)type, .index_bytes = index_bytes,
                                      .base = base, .rows = rows, .cols = cols, .start = start, .index = columns,
                                      .values = values};
    struct sc_sparse_matrix *made;
    enum sc_status status;

    if (!matrix)
        return SEMCACHE_ERROR_INVALID;
    status = sc_sparse_create(&made, &arrays, false);
    *matrix = (struct semcache_sparse *)made;
    return sc_public_status(status);
}

enum semcache_status semcache_sparse_mv(struct semcache_sparse *matrix, char op, const void *alpha, const void *x,
                                        const void *beta, void *y)
{
    static const struct sc_sparse_descr general = {.kind = SC_SPARSE_GENERAL, .uplo = 'L', .diag = 'N'};
    enum sc_type type;
    double a[2], b[2];

    if (!matrix || !alpha || !beta)
        return SEMCACHE_ERROR_INVALID;
    type = sc_sparse_arrays(inner(matrix))->type;
    scalar(a, alpha, type);
    scalar(b, beta, type);
    return sc_public_status(sc_sparse_mv(inner(matrix), op, &general, a, x, 1, b, y, 1));
}

void semcache_sparse_destroy(struct semcache_sparse *matrix)
{
    sc_sparse_destroy(inner(matrix));
}

/* --- statistics --------------------------------------------------------------------------------------------------- */

enum semcache_status semcache_statistics(struct semcache_statistics *statistics)
{
    size_t size = statistics ? statistics->size : 0;
    struct semcache_statistics now;

    if (size < sizeof statistics->size)
        return SEMCACHE_ERROR_INVALID;
    sc_blas_counts_collect();
    now = (struct semcache_statistics){.bytes_h2d = sc_stats.bytes[SC_H2D],
                                       .bytes_d2h = sc_stats.bytes[SC_D2H],
                                       .bytes_d2d = sc_stats.bytes[SC_D2D],
                                       .transfers_h2d = sc_stats.transfers[SC_H2D],
                                       .transfers_d2h = sc_stats.transfers[SC_D2H],
                                       .transfers_d2d = sc_stats.transfers[SC_D2D],
                                       .faults_read = sc_stats.faults_read,
                                       .faults_write = sc_stats.faults_write,
                                       .hits = sc_stats.hits,
                                       .misses = sc_stats.misses,
                                       .evictions = sc_stats.evictions,
                                       .reshapes = sc_stats.reshapes,
                                       .percall_in = sc_stats.percall_in,
                                       .percall_out = sc_stats.percall_out,
                                       .bytes_pushed = sc_stats.pushed};
    for (int i = 0; i < SC_TRACE_ROUTINES_MAX; i++) {
        now.calls_offloaded += sc_stats.offloaded[i];
        now.calls_host += sc_stats.host[i];
    }
    memset(statistics, 0, size); /* a newer program may have more members */
    memcpy(statistics, &now, size < sizeof now ? size : sizeof now);
    statistics->size = size;
    return SEMCACHE_OK;
}

enum semcache_status semcache_statistics_write(FILE *out)
{
    return out ? sc_public_status(sc_library_statistics(out)) : SEMCACHE_ERROR_INVALID;
}
/* SPDX-License-Identifier: BSD-2-Clause */
