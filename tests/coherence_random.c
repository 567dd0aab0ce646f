/* A random program against a model: arrays, views of every kind, kernels of levels 1 to 3 on any device, reads and
 * writes of the CPU through page faults, frees, acquires. The model repeats each operation on a plain copy; every
 * number must agree exactly (values are small integers). SEMCACHE_TEST_SEED and SEMCACHE_TEST_STEPS replay a run. */
#include <inttypes.h>

#include "coherence/protocol.h"
#include "device/emu/emu.h"
#include "tests/coherence_env.h"

#define ARRAYS 5

static uint64_t seed;
static int devices;

static int64_t below(int64_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((seed >> 33) % (uint64_t)n);
}

/* An array of the program and its model. */
static struct array {
    double *data, *model;
    int64_t n, ld; /* used as a matrix with this leading dimension, or as vectors */
} arrays[ARRAYS];

static void make_array(struct array *a)
{
    a->ld = 1 + below(below(2) ? 40 : 900);
    a->n = a->ld * (1 + below(60)) + (below(3) ? 0 : below(1000));
    if (a->n < 1100)
        a->n += 1100;
    a->data = malloc((size_t)a->n * sizeof *a->data);
    sc_inside_enter(); /* the model is not to be tracked */
    a->model = malloc((size_t)a->n * sizeof *a->model);
    sc_inside_leave();
    for (int64_t i = 0; i < a->n; i++)
        a->data[i] = a->model[i] = (double)below(100);
}

static void drop_array(struct array *a)
{
    free(a->data);
    sc_inside_enter();
    free(a->model);
    sc_inside_leave();
}

/* A random vector in an array: a column, a row, a strided or a contiguous part. */
struct vector {
    struct array *a;
    int64_t first, n, step; /* of the array's elements */
};

static struct vector random_vector(struct array *a)
{
    struct vector v = {.a = a};

    switch (below(5)) {
    case 0: v.step = a->ld; break;
    case 1: v.step = 1 + below(5); break;
    case 2: v.step = 1 + below(40); break;
    default: v.step = 1;
    }
    v.first = below(3) ? a->ld * below(a->n / a->ld) : below(a->n);
    v.n = 1 + below((a->n - 1 - v.first) / v.step + 1);
    if (below(3) == 0)
        v.first = v.first % v.step, v.n = (a->n - 1 - v.first) / v.step + 1;
    return v;
}

static struct sc_view view_of(const struct vector *v, bool backwards, enum sc_access access)
{
    return (struct sc_view){.ptr = v->a->data + v->first, .type = SC_D, .vector = true, .rows = v->n, .cols = 1,
                            .ld = backwards ? -v->step : v->step, .access = access,
                            .split = below(2) ? SC_SPLIT_ROWS : SC_SPLIT_COLS, .spread = 1 + (int)below(devices)};
}

/* y := alpha x + y, x <-> y, y := x or x := alpha x in pieces on any devices. Returns false if the host has to do
 * it. */
static bool offload(enum sc_op op, double alpha, const struct sc_view *x, const struct sc_view *y)
{
    struct sc_view views[2] = {*x, y ? *y : *x};
    struct sc_operand operands[2], whole[2];
    struct sc_cuts cuts, other;
    int count = y ? 2 : 1;

    if (sc_coherence_begin(views, count, operands) != SC_OK)
        return false;
    for (int i = 0; i < count; i++)
        if (sc_coherence_as_matrix(&operands[i], &whole[i])) { /* a large matrix used as a vector: not walked here */
            sc_coherence_end(operands, count);
            return false;
        }
    sc_coherence_row_cuts(&operands[0], &cuts);
    if (y) {
        sc_coherence_row_cuts(&operands[1], &other);
        if ((x->ld < 0) != (y->ld < 0)) { /* pieces of opposite direction: only whole */
            if (cuts.n > 1 || other.n > 1) {
                sc_coherence_end(operands, count);
                return false;
            }
        }
        sc_cuts_merge(&cuts, &other);
    }
    for (int i = 0; i < cuts.n; i++) {
        int64_t r = cuts.at[i], end = cuts.at[i + 1];
        struct sc_piece pieces[3] = {{&operands[0], .r = r, .rows = end - r, .cols = 1, .access = x->access}};
        struct sc_kernel k = {.op = op, .type = SC_D, .n = end - r, .alpha = {alpha, 0}};

        if (y)
            pieces[1] = (struct sc_piece){&operands[1], .r = r, .rows = end - r, .cols = 1, .access = y->access};
        k.m = k.n;
        if (sc_coherence_task(below(2) ? sc_coherence_where(&pieces[count - 1]) : (int)below(devices), &k, pieces, NULL,
                              NULL) != SC_OK)
            tap_ok(0, "a task failed");
    }
    sc_coherence_end(operands, count);
    return true;
}

static double *at(const struct vector *v, bool backwards, int64_t i)
{
    return v->a->model + v->first + (backwards ? v->n - 1 - i : i) * v->step;
}

static void model(enum sc_op op, double alpha, const struct vector *x, bool xb, const struct vector *y, bool yb)
{
    for (int64_t i = 0; i < x->n; i++) {
        double *p = at(x, xb, i), *q = y ? at(y, yb, i) : NULL, old = *p;

        switch (op) {
        case SC_OP_AXPY: *q += alpha * *p; break;
        case SC_OP_COPY: *q = *p; break;
        case SC_OP_SWAP: *p = *q; *q = old; break;
        default: *p *= alpha;
        }
    }
}

static int offloaded, on_host;

static void step_kernel(void)
{
    static const enum sc_op ops[] = {SC_OP_AXPY, SC_OP_COPY, SC_OP_SWAP, SC_OP_SCAL};
    enum sc_op op = ops[below(4)];
    struct vector x = random_vector(&arrays[below(ARRAYS)]), y = random_vector(&arrays[below(ARRAYS)]);
    bool xb = op != SC_OP_SCAL && below(4) == 0, yb = below(4) == 0; /* dscal with a negative increment does nothing */
    double alpha = op == SC_OP_SCAL ? -1 : (double)(below(3) - 1);
    struct sc_view vx, vy;

    if (x.a == y.a && op != SC_OP_SCAL)
        return; /* overlapping operands are undefined in the BLAS */
    x.n = y.n = x.n < y.n ? x.n : y.n;
    vx = view_of(&x, xb, op == SC_OP_SWAP || op == SC_OP_SCAL ? SC_RDWR : SC_READ);
    vy = view_of(&y, yb, op == SC_OP_COPY ? SC_WRITE : SC_RDWR);
    if (offload(op, alpha, &vx, op == SC_OP_SCAL ? NULL : &vy)) {
        offloaded++;
        model(op, alpha, &x, xb, op == SC_OP_SCAL ? NULL : &y, yb);
    } else {
        on_host++;
    }
}

/* --- matrices ----------------------------------------------------------------------------------------------------- */

/* A part of an array as a matrix of its leading dimension. */
struct block {
    struct array *a;
    int64_t first, rows, cols;
};

static struct block random_block(struct array *a, int64_t rows, int64_t cols)
{
    int64_t columns = a->n / a->ld, row, col;

    rows = rows < a->ld ? rows : a->ld;
    cols = cols < columns ? cols : columns;
    row = below(2) ? 0 : below(a->ld - rows + 1);
    col = below(3) ? below(columns - cols + 1) : 0;
    return (struct block){a, col * a->ld + row, rows, cols};
}

static struct sc_view block_view(const struct block *b, enum sc_access access)
{
    return (struct sc_view){.ptr = b->a->data + b->first, .type = SC_D, .rows = b->rows, .cols = b->cols,
                            .ld = b->a->ld, .access = access, .split = below(2) ? SC_SPLIT_ROWS : SC_SPLIT_COLS,
                            .spread = 1 + (int)below(devices)};
}

/* Replaces values whose products would not be exact. */
static void tame(const struct array *a)
{
    for (int64_t i = 0; i < a->n; i++)
        if (a->model[i] > 1e4 || a->model[i] < -1e4)
            a->data[i] = a->model[i] = (double)below(10);
}

static struct sc_piece part(const struct sc_operand *o, const struct sc_cuts *rows, int i, const struct sc_cuts *cols,
                            int j, enum sc_access access)
{
    struct sc_piece p = {.operand = o, .r = rows->at[i], .rows = rows->at[i + 1] - rows->at[i], .cols = 1,
                         .access = access};

    if (cols) {
        p.c = cols->at[j];
        p.cols = cols->at[j + 1] - cols->at[j];
    }
    return p;
}

/* The pieces of block (i, j, l) of the product: m, n, k are the cuts of its three dimensions, vectors have one. */
static void pieces_of(enum sc_op op, const struct sc_operand o[3], const struct sc_cuts cuts[3], const int at[3],
                      enum sc_access out, struct sc_piece p[3])
{
    const struct sc_cuts *m = &cuts[0], *n = &cuts[1], *k = &cuts[2];
    int i = at[0], j = at[1], l = at[2];

    if (op == SC_OP_GER) {
        p[0] = part(&o[0], m, i, NULL, 0, SC_READ);
        p[1] = part(&o[1], n, j, NULL, 0, SC_READ);
    } else {
        p[0] = part(&o[0], m, i, k, l, SC_READ);
        p[1] = op == SC_OP_GEMV ? part(&o[1], k, l, NULL, 0, SC_READ) : part(&o[1], k, l, n, j, SC_READ);
    }
    p[2] = op == SC_OP_GEMV ? part(&o[2], m, i, NULL, 0, out) : part(&o[2], m, i, n, j, out);
}

/* C := A B + beta C; y := A x + beta y (gemv: n is one element); A := x y^T + A (ger: k is one element). */
static void task(enum sc_op op, double beta, const struct sc_operand o[3], const struct sc_cuts cuts[3],
                 const int at[3])
{
    int64_t extent[3];
    struct sc_kernel k = {.op = op, .type = SC_D, .transa = 'N', .transb = 'N', .alpha = {1}, .beta = {beta}};
    struct sc_piece p[3];

    for (int d = 0; d < 3; d++)
        extent[d] = cuts[d].at[at[d] + 1] - cuts[d].at[at[d]];
    k.m = extent[0];
    k.n = op == SC_OP_GEMV ? extent[2] : extent[1];
    k.k = extent[2];
    pieces_of(op, o, cuts, at, beta == 0 ? SC_WRITE : SC_RDWR, p);
    if (sc_coherence_task(below(2) ? sc_coherence_where(&p[2]) : (int)below(devices), &k, p, NULL, NULL) != SC_OK)
        tap_ok(0, "a task failed");
}

typedef void cuts_of(const struct sc_operand *, struct sc_cuts *);

/* The union of the two operands' cuts in a shared dimension. */
static void merged(cuts_of *one, const struct sc_operand *a, cuts_of *two, const struct sc_operand *b,
                   struct sc_cuts *out)
{
    struct sc_cuts other;

    one(a, out);
    two(b, &other);
    sc_cuts_merge(out, &other);
}

static void all_cuts(enum sc_op op, const struct sc_operand o[3], struct sc_cuts cuts[3])
{
    cuts_of *second = op == SC_OP_GER ? sc_coherence_row_cuts : sc_coherence_col_cuts;

    merged(sc_coherence_row_cuts, &o[0], sc_coherence_row_cuts, &o[2], &cuts[0]);
    merged(sc_coherence_col_cuts, &o[2], second, &o[1], &cuts[1]);
    if (op == SC_OP_GER)
        sc_coherence_col_cuts(&o[0], &cuts[2]);
    else
        merged(sc_coherence_col_cuts, &o[0], sc_coherence_row_cuts, &o[1], &cuts[2]);
}

static bool offload_matrix(enum sc_op op, double beta, const struct sc_view v[3])
{
    struct sc_operand o[3], whole;
    struct sc_cuts cuts[3];
    bool walks = true; /* large matrices used as vectors are not walked in this test */

    if (sc_coherence_begin(v, 3, o) != SC_OK)
        return false;
    for (int i = 0; i < 3; i++)
        walks = walks && !(v[i].vector && sc_coherence_as_matrix(&o[i], &whole));
    all_cuts(op, o, cuts);
    for (int i = 0; walks && i < cuts[0].n; i++)
        for (int j = 0; j < cuts[1].n; j++)
            for (int l = 0; l < cuts[2].n; l++)
                task(op, l ? 1 : beta, o, cuts, (const int[3]){i, j, l});
    sc_coherence_end(o, 3);
    return walks;
}

/* The element (i, j) of a block, or i of a vector, in the model. */
static double *element(const struct block *b, int64_t step, int64_t i, int64_t j)
{
    return b->a->model + b->first + i * step + j * b->a->ld;
}

static void model_product(const struct block b[3], const int64_t step[3], enum sc_op op, double beta)
{
    int64_t m = b[2].rows, n = op == SC_OP_GEMV ? 1 : b[2].cols, k = op == SC_OP_GER ? 1 : b[0].cols;

    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++) {
            double *c = element(&b[2], step[2], i, j), sum = beta == 0 ? 0 : beta * *c;

            for (int64_t l = 0; l < k; l++)
                sum += *element(&b[0], step[0], i, l) *
                       (op == SC_OP_GER ? *element(&b[1], step[1], j, 0) : *element(&b[1], step[1], l, j));
            *c = sum;
        }
}

/* A vector of n elements somewhere in an array, as a block of one column and a step; false: the array is too short. */
static bool random_line(struct array *a, int64_t n, struct block *b, int64_t *step)
{
    *step = below(3) ? 1 : below(2) ? a->ld : 1 + below(20);
    if ((n - 1) * *step >= a->n)
        *step = 1;
    if (n > a->n)
        return false;
    *b = (struct block){a, below(a->n - (n - 1) * *step), n, 1};
    return true;
}

static struct sc_view line_view(const struct block *b, int64_t step, enum sc_access access)
{
    struct vector v = {b->a, b->first, b->rows, step};

    return view_of(&v, false, access);
}

/* Chooses three operands of matching sizes: 0 and 1 are read, 2 is the result. Returns false if an array is too
 * short. */
static bool random_operands(enum sc_op op, struct array *const a[3], struct block b[3], int64_t step[3])
{
    int64_t m = 1 + below(300), n = 1 + below(40), k = 1 + below(40);

    step[0] = step[1] = step[2] = 1;
    switch (op) {
    case SC_OP_GER:
        b[2] = random_block(a[2], m, n);
        return random_line(a[0], b[2].rows, &b[0], &step[0]) && random_line(a[1], b[2].cols, &b[1], &step[1]);
    case SC_OP_GEMV:
        b[0] = random_block(a[0], m, k);
        return random_line(a[1], b[0].cols, &b[1], &step[1]) && random_line(a[2], b[0].rows, &b[2], &step[2]);
    default:
        b[2] = random_block(a[2], m, n);
        b[0] = random_block(a[0], b[2].rows, k);
        b[1] = random_block(a[1], b[0].cols, b[2].cols);
        b[2].rows = b[0].rows;
        b[2].cols = b[1].cols;
        b[0].cols = b[1].rows;
        return true;
    }
}

static void step_matrix(void)
{
    static const enum sc_op ops[] = {SC_OP_GEMV, SC_OP_GER, SC_OP_GEMM};
    static const bool is_line[3][3] = {{false, true, true}, {true, true, false}, {false, false, false}};
    int kind = (int)below(3);
    struct array *a[3] = {&arrays[below(ARRAYS)], &arrays[below(ARRAYS)], &arrays[below(ARRAYS)]};
    double beta = ops[kind] == SC_OP_GER ? 1 : (double)(below(3) - 1);
    int64_t step[3];
    struct block b[3];
    struct sc_view v[3];

    /* The result must not overlap an operand. */
    if (a[2] == a[0] || a[2] == a[1] || !random_operands(ops[kind], a, b, step))
        return;
    for (int i = 0; i < 3; i++) {
        enum sc_access access = i < 2 ? SC_READ : beta == 0 ? SC_WRITE : SC_RDWR;

        tame(a[i]);
        v[i] = is_line[kind][i] ? line_view(&b[i], step[i], access) : block_view(&b[i], access);
    }
    if (offload_matrix(ops[kind], beta, v)) {
        offloaded++;
        model_product(b, step, ops[kind], beta);
    } else {
        on_host++;
    }
}

/* --- triangles ---------------------------------------------------------------------------------------------------- */

/* C := A A^T + beta C in one triangle of a square block: blocks on the diagonal by syrk, others by gemm.  With claim,
 * the blocks of beta = 0 are announced as overwritten. */
static bool offload_triangle(char uplo, double beta, bool claim, const struct sc_view v[2])
{
    struct sc_operand o[2];
    struct sc_cuts rows, t, k;

    if (sc_coherence_begin(v, 2, o) != SC_OK)
        return false;
    sc_coherence_triangle(&o[1], uplo);
    merged(sc_coherence_row_cuts, &o[1], sc_coherence_col_cuts, &o[1], &rows);
    merged(sc_coherence_row_cuts, &o[0], sc_coherence_row_cuts, &o[0], &t);
    sc_cuts_merge(&t, &rows);
    sc_coherence_col_cuts(&o[0], &k);
    for (int j = 0; j < t.n; j++)
        for (int i = 0; i < t.n; i++) {
            struct sc_piece c = part(&o[1], &t, i, &t, j, SC_RDWR);
            int device = below(2) ? sc_coherence_where(&c) : (int)below(devices);

            if (uplo == 'L' ? i < j : i > j)
                continue;
            if (claim && below(2))
                sc_coherence_keep_triangle(device, &c);
            if (claim)
                sc_coherence_claim(device, &c, i == j ? uplo : 'A');
            for (int l = 0; l < k.n; l++) {
                struct sc_piece p[3] = {part(&o[0], &t, i, &k, l, SC_READ), part(&o[0], &t, j, &k, l, SC_READ), c};
                struct sc_kernel kernel = {.op = SC_OP_GEMM, .type = SC_D, .transa = 'N', .transb = 'T', .uplo = uplo,
                                           .m = c.rows, .n = c.cols, .k = p[0].cols, .alpha = {1},
                                           .beta = {l ? 1 : beta}};

                if (i == j) {
                    kernel.op = SC_OP_SYRK;
                    p[1] = (struct sc_piece){0};
                }
                if (sc_coherence_task(device, &kernel, p, NULL, NULL) != SC_OK)
                    tap_ok(0, "a task failed");
            }
        }
    sc_coherence_end(o, 2);
    return true;
}

static void model_triangle(char uplo, double beta, const struct block b[2])
{
    for (int64_t j = 0; j < b[1].cols; j++)
        for (int64_t i = uplo == 'L' ? j : 0; i < (uplo == 'L' ? b[1].rows : j + 1); i++) {
            double *c = element(&b[1], 1, i, j), sum = beta == 0 ? 0 : beta * *c;

            for (int64_t l = 0; l < b[0].cols; l++)
                sum += *element(&b[0], 1, i, l) * *element(&b[0], 1, j, l);
            *c = sum;
        }
}

static void step_triangle(void)
{
    struct array *a = &arrays[below(ARRAYS)], *c = &arrays[below(ARRAYS)];
    double beta = (double)(below(3) - 1);
    char uplo = below(2) ? 'L' : 'U';
    int64_t n = 1 + below(60);
    struct block b[2];
    struct sc_view v[2];

    if (a == c)
        return;
    b[1] = random_block(c, n, n);
    b[0] = random_block(a, b[1].rows < b[1].cols ? b[1].rows : b[1].cols, 1 + below(20));
    b[1].rows = b[1].cols = b[0].rows;
    tame(a);
    tame(c);
    v[0] = block_view(&b[0], SC_READ);
    v[1] = block_view(&b[1], SC_RDWR);
    if (offload_triangle(uplo, beta, beta == 0 && below(2), v)) {
        offloaded++;
        model_triangle(uplo, beta, b);
    } else {
        on_host++;
    }
}

static int compare(const struct array *a, int64_t first, int64_t n, int64_t step)
{
    int wrong = 0;

    for (int64_t i = first; i < first + n; i += step)
        if (a->data[i] != a->model[i] && wrong++ == 0)
            tap_diag("element %" PRId64 " of %" PRId64 " (ld %" PRId64 "): %g, not %g", i, a->n, a->ld, a->data[i],
                     a->model[i]);
    return wrong;
}

static int step_cpu(void)
{
    struct array *a = &arrays[below(ARRAYS)];
    int64_t first = below(a->n), n = 1 + below(a->n - first);
    int wrong = 0;

    switch (below(6)) {
    case 0: return compare(a, first, n, 1);
    case 1: return compare(a, first, n, 1 + below(1000));
    case 2:
        for (int64_t i = first; i < first + n; i += 1 + below(600))
            a->data[i] = a->model[i] = (double)below(100);
        return 0;
    case 3:
        sc_coherence_acquire_host((uintptr_t)(a->data + first), (size_t)n * 8, below(2) ? SC_READ : SC_RDWR);
        return compare(a, first, n, 1);
    case 4:
        sc_coherence_acquire_host((uintptr_t)(a->data + first), (size_t)n * 8, SC_WRITE);
        for (int64_t i = first; i < first + n; i++)
            a->data[i] = a->model[i] = (double)below(100);
        return 0;
    default:
        if (below(4) == 0) {
            wrong = compare(a, 0, a->n, 1);
            drop_array(a);
            make_array(a);
        } else if (below(8) == 0) {
            sc_coherence_home_all();
        } else if (below(8) == 0) {
            sc_coherence_release_range((uintptr_t)a->data, (size_t)a->n * 8);
        }
        return wrong;
    }
}

static void bounded(void) /* values stay exact */
{
    for (int k = 0; k < ARRAYS; k++)
        for (int64_t i = 0; i < arrays[k].n; i++)
            if (arrays[k].model[i] > 1e12 || arrays[k].model[i] < -1e12)
                arrays[k].data[i] = arrays[k].model[i] = 1;
}

static void run(const char *machine, uint64_t limit, size_t unit, unsigned jitter, uint64_t first_seed, int steps)
{
    unsigned broken = sc_coherence_broken();
    int wrong = 0;

    seed = first_seed;
    offloaded = on_host = 0;
    devices = env_start(machine, limit);
    sc_directory_limits.unit_bytes = unit;
    if (jitter && env_is_emulated())
        sc_emu_jitter(first_seed, jitter);
    for (int i = 0; i < ARRAYS; i++)
        make_array(&arrays[i]);
    for (int i = 0; i < steps && !wrong; i++) {
        sc_config.exchange = (enum sc_exchange_by)((first_seed + (uint64_t)i / 16) % 4);
        if (below(3) == 0)
            (below(3) ? step_matrix : step_triangle)();
        else if (below(2))
            step_kernel();
        else
            wrong = step_cpu();
        if (i % 64 == 0)
            bounded();
        if (wrong)
            tap_diag("in step %d", i);
    }
    for (int i = 0; i < ARRAYS; i++) {
        wrong += compare(&arrays[i], 0, arrays[i].n, 1);
        drop_array(&arrays[i]);
    }
    sc_coherence_stop();
    tap_ok(wrong == 0 && broken == sc_coherence_broken() && offloaded > steps / 10,
           "%s, limit %" PRIu64 ", unit %zu, jitter %u us, seed %" PRIu64 ": %d offloaded, %d not", machine, limit,
           unit, jitter, first_seed, offloaded, on_host);
}

int main(void)
{
    const char *s = getenv("SEMCACHE_TEST_SEED"), *n = getenv("SEMCACHE_TEST_STEPS");
    uint64_t first = s ? strtoull(s, NULL, 10) : 1;
    int steps = n ? atoi(n) : 400;

    env_init();
    sc_piece_share_least = 1; /* every sector has rows of its own */
    if (!env_is_emulated()) { /* as many devices as the machine has; with and without spare memory */
        run("", 0, 4096, 0, first, steps);
        run("", 8 << 20, 512, 0, first + 400, steps);
        return tap_done();
    }
    for (uint64_t k = first; k < first + (s ? 1 : 3); k++) {
        run("emu:h200x8:1", 0, 4096, 0, k, steps);
        run("emu:h200x8:2", 0, 4096, 0, k + 100, steps);
        run("emu:k20x2", 0, 64, 100, k + 200, steps);
        run("emu:h200x8:4", 0, 256, 100, k + 300, steps);
        run("emu:h200x8:2", 1500000, 512, 0, k + 400, steps);
        run("emu:h200x8:3", 1000000, 64, 50, k + 500, steps);
        run("emu:h200x8:1", 700000, 512, 300, k + 600, steps);
    }
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
