/* A random program against a model: arrays, views of every kind, kernels on any device, the CPU reading and writing through
 * page faults, frees, acquires.  The model does each operation on a plain copy; every number must agree exactly (all values
 * are small integers).  SEMCACHE_TEST_SEED and SEMCACHE_TEST_STEPS replay. */
#include <inttypes.h>

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

/* An array of the program and the model of it. */
static struct array {
    double *data, *model;
    int64_t n, ld; /* a matrix of that leading dimension, or any vectors */
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

/* y := alpha x + y, x <-> y, y := x or x := alpha x piece by piece on any devices.  False: belongs on the host. */
static bool offload(enum sc_op op, double alpha, const struct sc_view *x, const struct sc_view *y)
{
    struct sc_view views[2] = {*x, y ? *y : *x};
    struct sc_operand operands[2], whole[2];
    struct sc_cuts cuts, other;
    int count = y ? 2 : 1;

    if (sc_coherence_begin(views, count, operands) != SC_OK)
        return false;
    for (int i = 0; i < count; i++)
        if (sc_coherence_as_matrix(&operands[i], &whole[i])) { /* not walked here */
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
        struct sc_piece pieces[3] = {{.operand = &operands[0], .r = r, .rows = end - r, .cols = 1, .access = x->access}};
        struct sc_kernel k = {.op = op, .type = SC_D, .n = end - r, .alpha = {alpha, 0}};

        if (y)
            pieces[1] = (struct sc_piece){.operand = &operands[1], .r = r, .rows = end - r, .cols = 1, .access = y->access};
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
    bool xb = op != SC_OP_SCAL && below(4) == 0, yb = below(4) == 0; /* dscal does nothing backwards */
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
        if (below(3))
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
           "%s, limit %" PRIu64 ", unit %zu, jitter %u us, seed %" PRIu64 ": %d offloaded, %d not", machine, limit, unit,
           jitter, first_seed, offloaded, on_host);
}

int main(void)
{
    const char *s = getenv("SEMCACHE_TEST_SEED"), *n = getenv("SEMCACHE_TEST_STEPS");
    uint64_t first = s ? strtoull(s, NULL, 10) : 1;
    int steps = n ? atoi(n) : 400;

    env_init();
    if (!env_is_emulated()) { /* as many devices as there are; with and without room */
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
    }
    return tap_done();
}
