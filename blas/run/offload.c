/* From a call of the program to tasks: check it, describe its operands, ask whether it pays, run it. */
#include "blas/blas.h"

#include "autotuner/autotuner.h"
#include "autotuner/explain.h"
#include "autotuner/host_rates.h"
#include "autotuner/demand.h"
#include "autotuner/schedule.h"
#include "autotuner/start.h"
#include "base/config.h"
#include "base/inside.h"
#include "base/quiet.h"
#include "blas/run/tasks.h"
#include "trace/trace.h"

typedef enum sc_status run_function(struct sc_blas_job *call);

static run_function *const run_[SC_OPS] = { /* NULL: a reduction */
    [SC_OP_AXPY] = sc_blas_level1, [SC_OP_SCAL] = sc_blas_level1, [SC_OP_COPY] = sc_blas_level1,
    [SC_OP_SWAP] = sc_blas_level1, [SC_OP_AXPBY] = sc_blas_level1, [SC_OP_ROT] = sc_blas_level1,
    [SC_OP_ROTM] = sc_blas_level1, [SC_OP_SYMV] = sc_blas_gemv,   [SC_OP_HEMV] = sc_blas_gemv,
    [SC_OP_SYR] = sc_blas_syr,     [SC_OP_HER] = sc_blas_syr,     [SC_OP_SYR2] = sc_blas_syr,
    [SC_OP_HER2] = sc_blas_syr,    [SC_OP_TRMV] = sc_blas_trmv,   [SC_OP_GBMV] = sc_blas_single,
    [SC_OP_SBMV] = sc_blas_single, [SC_OP_HBMV] = sc_blas_single, [SC_OP_TBMV] = sc_blas_single,
    [SC_OP_TBSV] = sc_blas_single, [SC_OP_SPMV] = sc_blas_single, [SC_OP_HPMV] = sc_blas_single,
    [SC_OP_SPR] = sc_blas_single,  [SC_OP_HPR] = sc_blas_single,  [SC_OP_SPR2] = sc_blas_single,
    [SC_OP_HPR2] = sc_blas_single, [SC_OP_TPMV] = sc_blas_single, [SC_OP_TPSV] = sc_blas_single,
    [SC_OP_GEMV] = sc_blas_gemv,   [SC_OP_GER] = sc_blas_ger,
    [SC_OP_GERC] = sc_blas_ger,    [SC_OP_TRSV] = sc_blas_trsv,   [SC_OP_GEMM] = sc_blas_gemm,
    [SC_OP_SYMM] = sc_blas_symm,   [SC_OP_HEMM] = sc_blas_symm,   [SC_OP_SYRK] = sc_blas_rank,
    [SC_OP_HERK] = sc_blas_rank,   [SC_OP_SYR2K] = sc_blas_rank, [SC_OP_HER2K] = sc_blas_rank,
    [SC_OP_GEMMT] = sc_blas_rank,  [SC_OP_TRMM] = sc_blas_trmm,   [SC_OP_TRSM] = sc_blas_trsm};

/* --- is it valid ------------------------------------------------------------------------------------------------- */

static bool is_trans(char c)
{
    return c == 'N' || c == 'T' || c == 'C';
}

static bool is_triangle(const struct sc_kernel *k)
{
    return (k->uplo == 'U' || k->uplo == 'L') && is_trans(k->transa) && (k->diag == 'U' || k->diag == 'N');
}

static bool is_sided(const struct sc_kernel *k)
{
    return (k->side == 'L' || k->side == 'R') && (k->uplo == 'U' || k->uplo == 'L');
}

/* herk and her2k take no 'T', complex syrk and syr2k no 'C'. */
static bool is_rank_trans(const struct sc_kernel *k)
{
    if (k->op == SC_OP_HERK || k->op == SC_OP_HER2K)
        return k->transa == 'N' || k->transa == 'C';
    if (k->op == SC_OP_GEMMT)
        return is_trans(k->transa) && is_trans(k->transb);
    return k->transa == 'N' || k->transa == 'T' || (k->transa == 'C' && !sc_type_is_complex(k->type));
}

/* Letters, and nothing that the host would return from at once. */
static bool is_work(const struct sc_kernel *k)
{
    bool alpha = !sc_blas_is_zero(k->alpha);
    struct sc_kernel rows;

    if (!sc_op_has_type(k->op, k->type) || (k->conj && !sc_kernel_rows(k, &rows)))
        return false;
    switch (k->op) {
    case SC_OP_AXPY: return k->n > 0 && alpha;
    case SC_OP_AXPBY: return k->n > 0 && alpha && k->a != k->b; /* devices do it in two steps */
    case SC_OP_GBMV:
    case SC_OP_GEMV: return k->m > 0 && k->n > 0 && alpha && is_trans(k->transa);
    case SC_OP_GER:
    case SC_OP_GERC: return k->m > 0 && k->n > 0 && alpha;
    case SC_OP_SYMV:
    case SC_OP_HEMV:
    case SC_OP_SBMV:
    case SC_OP_HBMV:
    case SC_OP_SPMV:
    case SC_OP_HPMV:
    case SC_OP_SYR:
    case SC_OP_HER:
    case SC_OP_SPR:
    case SC_OP_HPR:
    case SC_OP_SYR2:
    case SC_OP_HER2:
    case SC_OP_SPR2:
    case SC_OP_HPR2: return k->n > 0 && alpha && (k->uplo == 'U' || k->uplo == 'L');
    case SC_OP_TRMV:
    case SC_OP_TBMV:
    case SC_OP_TBSV:
    case SC_OP_TPMV:
    case SC_OP_TPSV:
    case SC_OP_TRSV: return k->n > 0 && is_triangle(k);
    case SC_OP_GEMM: return k->m > 0 && k->n > 0 && k->k > 0 && alpha && is_trans(k->transa) && is_trans(k->transb);
    case SC_OP_SYMM:
    case SC_OP_HEMM: return k->m > 0 && k->n > 0 && alpha && is_sided(k);
    case SC_OP_SYRK:
    case SC_OP_HERK:
    case SC_OP_SYR2K:
    case SC_OP_HER2K:
    case SC_OP_GEMMT: return k->n > 0 && k->k > 0 && alpha && (k->uplo == 'U' || k->uplo == 'L') && is_rank_trans(k);
    case SC_OP_TRMM:
    case SC_OP_TRSM: return k->m > 0 && k->n > 0 && alpha && is_sided(k) && is_triangle(k);
    default: return k->n > 0;
    }
}

/* One-vector operations do nothing for increments that are not positive. */
static bool views_are_valid(const struct sc_view *view, int count)
{
    for (int i = 0; i < count; i++) {
        const struct sc_view *v = &view[i];
        const struct sc_blas_operand operand = {.ptr = v->ptr, .rows = v->vector ? 1 : v->rows,
                                                .cols = v->vector ? v->rows : v->cols,
                                                .ld = v->vector ? sc_step(v->ld) : v->ld, .type = v->type};

        if (!v->ptr || !sc_blas_operand_fits(&operand))
            return false;
        if (view[i].vector ? view[i].ld == 0 || (count == 1 && view[i].ld < 0) : view[i].ld < view[i].rows)
            return false;
    }
    return true;
}

/* --- its operands ------------------------------------------------------------------------------------------------ */

static struct sc_view vector(const struct sc_kernel *k, const void *ptr, int64_t n, int64_t inc, enum sc_access access)
{
    return (struct sc_view){.ptr = ptr, .type = k->type, .vector = true, .rows = n, .cols = 1, .ld = inc,
                            .access = access, .split = SC_SPLIT_ROWS};
}

static struct sc_view matrix(const struct sc_kernel *k, const void *ptr, int64_t rows, int64_t cols, int64_t ld,
                             enum sc_access access, enum sc_split split)
{
    return (struct sc_view){.ptr = ptr, .type = k->type, .rows = rows, .cols = cols, .ld = ld, .access = access,
                            .split = split};
}

/* op(M) is rows x cols and is to be split as given: the stored M. */
static struct sc_view stored(const struct sc_kernel *k, const void *ptr, char trans, int64_t rows, int64_t cols,
                             int64_t ld, enum sc_split split)
{
    if (trans == 'N')
        return matrix(k, ptr, rows, cols, ld, SC_READ, split);
    return matrix(k, ptr, cols, rows, ld, SC_READ, split == SC_SPLIT_ROWS ? SC_SPLIT_COLS : SC_SPLIT_ROWS);
}

static int views_of_vectors(const struct sc_kernel *k, struct sc_view *v)
{
    bool both = k->op == SC_OP_SWAP || k->op == SC_OP_ROT || k->op == SC_OP_ROTM, scal = k->op == SC_OP_SCAL;
    enum sc_access y = k->op == SC_OP_COPY    ? SC_WRITE
                     : k->op == SC_OP_AXPBY   ? sc_blas_output_access(k)
                     : sc_op_is_reduction(k->op) ? SC_READ : SC_RDWR;

    v[0] = vector(k, k->a, k->n, k->lda, both || scal ? SC_RDWR : SC_READ);
    if (scal || k->op == SC_OP_NRM2 || k->op == SC_OP_ASUM || k->op == SC_OP_IAMAX || k->op == SC_OP_IAMIN)
        return 1;
    v[1] = vector(k, k->b, k->n, k->ldb, y);
    return 2;
}

/* Products: devices own strips of C across the triangle or the sum; A is split along the sum, so that no
 * block of C is. */
static int views_of_products(const struct sc_kernel *k, struct sc_view *v)
{
    bool right = k->side == 'R', straight = k->transa == 'N', one = k->op == SC_OP_TRMM || k->op == SC_OP_TRSM;
    enum sc_access c = sc_blas_output_access(k);

    if (k->op == SC_OP_GEMM) {
        v[0] = stored(k, k->a, k->transa, k->m, k->k, k->lda, SC_SPLIT_COLS);
        v[1] = stored(k, k->b, k->transb, k->k, k->n, k->ldb, SC_SPLIT_COLS);
        v[2] = matrix(k, k->c, k->m, k->n, k->ldc, c, SC_SPLIT_COLS);
        return 3;
    }
    if (k->op == SC_OP_SYRK || k->op == SC_OP_HERK) {
        v[0] = stored(k, k->a, k->transa, k->n, k->k, k->lda, SC_SPLIT_ROWS);
        v[1] = matrix(k, k->c, k->n, k->n, k->ldc, SC_RDWR, SC_SPLIT_ROWS);
        return 2;
    }
    if (k->op == SC_OP_SYR2K || k->op == SC_OP_HER2K || k->op == SC_OP_GEMMT) {
        char across = k->op == SC_OP_GEMMT ? k->transb : straight ? 'T' : 'N'; /* of B, k x n */

        v[0] = stored(k, k->a, k->transa, k->n, k->k, k->lda, SC_SPLIT_ROWS);
        v[1] = stored(k, k->b, across, k->k, k->n, k->ldb, SC_SPLIT_COLS);
        v[2] = matrix(k, k->c, k->n, k->n, k->ldc, SC_RDWR, SC_SPLIT_ROWS);
        return 3;
    }
    v[0] = matrix(k, k->a, right ? k->n : k->m, right ? k->n : k->m, k->lda, SC_READ,
                  right ? SC_SPLIT_COLS : SC_SPLIT_ROWS);
    v[1] = matrix(k, k->b, k->m, k->n, k->ldb, one ? SC_RDWR : SC_READ,
                  right ? SC_SPLIT_ROWS : SC_SPLIT_COLS);
    if (one)
        return 2;
    v[2] = matrix(k, k->c, k->m, k->n, k->ldc, c, right ? SC_SPLIT_ROWS : SC_SPLIT_COLS);
    return 3;
}

/* The matrix of a level 2 operation as it is stored. */
static struct sc_view level2_matrix(const struct sc_kernel *k, const void *ptr, int64_t ld, enum sc_access access)
{
    if (sc_op_is_packed(k->op))
        return vector(k, ptr, k->n * (k->n + 1) / 2, 1, access);
    if (sc_op_is_banded(k->op))
        return matrix(k, ptr, (k->op == SC_OP_GBMV ? k->kl + k->ku : k->k) + 1, k->n, ld, access, SC_SPLIT_COLS);
    return matrix(k, ptr, k->n, k->n, ld, access, SC_SPLIT_ROWS);
}

static int views_of(const struct sc_kernel *k, struct sc_view *v)
{
    bool straight = k->transa == 'N';

    switch (k->op) {
    case SC_OP_GEMV:
    case SC_OP_GBMV:
        v[0] = k->op == SC_OP_GBMV ? level2_matrix(k, k->a, k->lda, SC_READ)
                                   : matrix(k, k->a, k->m, k->n, k->lda, SC_READ, SC_SPLIT_ROWS);
        v[1] = vector(k, k->b, straight ? k->n : k->m, k->ldb, SC_READ);
        v[2] = vector(k, k->c, straight ? k->m : k->n, k->ldc, sc_blas_output_access(k));
        return 3;
    case SC_OP_GER:
    case SC_OP_GERC:
        v[0] = vector(k, k->a, k->m, k->lda, SC_READ);
        v[1] = vector(k, k->b, k->n, k->ldb, SC_READ);
        v[2] = matrix(k, k->c, k->m, k->n, k->ldc, SC_RDWR, SC_SPLIT_ROWS);
        return 3;
    case SC_OP_SYMV:
    case SC_OP_HEMV:
    case SC_OP_SBMV:
    case SC_OP_HBMV:
    case SC_OP_SPMV:
    case SC_OP_HPMV:
        v[0] = level2_matrix(k, k->a, k->lda, SC_READ);
        v[1] = vector(k, k->b, k->n, k->ldb, SC_READ);
        v[2] = vector(k, k->c, k->n, k->ldc, sc_blas_output_access(k));
        return 3;
    case SC_OP_SYR:
    case SC_OP_HER:
    case SC_OP_SPR:
    case SC_OP_HPR:
        v[0] = vector(k, k->a, k->n, k->lda, SC_READ);
        v[1] = level2_matrix(k, k->c, k->ldc, SC_RDWR);
        return 2;
    case SC_OP_SYR2:
    case SC_OP_HER2:
    case SC_OP_SPR2:
    case SC_OP_HPR2:
        v[0] = vector(k, k->a, k->n, k->lda, SC_READ);
        v[1] = vector(k, k->b, k->n, k->ldb, SC_READ);
        v[2] = level2_matrix(k, k->c, k->ldc, SC_RDWR);
        return 3;
    case SC_OP_TRMV:
    case SC_OP_TBMV:
    case SC_OP_TBSV:
    case SC_OP_TPMV:
    case SC_OP_TPSV:
    case SC_OP_TRSV:
        v[0] = level2_matrix(k, k->a, k->lda, SC_READ);
        v[1] = vector(k, k->b, k->n, k->ldb, SC_RDWR);
        return 2;
    case SC_OP_GEMM:
    case SC_OP_SYMM:
    case SC_OP_HEMM:
    case SC_OP_SYRK:
    case SC_OP_HERK:
    case SC_OP_SYR2K:
    case SC_OP_HER2K:
    case SC_OP_GEMMT:
    case SC_OP_TRMM:
    case SC_OP_TRSM: return views_of_products(k, v);
    default: return views_of_vectors(k, v);
    }
}

static uint64_t bytes_of(const struct sc_view *v)
{
    return (uint64_t)v->rows * (uint64_t)v->cols * sc_type_bytes(v->type);
}

/* --- does it pay ------------------------------------------------------------------------------------------------- */

static const struct sc_view *largest_of(const struct sc_view *view, int count)
{
    const struct sc_view *largest = view;

    for (int i = 1; i < count; i++)
        if (bytes_of(&view[i]) > bytes_of(largest))
            largest = &view[i];
    return largest;
}

/* The array that the largest operand lies in: a blocked algorithm calls with another block of it each time. */
static uint64_t largest_key(const struct sc_view *view, int count)
{
    const struct sc_view *largest = largest_of(view, count);
    uintptr_t base;
    size_t bytes;

    if (!sc_coherence_block(largest->ptr, &base, &bytes)) {
        base = (uintptr_t)largest->ptr;
        bytes = bytes_of(largest);
    }
    return ((uint64_t)base ^ (uint64_t)bytes << 20) * UINT64_C(0x9e3779b97f4a7c15) >> 8 | 1;
}

/* A banded or packed matrix is not brought to the devices for a product that reads it once. */
static bool matrix_is_resident(const struct sc_view *view, int count)
{
    struct sc_residency residency;

    sc_coherence_residency(largest_of(view, count), 1, &residency);
    return residency.device_bytes == residency.bytes;
}

static enum sc_columns columns_of(const struct sc_view *view, int count)
{
    for (int i = 0; i < count; i++)
        if (!view[i].vector && (size_t)view[i].ld * sc_type_bytes(view[i].type) % 16)
            return SC_COLUMNS_ODD;
    return SC_COLUMNS_ALIGNED;
}

bool (*sc_blas_around)(sc_blas_run *run, const struct sc_blas_order *order);

/* Calls that are verified as well take longer, and fetch what no program would look at. */
static bool is_timed(void) { return !sc_blas_around && sc_config.offload == SC_OFFLOAD_AUTO; }

/* What was learned of an operand from earlier calls, or is now. */
static void describe_history(const struct sc_view *view, bool away, bool absent, struct sc_autotuner_call *call)
{
    uint64_t maker = view->access & SC_READ ? sc_demand_writer(view->ptr) : 0;
    int want;

    if (maker && absent)
        sc_demand_host_wrote(view->ptr);
    else if (maker && away && maker != call->key)
        call->made_elsewhere += bytes_of(view);
    if (!(view->access & SC_WRITE)) {
        call->openings += maker && away;
        return;
    }
    call->result_bytes += bytes_of(view);
    want = sc_demand_of_result(view->ptr, call->op);
    if (want > 0) {
        call->back++;
        call->go_back += bytes_of(view);
    }
    call->want = want > call->want ? want : call->want;
}

static void describe(const struct sc_view *view, int count, struct sc_autotuner_call *call)
{
    const struct sc_device_properties *device = sc_coherence_device_properties(0);
    struct sc_residency residency;
    struct sc_fetched fetched;

    sc_coherence_residency(view, count, &residency);
    sc_coherence_fetched(view, count, &fetched);
    call->fetches = fetched.copies;
    call->came_home = fetched.bytes;
    if (is_timed()) {
        call->waited = fetched.seconds;
        sc_autotuner_waited(fetched.of_any);
    }
    call->bytes = residency.bytes;
    call->device_bytes = residency.device_bytes;
    call->device_only = residency.device_only;
    call->untracked = residency.untracked;
    call->overwritten = residency.overwritten;
    call->reshaped = residency.reshaped;
    call->largest = residency.largest;
    call->holders = residency.holders;
    call->arrivals = residency.arrivals;
    call->closings = residency.closings;
    call->key = largest_key(view, count);
    call->columns = sc_op_level(call->op) == 3 ? columns_of(view, count) : SC_COLUMNS_ANY;
    call->machine.cores = sc_blas_host_cores();
    call->machine.gemm_flops = device->gemm_flops;
    call->machine.memory_bandwidth = device->memory_bandwidth;
    call->machine.host_bandwidth = device->host_bandwidth;
    call->machine.emulated = device->emulated;
    call->machine.watts_busy = device->watts_busy;
    call->machine.watts_idle = device->watts_idle;
    call->machine.host_watts_busy = device->host_watts_busy;
    call->machine.host_watts_idle = device->host_watts_idle;
    call->machine.database = sc_autotuner_database();
    for (int i = 0; i < count; i++)
        describe_history(&view[i], residency.away >> i & 1, residency.absent >> i & 1, call);
    if (call->made_elsewhere > call->device_only)
        call->made_elsewhere = call->device_only;
}

/* For later decisions; want: 0 on the host. */
static void note(const struct sc_kernel *k, const struct sc_view *view, int count, uint64_t key, int want)
{
    for (int i = 0; i < count; i++)
        if (view[i].access & SC_READ)
            sc_demand_read(view[i].ptr, want);
    for (int i = 0; i < count; i++)
        if (view[i].access & SC_WRITE)
            sc_demand_written(view[i].ptr, k->op, want > 0 ? key : 0);
}

/* Brings home what a call on the host reads: a part of that decision, and no sign of what the program looks at. */
static void fetch(const struct sc_view *view, int count)
{
    struct sc_fetched fetched;

    for (int i = 0; i < count; i++)
        if (view[i].access & SC_READ)
            sc_coherence_acquire_view(&view[i]);
    sc_coherence_fetched(view, count, &fetched);
    sc_autotuner_waited(fetched.of_any);
}

static struct sc_autotuner_call call_of(const struct sc_kernel *k)
{
    return (struct sc_autotuner_call){.op = k->op, .type = k->type, .side = k->side, .m = k->m, .n = k->n, .k = k->k,
                                      .machine.devices = sc_coherence_devices()};
}

/* All of the array that the largest operand lies in: what the host keeps fetching piece by piece comes at once. */
static void fetch_array(const struct sc_view *view, int count)
{
    uintptr_t base;
    size_t bytes;

    if (sc_coherence_block(largest_of(view, count)->ptr, &base, &bytes))
        sc_coherence_release_range(base, bytes);
}

static bool pays(const struct sc_kernel *k, const struct sc_view *view, int count, struct sc_autotuner_call *call,
                 struct sc_autotuner_prediction *p)
{
    bool devices;

    *call = call_of(k);
    if (sc_config.offload == SC_OFFLOAD_AUTO) {
        if (run_[k->op] == sc_blas_single && !matrix_is_resident(view, count)) {
            note(k, view, count, 0, 0);
            return false;
        }
        describe(view, count, call);
    }
    devices = sc_autotuner_decide(call, sc_config.offload, p);
    note(k, view, count, call->key, devices ? sc_autotuner_wants(p, call->want) : 0);
    if (p->sold && !devices)
        fetch_array(view, count);
    sc_host_rates_expect(call, devices ? 0 : p->alone / sc_host_rates_factor(call));
    if (!devices && call->device_only)
        fetch(view, count);
    return devices;
}

/* Where devices have parts of the sum A and B are strips along it, and C is one for each device. */
static void spread_sum(const struct sc_kernel *k, struct sc_view view[3])
{
    view[1].split = k->transb == 'N' ? SC_SPLIT_ROWS : SC_SPLIT_COLS;
    for (int i = 0; i < 3; i++)
        view[i].tile_rows = view[i].tile_cols = 0;
}

/* Blocks of a C in both directions need rows of A and columns of B: where these are thin, they are cut along C all the
 * same, and not along the sum. */
static void spread_thin(struct sc_view view[3])
{
    for (int i = 0; i < 2; i++)
        if (!view[i].tile_rows)
            sc_schedule_grid(SC_STRATEGY_CYCLIC, view[i].spread, 0, view[i].rows, view[i].cols, false,
                             &view[i].tile_rows, &view[i].tile_cols);
}

/* Vectors that meet a matrix are spread as it is, so that their boundaries are the same (rule D3). */
static void spread(const struct sc_kernel *k, struct sc_view *view, int count, const struct sc_autotuner_call *call)
{
    int planned = sc_config.offload == SC_OFFLOAD_AUTO ? sc_autotuner_devices(call) : 0;
    uint64_t most = 0;

    for (int i = 0; i < count; i++)
        most = bytes_of(&view[i]) > most ? bytes_of(&view[i]) : most;
    for (int i = 0; i < count; i++) {
        uint64_t bytes = view[i].vector ? most : bytes_of(&view[i]);

        view[i].spread = planned ? planned : sc_autotuner_spread(bytes, call->machine.devices, sc_config.offload);
        if (!view[i].vector && sc_op_level(call->op) == 3)
            sc_schedule_grid(sc_config.schedule, view[i].spread, sc_coherence_peer_ratio(), view[i].rows, view[i].cols,
                             sc_config.offload == SC_OFFLOAD_ALWAYS, &view[i].tile_rows, &view[i].tile_cols);
    }
    if (k->op != SC_OP_GEMM)
        return;
    if (sc_schedule_sums(sc_config.schedule, view[0].spread, k->m, k->n, k->k, sc_config.offload == SC_OFFLOAD_ALWAYS))
        spread_sum(k, view);
    else if (view[2].tile_rows)
        spread_thin(view);
}

/* --- run it ------------------------------------------------------------------------------------------------------ */

static void record(int routine, const struct sc_view *view, int count)
{
    for (int i = 0; i < count; i++) {
        if (view[i].access & SC_READ)
            sc_count(&sc_stats.percall_in, bytes_of(&view[i]));
        if (view[i].access & SC_WRITE)
            sc_count(&sc_stats.percall_out, bytes_of(&view[i]));
    }
    sc_count(&sc_stats.offloaded[routine], 1);
}

static double seconds_of(const void *kernel, int devices) { return sc_blas_kernel_seconds(kernel, devices); }

/* While the devices do a part, and send home what is wanted there, the caller's thread does the rest. */
static enum sc_status run_parts(struct sc_blas_job *call, double host_share)
{
    const struct sc_operand *operand = call->operand;
    struct sc_blas_together together;
    bool split = host_share > 0 && sc_blas_together_begin(call, host_share, &together);
    enum sc_status status = run_[call->kernel->op](call), host;
    uint64_t pushed = sc_stats.pushed;

    sc_coherence_push(operand, call->operands, &(struct sc_producer){seconds_of, call->kernel});
    if (call->tried.trial.width) {
        call->tried.home = sc_stats.pushed != pushed;
        sc_blas_tried_end(&call->tried);
    }
    if (!split)
        return status;
    sc_count(&sc_stats.together, 1);
    host = sc_blas_together_end(&together);
    return status == SC_OK ? host : status;
}

static bool run(const struct sc_blas_order *order)
{
    const struct sc_kernel *k = order->kernel;
    struct sc_operand operand[3];
    struct sc_blas_job call = {.kernel = k, .operand = operand, .view = order->view, .operands = order->count};
    enum sc_status status;

    if (!run_[k->op])
        return sc_blas_reduce(&call);
    if (sc_coherence_begin(order->view, order->count, operand) != SC_OK)
        return false;
    status = run_parts(&call, order->host_share);
    sc_coherence_end(operand, order->count);
    if (status == SC_ERR_UNSUPPORTED && run_[k->op] == sc_blas_single)
        return false;
    /* Tasks fall back to the host by themselves; what is left has no remedy and must not pass in silence. */
    if (status != SC_OK)
        sc_log(SC_LOG_ERROR, "%s: a part of the call could not be computed (%s); results may be wrong",
               sc_op_name(k->op), sc_status_name(status));
    return true;
}

/* From idle devices to idle devices. */
static bool run_explained(const struct sc_blas_order *order)
{
    double start;
    bool done;

    sc_coherence_drain();
    start = sc_explain_clock(sc_coherence_virtual_seconds());
    done = run(order);
    sc_coherence_drain();
    if (done)
        sc_explain_measured(sc_explain_clock(sc_coherence_virtual_seconds()) - start);
    return done;
}

/* The operands of a call that devices could do; 0: it is none. */
static int operands_of(const struct sc_kernel *k, struct sc_view *view)
{
    int count = is_work(k) ? views_of(k, view) : 0;

    return count && views_are_valid(view, count) && sc_coherence_devices() > 0 ? count : 0;
}

static bool offload(int routine, const struct sc_kernel *k)
{
    struct sc_autotuner_prediction prediction = {0};
    struct sc_autotuner_call call;
    struct sc_view view[3];
    int count = operands_of(k, view);
    struct sc_blas_order order = {.kernel = k, .view = view, .count = count};
    double since;
    bool done;

    if (!count || !pays(k, view, count, &call, &prediction))
        return false;
    since = sc_coherence_host_clock();
    spread(k, view, count, &call);
    if (sc_blas_together_possible(k))
        order.host_share = sc_autotuner_host_share(&call, sc_config.offload);
    done = sc_blas_around ? sc_blas_around(run, &order) : sc_explain_on ? run_explained(&order) : run(&order);
    if (done && is_timed())
        sc_autotuner_took(call.key, &prediction, sc_coherence_host_clock() - since);
    if (done)
        record(routine, view, count);
    else
        note(k, view, count, 0, 0);
    return done;
}

bool sc_blas_offload(int routine, const struct sc_kernel *kernel)
{
    uint16_t outer = sc_trace_routine;
    bool done;

    sc_quiet_enter(); /* for a reduction this is longer than the lock is held */
    sc_inside_enter();
    sc_trace_routine = (uint16_t)routine;
    done = offload(routine, kernel);
    sc_trace_routine = outer;
    sc_inside_leave();
    sc_quiet_leave();
    return done;
}

bool sc_blas_predict(const struct sc_kernel *k, struct sc_autotuner_call *call,
                     struct sc_autotuner_prediction *prediction)
{
    struct sc_view view[3];
    int count = operands_of(k, view);

    if (!count)
        return false;
    *call = call_of(k);
    describe(view, count, call);
    sc_autotuner_predict(call, prediction);
    return true;
}

bool sc_blas_on_devices(const struct sc_kernel *k)
{
    struct sc_autotuner_call call = call_of(k);
    struct sc_view view[3];
    int count = operands_of(k, view);
    bool done;

    if (!count)
        return false;
    sc_quiet_enter();
    sc_inside_enter();
    describe(view, count, &call);
    spread(k, view, count, &call);
    done = run(&(struct sc_blas_order){.kernel = k, .view = view, .count = count});
    sc_inside_leave();
    sc_quiet_leave();
    return done;
}
