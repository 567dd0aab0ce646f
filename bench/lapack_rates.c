/* Rates of LAPACK's routines by cuSOLVER alone on one GPU, with the calls that the CUDA module makes.
 *
 *     lapack_rates [--quick] [--seconds S] [--size N]... [--type LETTER] [routine...]
 *
 * Every line of the output is a JSON object.  A line with "routine" has the seconds of one call: `core` with all data
 * on the device, `moved` with pinned transfers of all inputs and outputs, `returned` until the call gave the thread
 * back.  `residual` is an error relative to the operands' norms in units of the type's precision; `ok` is false above
 * 100 n.  `info` is the routine's result, and `kept` tells whether the unnamed triangle is unchanged.  A line with
 * "convention" has the results of calls that LAPACK answers with a nonzero info.
 *
 * --quick     sizes 1000 and 4000 within 25 seconds
 * --seconds   the time for all lines (default 60)
 * --size      instead of the default sizes; may be repeated
 * --type      s, d, c or z only (default: d, and the other types at one size)
 *
 * The program ends with status 1 if a residual is too large. */
#include "bench/lapack_checks.h"

/* --- problems ----------------------------------------------------------------------------------------------------- */

/* A number in (-1, 1). */
static double element(size_t i)
{
    uint64_t h = i * UINT64_C(0x9e3779b97f4a7c15);

    h = (h ^ h >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ h >> 32) * UINT64_C(0x94d049bb133111eb);
    return (double)(h >> 11) * 0x1p-52 - 1;
}

static void make_seed(size_t bytes, bool single)
{
    for (size_t i = 0; i < bytes / (single ? 4 : 8); i++) {
        if (single)
            ((float *)host_seed)[i] = (float)element(i);
        else
            ((double *)host_seed)[i] = element(i);
    }
}

/* The diagonal of a matrix += `value`. */
static void shift(const struct problem *p, char *matrix, double value)
{
    char *diagonal = p->z;
    double *x;

    HAND_CUDA(cudaMemcpy2DAsync(diagonal, p->element, matrix, vector_bytes(p) + p->element, p->element, (size_t)p->n,
                                cudaMemcpyDeviceToDevice, stream));
    x = numbers(p, diagonal, p->type, p->n);
    for (int64_t i = 0; i < p->n; i++)
        x[p->type < C ? i : 2 * i] += value;
    set_numbers(p, diagonal, x, p->n);
    HAND_CUDA(cudaMemcpy2DAsync(matrix, vector_bytes(p) + p->element, diagonal, p->element, p->element, (size_t)p->n,
                                cudaMemcpyDeviceToDevice, stream));
}

/* to := from + from^H */
static void symmetrize(const struct problem *p, const void *from, void *to)
{
    int n = (int)p->n;

    HAND_CUBLAS(geams[p->type](blas, CUBLAS_OP_N, adjoint(p), n, n, &ones[p->type], from, n, &ones[p->type], from, n,
                               to, n));
}

enum kind { GENERAL, SYSTEM, UNIT, SYMMETRIC, DEFINITE, PAIR };

/* Runs a routine once on the operands. */
static void run_now(struct problem *p, void (*run)(struct problem *))
{
    p->planned = false;
    run(p);
    run(p);
    p->planned = false;
}

/* What a routine needs beside a matrix in a: a factorization before the timed call, and right-hand sides. */
static void prepare(struct problem *p, enum kind kind, void (*before)(struct problem *))
{
    copy(p->a, host_seed, matrix_bytes(p));
    copy(p->right, p->a, matrix_bytes(p));
    if (kind == UNIT) { /* right: the unit matrix */
        HAND_CUDA(cudaMemsetAsync(p->right, 0, matrix_bytes(p), stream));
        shift(p, p->right, 1);
    }
    if (kind == SYSTEM) /* right: another matrix than A */
        symmetrize(p, p->a, p->right);
    if (kind == GENERAL || kind == SYSTEM || kind == UNIT)
        copy(p->matrix, p->a, matrix_bytes(p));
    else
        symmetrize(p, p->a, p->matrix);
    if (kind == DEFINITE)
        shift(p, p->matrix, 4 * (double)p->n);
    if (kind == PAIR) { /* right: definite */
        symmetrize(p, p->a, p->right);
        shift(p, p->right, 4 * (double)p->n);
    }
    copy(p->a, p->matrix, matrix_bytes(p));
    if (before)
        run_now(p, before);
    copy(p->start, p->a, matrix_bytes(p));
    copy(p->x, host_seed, vector_bytes(p));
    HAND_CUDA(cudaStreamSynchronize(stream));
}

enum {
    IN_A = 1, IN_B = 2, OUT_A = 4, OUT_B = 8, OUT_U = 16, OUT_V = 32, OUT_W = 64, OUT_R = 128, ONE_COLUMN = 256,
    HALF = 512 /* results in one triangle */
};

static const struct routine {
    const char *name;
    void (*run)(struct problem *);
    double (*check)(struct problem *);
    void (*before)(struct problem *);
    enum kind kind;
    int moves;
} routines[] = {
    {"potrf", potrf, check_potrf, NULL, DEFINITE, IN_A | OUT_A | HALF},
    {"potrs", potrs, check_solution, potrf, DEFINITE, IN_A | IN_B | OUT_B},
    {"potrs1", potrs, check_solution, potrf, DEFINITE, IN_A | IN_B | OUT_B | ONE_COLUMN},
    {"potri", potri, check_potri, potrf, DEFINITE, IN_A | OUT_A | HALF},
    {"trtri", trtri, check_trtri, potrf, DEFINITE, IN_A | OUT_A | HALF},
    {"getrf", getrf, check_getrf, NULL, GENERAL, IN_A | OUT_A},
    {"getrs", getrs, check_solution, getrf, SYSTEM, IN_A | IN_B | OUT_B},
    {"getrs1", getrs, check_solution, getrf, SYSTEM, IN_A | IN_B | OUT_B | ONE_COLUMN},
    {"geqrf", geqrf, check_geqrf, NULL, GENERAL, IN_A | OUT_A | OUT_W},
    {"orgqr", orgqr, check_orgqr, geqrf, GENERAL, IN_A | OUT_A},
    {"ormqr", ormqr, check_ormqr, geqrf, GENERAL, IN_A | IN_B | OUT_B},
    {"gesv", gesv, check_solution, NULL, SYSTEM, IN_A | IN_B | OUT_B | ONE_COLUMN},
    {"inverse", gesv, check_inverse, NULL, UNIT, IN_A | OUT_B},
    {"qr", qr, check_qr, NULL, GENERAL, IN_A | OUT_A | OUT_R},
    {"syevd", syevd, check_syevd, NULL, SYMMETRIC, IN_A | OUT_A | OUT_W},
    {"syevdx", syevdx, check_syevdx, NULL, SYMMETRIC, IN_A | OUT_A | OUT_W},
    {"syevd_values", syevd_values, check_none, NULL, SYMMETRIC, IN_A | OUT_W | HALF},
    {"sygvd", sygvd, check_sygvd, NULL, PAIR, IN_A | IN_B | OUT_A | OUT_B | OUT_W},
    {"gesvdp", gesvdp, check_gesvdp, NULL, GENERAL, IN_A | OUT_U | OUT_V | OUT_W},
    {"gesvdp_values", gesvdp_values, check_none, NULL, GENERAL, IN_A | OUT_W},
    {"gesvd", gesvd, check_gesvd, NULL, GENERAL, IN_A | OUT_U | OUT_V | OUT_W},
    {"gesvd_values", gesvd_values, check_none, NULL, GENERAL, IN_A | OUT_W},
    {"geev", geev, check_geev, NULL, GENERAL, IN_A | OUT_V | OUT_W},
    {"geev_values", geev_values, check_none, NULL, GENERAL, IN_A | OUT_W},
};
enum { ROUTINES = sizeof routines / sizeof *routines };

static struct problem problem_of(enum type type, int64_t n)
{
    struct problem p = {.type = type, .n = n, .columns = n, .element = bytes_of[type]};
    char **matrices[BUFFERS] = {&p.a, &p.b, &p.u, &p.v, &p.start, &p.right, &p.matrix};
    char **vectors[] = {&p.tau, &p.w, &p.x, &p.y, &p.z};

    for (int i = 0; i < BUFFERS; i++)
        HAND_CUDA(cudaMalloc((void **)matrices[i], matrix_bytes(&p)));
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        HAND_CUDA(cudaMalloc((void **)vectors[i], 2 * vector_bytes(&p)));
    HAND_CUDA(cudaMalloc((void **)&p.pivots, (size_t)n * sizeof *p.pivots));
    HAND_CUDA(cudaMalloc((void **)&p.info, sizeof *p.info));
    return p;
}

static void free_problem(const struct problem *p)
{
    void *memory[] = {p->a, p->b, p->u, p->v, p->start, p->right, p->matrix, p->tau, p->w, p->x, p->y, p->z, p->pivots,
                      p->info};

    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        HAND_CUDA(cudaFree(memory[i]));
}

static int info_of(const struct problem *p)
{
    int info = -1;

    copy(&info, p->info, sizeof info);
    HAND_CUDA(cudaStreamSynchronize(stream));
    return info;
}

/* Seconds of a call on fresh operands; *returned: until the call came back. */
static double time_core(const struct routine *r, struct problem *p, double *returned)
{
    double start;

    copy(p->a, p->start, matrix_bytes(p));
    copy(p->b, p->right, matrix_bytes(p));
    HAND_CUDA(cudaStreamSynchronize(stream));
    start = example_now();
    r->run(p);
    *returned = example_now() - start;
    HAND_CUDA(cudaStreamSynchronize(stream));
    return example_now() - start;
}

static double time_moved(const struct routine *r, struct problem *p)
{
    size_t whole = matrix_bytes(p), right = (size_t)p->columns * vector_bytes(p);
    double start;

    copy(host_a, p->start, whole);
    copy(host_b, p->right, right);
    HAND_CUDA(cudaStreamSynchronize(stream));
    start = example_now();
    if (r->moves & IN_A)
        copy(p->a, host_a, whole);
    if (r->moves & IN_B)
        copy(p->b, host_b, right);
    r->run(p);
    if (r->moves & OUT_A)
        copy(host_a, p->a, whole);
    if (r->moves & OUT_B)
        copy(host_b, p->b, right);
    if (r->moves & OUT_R)
        copy(host_b, p->start, whole); /* as many bytes as R */
    if (r->moves & OUT_U)
        copy(host_a, p->u, whole);
    if (r->moves & OUT_V)
        copy(host_b, p->v, whole);
    if (r->moves & OUT_W)
        copy(host_b, r->run == geqrf ? p->tau : p->w, vector_bytes(p));
    HAND_CUDA(cudaStreamSynchronize(stream));
    return example_now() - start;
}

/* Whether the call kept the triangle above the diagonal. */
static bool keeps_upper(const struct problem *p)
{
    size_t column = vector_bytes(p);
    bool same = true;

    copy(host_a, p->start, matrix_bytes(p));
    copy(host_b, p->a, matrix_bytes(p));
    HAND_CUDA(cudaStreamSynchronize(stream));
    for (size_t j = 1; j < (size_t)p->n; j++)
        same = same && memcmp(host_a + j * column, host_b + j * column, j * p->element) == 0;
    return same;
}

enum { KEPT_MOST = 4000 }; /* the comparison on the host takes time */

/* Measures and prints; returns the seconds of a call. */
static double measure(const struct routine *r, struct problem *p)
{
    double returned, again, core, moved, residual;
    bool kept;
    int info;

    p->columns = r->moves & ONE_COLUMN ? 1 : p->n;
    p->sigma = 0;
    prepare(p, r->kind, r->before);
    p->planned = false;
    r->run(p);
    core = time_core(r, p, &returned);
    info = info_of(p);
    kept = r->moves & HALF && p->n <= KEPT_MOST ? keeps_upper(p) : true;
    residual = r->check(p);
    for (int i = 0; i < 3 && core < 0.1; i++) {
        double since = time_core(r, p, &again);

        if (since < core)
            core = since, returned = again;
    }
    moved = core < 0.5 ? fmin(time_moved(r, p), time_moved(r, p)) : time_moved(r, p);
    if (!(residual <= 100 * (double)p->n) || info)
        failures++;
    printf("{\"routine\": \"%s\", \"type\": \"%c\", \"n\": %lld, \"core\": %.6f, \"moved\": %.6f, \"returned\": %.6f, "
           "\"residual\": %.3g, \"ok\": %s, \"info\": %d, ", r->name, letters[p->type], (long long)p->n, core, moved,
           returned, isfinite(residual) ? residual : -1, residual <= 100 * (double)p->n && !info ? "true" : "false",
           info);
    if (r->moves & HALF && p->n <= KEPT_MOST)
        printf("\"kept\": %s, ", kept ? "true" : "false");
    if (r->run == gesvdp)
        printf("\"sigma\": %.3g, ", p->sigma);
    printf("\"device_workspace\": %zu, \"host_workspace\": %zu}\n", on_device.bytes, on_host.bytes);
    fflush(stdout);
    return core;
}

/* --- results that are not zero ------------------------------------------------------------------------------------ */

static void tell(const char *call, const char *input, const struct problem *p, const char *lapack)
{
    printf("{\"convention\": \"%s\", \"input\": \"%s\", \"info\": %d, \"lapack\": \"%s\"}\n", call, input, info_of(p),
           lapack);
    fflush(stdout);
}

/* Sets element (i, j) of the matrix in a, from 0. */
static void poke(const struct problem *p, int64_t i, int64_t j, double value)
{
    copy(p->a + (size_t)(i + j * p->n) * p->element, &value, sizeof value);
    HAND_CUDA(cudaStreamSynchronize(stream));
}

/* Makes column 101 zero. */
static void clear_column(const struct problem *p)
{
    HAND_CUDA(cudaMemsetAsync(p->a + 100 * vector_bytes(p), 0, vector_bytes(p), stream));
}

/* Calls with one element that LAPACK answers by INFO. */
static const struct poked {
    const char *name, *input, *lapack;
    void (*run)(struct problem *), (*before)(struct problem *);
    enum kind kind;
    int64_t i, j;
    double value;
} poked[] = {
    {"potrf", "element (200, 200) is -1", "200", potrf, NULL, DEFINITE, 199, 199, -1},
    {"potrf", "element (200, 200) is not a number", "200", potrf, NULL, DEFINITE, 199, 199, NAN},
    {"trtri", "element (50, 50) is zero", "50", trtri, potrf, DEFINITE, 49, 49, 0},
    {"syevd", "element (8, 4) is not a number", "positive, or values that are not numbers", syevd, NULL, SYMMETRIC,
     7, 3, NAN},
    {"gesvdp", "element (8, 4) is not a number", "positive, or values that are not numbers", gesvdp, NULL, GENERAL,
     7, 3, NAN},
};

static void zero_column(struct problem *p, const char *name, void (*run)(struct problem *), const char *lapack)
{
    prepare(p, GENERAL, NULL);
    clear_column(p);
    copy(p->matrix, p->a, matrix_bytes(p));
    run_now(p, run);
    tell(name, "column 101 is zero", p, lapack);
}

static void conventions(void)
{
    struct problem p = problem_of(D, 300);
    double residual;

    for (const struct poked *t = poked; t < poked + sizeof poked / sizeof *poked; t++) {
        prepare(&p, t->kind, t->before);
        poke(&p, t->i, t->j, t->value);
        run_now(&p, t->run);
        tell(t->name, t->input, &p, t->lapack);
    }
    zero_column(&p, "getrf", getrf, "101");
    residual = check_getrf(&p);
    printf("{\"convention\": \"getrf\", \"input\": \"column 101 is zero\", \"residual\": %.3g}\n",
           isfinite(residual) ? residual : -1);
    zero_column(&p, "gesvdp", gesvdp, "0");
    printf("{\"convention\": \"gesvdp\", \"input\": \"column 101 is zero\", \"sigma\": %.6g}\n", p.sigma);
    free_problem(&p);
}

/* --- all of it ---------------------------------------------------------------------------------------------------- */

static bool chosen(const char *name, char **names)
{
    bool any = false;

    for (; *names; names++) {
        any = true;
        if (strcmp(name, *names) == 0)
            return true;
    }
    return !any;
}

/* `expected` has the seconds of each routine at the last size, and that size; updated. */
static void measure_all(enum type type, int64_t n, char **names, double (*expected)[2])
{
    struct problem p = problem_of(type, n);

    for (int i = 0; i < ROUTINES && example_now() < deadline; i++) {
        double ratio = expected ? (double)n / fmax(1, expected[i][1]) : 1;
        double most = expected ? expected[i][0] * ratio * ratio * ratio : 0;

        if (!chosen(routines[i].name, names) || most > 2 || example_now() + 3 * most > deadline)
            continue;
        most = measure(&routines[i], &p);
        if (expected)
            expected[i][0] = most, expected[i][1] = (double)n;
    }
    free_problem(&p);
}

enum { TYPES_MOST = 2000, LEAST_BYTES = TYPES_MOST * TYPES_MOST * 16 }; /* for the types besides D */

static void measure_types(int64_t n, char **names)
{
    for (int type = S; type < TYPES; type++) {
        if (type == D)
            continue;
        make_seed((size_t)(n * n) * bytes_of[type], type != Z);
        measure_all((enum type)type, n, names, NULL);
    }
}

static void open_all(size_t bytes)
{
    double start = example_now();
    int version = 0;

    HAND_CUDA(cudaFree(NULL));
    printf("{\"step\": \"context\", \"seconds\": %.6f}\n", example_now() - start);
    HAND_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    start = example_now();
    HAND_CUBLAS(cublasCreate(&blas));
    HAND_CUBLAS(cublasSetStream(blas, stream));
    printf("{\"step\": \"cuBLAS\", \"seconds\": %.6f}\n", example_now() - start);
    start = example_now();
    HAND_CUSOLVER(cusolverDnCreate(&solver));
    HAND_CUSOLVER(cusolverDnSetStream(solver, stream));
    HAND_CUSOLVER(cusolverDnCreateParams(&params));
    HAND_CUSOLVER(cusolverGetVersion(&version));
    HAND_CUDA(cudaMallocHost((void **)&host_seed, bytes));
    HAND_CUDA(cudaMallocHost((void **)&host_a, bytes));
    HAND_CUDA(cudaMallocHost((void **)&host_b, bytes));
    printf("{\"step\": \"cuSOLVER\", \"seconds\": %.6f, \"version\": %d}\n", example_now() - start, version);
    fflush(stdout);
}

struct options {
    int64_t sizes[16];
    int count, type; /* type: TYPES for all */
    double seconds;
    char **names;
};

static bool parse(int argc, char **argv, struct options *o)
{
    int at = 1, given = 0;

    for (; at < argc && argv[at][0] == '-'; at++) {
        const char *value = at + 1 < argc ? argv[at + 1] : "";

        if (strcmp(argv[at], "--quick") == 0) {
            o->seconds = 25, o->count = 2, o->sizes[0] = 1000, o->sizes[1] = 4000;
            continue;
        }
        if (strcmp(argv[at], "--seconds") == 0 && atof(value) > 0)
            o->seconds = atof(value);
        else if (strcmp(argv[at], "--size") == 0 && atoll(value) > 0 && given < 16)
            o->sizes[given++] = atoll(value), o->count = given;
        else if (strcmp(argv[at], "--type") == 0 && *value && strchr(letters, *value))
            o->type = (int)(strchr(letters, *value) - letters);
        else
            return false;
        at++;
    }
    o->names = argv + at;
    return true;
}

int main(int argc, char **argv)
{
    struct options o = {.sizes = {500, 1000, 2000, 4000, 8000, 10000}, .count = 6, .type = TYPES, .seconds = 60};
    double expected[ROUTINES][2] = {{0}};
    size_t bytes = LEAST_BYTES;
    enum type type;

    if (!parse(argc, argv, &o)) {
        fprintf(stderr, "usage: lapack_rates [--quick] [--seconds S] [--size N]... [--type LETTER] [routine...]\n");
        return 2;
    }
    type = o.type == TYPES ? D : (enum type)o.type;
    for (int i = 0; i < o.count; i++) {
        size_t needed = (size_t)o.sizes[i] * (size_t)o.sizes[i] * bytes_of[type];

        bytes = needed > bytes ? needed : bytes;
    }
    deadline = example_now() + o.seconds;
    open_all(bytes);
    make_seed(bytes, false);
    conventions();
    make_seed(bytes, type == S || type == C);
    for (int i = 0; i < o.count; i++) {
        measure_all(type, o.sizes[i], o.names, expected);
        if (o.type == TYPES && i == (o.count > 3 ? 2 : 0)) {
            measure_types(o.sizes[i] < TYPES_MOST ? o.sizes[i] : TYPES_MOST, o.names);
            make_seed(bytes, false);
        }
    }
    return failures ? 1 : 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
