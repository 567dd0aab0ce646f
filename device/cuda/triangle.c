/* trsm by halves: the first half of the triangle is solved, subtracted from the other half by one product, and the
 * other half is solved.  Triangles of up to 256 rows are solved by a kernel of the module (triangle.cu), compiled by
 * nvcc and built in as data.  Without nvcc, or if the driver refuses the kernel, cuBLAS solves (rule U20). */
#include "device/cuda/triangle_kernel.h"
#include "device/cuda/kernel.h"

#ifdef SC_CUDA_TRIANGLE

static const _Alignas(16) unsigned char image[] = {
#include "device/cuda/triangle_image.inc"
};

static const char *const names[2][SC_TYPES] = {
    {"triangle_s", "triangle_d", "triangle_c", "triangle_z"},
    {"triangle_turn_s", "triangle_turn_d", "triangle_turn_c", "triangle_turn_z"}};

enum { SQUARE = 32 }; /* rows and columns that a block turns */

_Static_assert(SC_CUDA_TRIANGLE_ROWS * SC_CUDA_TRIANGLE_ROWS * 16 <= SC_CUDA_SCRATCH, "room for a turned triangle");

/* A solve: the call, and A as the matrix of the equations that is multiplied from the left: op(A), or its transpose for
 * side R. */
struct solve {
    const struct sc_cuda_call *c;
    CUfunction kernel, turn;
    size_t bytes; /* of an element */
    bool left, plain; /* plain: op(A) is A */
    bool forward;     /* the matrix is lower triangular: its first row comes first */
    int64_t across;   /* right sides */
    bool *begun;      /* B has changed: the solve cannot begin again */
};

/* Loads the kernels at the first use. */
static enum sc_status load(struct sc_cuda_device *d)
{
    return sc_cuda_module_load_all(&d->triangle, image, names[0], 2 * SC_TYPES, d->triangles[0]);
}

/* Address of row i and column j of op(A). */
static char *at(const struct solve *s, int64_t i, int64_t j)
{
    const struct sc_kernel *k = s->c->k;

    return (char *)k->a + (size_t)(s->plain ? i + j * k->lda : j + i * k->lda) * s->bytes;
}

/* Address of the first element of row i of B, of column i for side R. */
static char *side_at(const struct solve *s, int64_t i)
{
    const struct sc_kernel *k = s->c->k;

    return (char *)k->b + (size_t)(s->left ? i : i * k->ldb) * s->bytes;
}

/* Where rows of the triangle are rows of A, a turned copy of the triangle in the scratch memory replaces it: the kernel
 * reads columns (H200, doubles, 256 rows: 31 us with columns, 68 with rows). */
static enum sc_status turn(const struct solve *s, struct sc_cuda_triangle *t, const void **l)
{
    void *to = s->c->queue->scratch, *arguments[] = {t, l, &to};
    unsigned squares = (unsigned)((t->rows + SQUARE - 1) / SQUARE);
    enum sc_status status = sc_cuda_module_launch(s->turn, squares, squares, SC_CUDA_TRIANGLE_ROWS,
                                                  s->c->queue->stream, arguments);

    *l = to;
    t->row = 1;
    t->column = SC_CUDA_TRIANGLE_ROWS;
    return status;
}

/* Rows [from, from + n) of a triangle by the kernel. */
static enum sc_status solve_small(const struct solve *s, int64_t from, int64_t n, const union sc_cuda_scalar *alpha)
{
    const struct sc_kernel *k = s->c->k;
    bool single = k->type == SC_S || k->type == SC_C, down = s->plain == s->left; /* a row's step goes down A */
    struct sc_cuda_triangle t = {.row = down ? 1 : k->lda, .column = down ? k->lda : 1,
                                 .b_row = s->left ? 1 : k->ldb, .b_column = s->left ? k->ldb : 1,
                                 .columns = s->across, .rows = (int)n, .unit = k->diag == 'U',
                                 .conjugate = k->transa == 'C' && sc_type_is_complex(k->type)};
    int64_t first = s->forward ? from : from + n - 1, each = SC_CUDA_TRIANGLE_COLUMNS / (k->type == SC_Z ? 2 : 1);
    const void *l = at(s, first, first);
    void *b = side_at(s, first), *arguments[] = {&t, &l, &b};
    enum sc_status status = SC_OK;

    t.alpha[0] = single ? (double)alpha->s[0] : alpha->d[0];
    t.alpha[1] = single ? (double)alpha->s[1] : alpha->d[1];
    if (!s->forward) {
        t.row = -t.row;
        t.column = -t.column;
        t.b_row = -t.b_row;
    }
    if (!down)
        status = turn(s, &t, &l);
    if (status == SC_OK)
        status = sc_cuda_module_launch(s->kernel, (unsigned)((s->across + each - 1) / each), 1, SC_CUDA_TRIANGLE_ROWS,
                                       s->c->queue->stream, arguments);
    *s->begun |= status == SC_OK;
    return status;
}

/* Rows [to, to + m) of B := alpha times these rows, minus the contributions of the solved rows [from, from + n). */
static enum sc_status subtract(const struct solve *s, int64_t to, int64_t m, int64_t from, int64_t n,
                               const union sc_cuda_scalar *alpha)
{
    static const double minus_one[2] = {-1, 0};
    const struct sc_kernel *k = s->c->k;
    const union sc_cuda_scalar minus = sc_cuda_scalar_of(k->type, minus_one);
    struct sc_cuda_product p = {.alpha = &minus, .beta = alpha, .c = side_at(s, to), .ldc = k->ldb};

    if (s->left) {
        p.transa = sc_cuda_operation(k, k->transa), p.transb = CUBLAS_OP_N;
        p.m = m, p.n = s->across, p.k = n;
        p.a = at(s, to, from), p.lda = k->lda, p.b = side_at(s, from), p.ldb = k->ldb;
    } else {
        p.transa = CUBLAS_OP_N, p.transb = sc_cuda_operation(k, k->transa);
        p.m = s->across, p.n = m, p.k = n;
        p.a = side_at(s, from), p.lda = k->ldb, p.b = at(s, from, to), p.ldb = k->lda;
    }
    return sc_cuda_product(s->c, &p);
}

static enum sc_status solve(const struct solve *s, int64_t from, int64_t n, const union sc_cuda_scalar *alpha)
{
    static const double one[2] = {1, 0};
    const union sc_cuda_scalar unscaled = sc_cuda_scalar_of(s->c->k->type, one);
    int64_t half = (n / 2 + SC_CUDA_TRIANGLE_ROWS - 1) / SC_CUDA_TRIANGLE_ROWS * SC_CUDA_TRIANGLE_ROWS;
    int64_t solved = s->forward ? half : n - half; /* the half that comes first */
    int64_t first = s->forward ? from : from + half, rest = s->forward ? from + half : from;
    enum sc_status status;

    if (n <= SC_CUDA_TRIANGLE_ROWS)
        return solve_small(s, from, n, alpha);
    status = solve(s, first, solved, alpha);
    if (status == SC_OK)
        status = subtract(s, rest, n - solved, first, solved, alpha);
    return status == SC_OK ? solve(s, rest, n - solved, &unscaled) : status;
}

enum sc_status sc_cuda_triangle(const struct sc_cuda_call *c)
{
    struct sc_cuda_device *d = sc_cuda_device(c->device);
    const struct sc_kernel *k = c->k;
    bool begun = false;
    struct solve s = {.c = c, .bytes = sc_type_bytes(k->type), .left = k->side == 'L', .plain = k->transa == 'N',
                      .begun = &begun};
    enum sc_status status = load(d);

    if (status != SC_OK)
        return status;
    s.kernel = d->triangles[0][k->type];
    s.turn = d->triangles[1][k->type];
    s.forward = ((k->uplo == 'L') == s.plain) == s.left;
    s.across = s.left ? k->n : k->m;
    status = solve(&s, 0, s.left ? k->m : k->n, &c->alpha);
    return status != SC_OK && begun ? SC_ERR_DEVICE : status; /* a second try would solve the solved part again */
}

#else

enum sc_status sc_cuda_triangle(const struct sc_cuda_call *c)
{
    (void)c;
    return SC_ERR_UNSUPPORTED;
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
