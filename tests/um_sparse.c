/* cuSPARSE's generic products and solves on managed memory, through libsemcache-cuda-um, beside plain loops over a
 * dense matrix: formats, integers, bases, types, operations, orders.
 *
 *     um_sparse [seed] */
#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <cuda_runtime_api.h>
#define DISABLE_CUSPARSE_DEPRECATED
#include <cusparse.h>

#include "tests/tap.h"
#include "tests/um.h"

enum { ROWS = 41, COLS = 53, SOLVE = 37, WIDE = 5, LD = 60 };

static uint64_t state;
static cusparseHandle_t handle;
static double complex dense[LD][LD]; /* the matrix */

/* --- numbers of four types ---------------------------------------------------------------------------------------- */

static const struct kind {
    cudaDataType type;
    size_t bytes;
    double close;
    bool is_complex;
    const char *name;
} kinds[] = {{CUDA_R_32F, 4, 1e-4, false, "float"},
             {CUDA_R_64F, 8, 1e-12, false, "double"},
             {CUDA_C_32F, 8, 1e-4, true, "complex float"},
             {CUDA_C_64F, 16, 1e-12, true, "complex double"}};
static const struct kind *now;

static double number(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (double)(int64_t)(state * UINT64_C(2685821657736338717)) * 0x1p-63;
}

static double complex any(void)
{
    double re = number(), im = number();

    return now->is_complex ? re + im * I : re;
}

/* N, T and C; cuSPARSE has C for complex types only. */
static int operations(void) { return now->is_complex ? 3 : 2; }

static void put(void *at, size_t i, double complex value)
{
    switch (now->type) {
    case CUDA_R_32F: ((float *)at)[i] = (float)creal(value); break;
    case CUDA_R_64F: ((double *)at)[i] = creal(value); break;
    case CUDA_C_32F: ((float complex *)at)[i] = (float complex)value; break;
    default: ((double complex *)at)[i] = value; break;
    }
}

static double complex get(const void *at, size_t i)
{
    switch (now->type) {
    case CUDA_R_32F: return ((const float *)at)[i];
    case CUDA_R_64F: return ((const double *)at)[i];
    case CUDA_C_32F: return ((const float complex *)at)[i];
    default: return ((const double complex *)at)[i];
    }
}

/* --- the matrix in a format --------------------------------------------------------------------------------------- */

struct form {
    cusparseFormat_t format;
    bool wide, one; /* 64-bit integers; counting from 1 */
};
struct matrix {
    cusparseSpMatDescr_t descr;
    void *start, *index, *values;
};

static void put_integer(const struct form *f, void *at, size_t i, int64_t value)
{
    if (f->wide)
        ((int64_t *)at)[i] = value + f->one;
    else
        ((int *)at)[i] = (int)value + f->one;
}

/* Rows in order, or columns where by_columns. */
static int64_t list(const struct form *f, int rows, int cols, struct matrix *m)
{
    bool by_columns = f->format == CUSPARSE_FORMAT_CSC, pairs = f->format == CUSPARSE_FORMAT_COO;
    int lines = by_columns ? cols : rows, across = by_columns ? rows : cols;
    int64_t at = 0;

    for (int i = 0; i < lines; i++) {
        if (!pairs)
            put_integer(f, m->start, (size_t)i, at);
        for (int j = 0; j < across; j++) {
            double complex value = by_columns ? dense[j][i] : dense[i][j];

            if (value == 0)
                continue;
            if (pairs)
                put_integer(f, m->start, (size_t)at, i);
            put_integer(f, m->index, (size_t)at, j);
            put(m->values, (size_t)at++, value);
        }
    }
    if (!pairs)
        put_integer(f, m->start, (size_t)lines, at);
    return at;
}

static bool make(const struct form *f, int rows, int cols, struct matrix *m)
{
    cusparseIndexType_t index = f->wide ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;
    cusparseIndexBase_t base = f->one ? CUSPARSE_INDEX_BASE_ONE : CUSPARSE_INDEX_BASE_ZERO;
    cusparseStatus_t status;
    int64_t entries;

    m->start = um_managed(LD * LD * 8);
    m->index = um_managed(LD * LD * 8);
    m->values = um_managed(LD * LD * 16);
    entries = list(f, rows, cols, m);
    if (f->format == CUSPARSE_FORMAT_CSR)
        status = cusparseCreateCsr(&m->descr, rows, cols, entries, m->start, m->index, m->values, index, index, base,
                                   now->type);
    else if (f->format == CUSPARSE_FORMAT_CSC)
        status = cusparseCreateCsc(&m->descr, rows, cols, entries, m->start, m->index, m->values, index, index, base,
                                   now->type);
    else
        status = cusparseCreateCoo(&m->descr, rows, cols, entries, m->start, m->index, m->values, index, base,
                                   now->type);
    return status == CUSPARSE_STATUS_SUCCESS;
}

static void drop(struct matrix *m)
{
    cusparseDestroySpMat(m->descr);
    cudaFree(m->start);
    cudaFree(m->index);
    cudaFree(m->values);
}

/* Nonzeros at about a fifth of the places; for solves a dominant diagonal. */
static void fill_dense(int rows, int cols, bool dominant)
{
    memset(dense, 0, sizeof dense);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++)
            if (fabs(number()) < 0.2)
                dense[i][j] = any();
    for (int i = 0; dominant && i < rows; i++)
        dense[i][i] = 16 + any();
}

/* op(A)(i, j) */
static double complex element(cusparseOperation_t op, int i, int j)
{
    double complex value = op == CUSPARSE_OPERATION_NON_TRANSPOSE ? dense[i][j] : dense[j][i];

    return op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? conj(value) : value;
}

/* --- dense operands ----------------------------------------------------------------------------------------------- */

/* rows x WIDE, by rows or columns; transposed where the call transposes the operand back. */
struct panel {
    cusparseDnMatDescr_t descr;
    void *values;
    bool by_rows, transposed;
    double complex wanted[LD][WIDE];
};

static size_t place(const struct panel *p, int i, int j)
{
    int row = p->transposed ? j : i, col = p->transposed ? i : j;

    return (size_t)(p->by_rows ? row * LD + col : col * LD + row);
}

static bool make_panel(struct panel *p, int rows)
{
    p->values = um_managed(LD * LD * 16);
    for (size_t i = 0; i < LD * LD; i++)
        put(p->values, i, 77);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < WIDE; j++) {
            put(p->values, place(p, i, j), any());
            p->wanted[i][j] = get(p->values, place(p, i, j));
        }
    return cusparseCreateDnMat(&p->descr, p->transposed ? WIDE : rows, p->transposed ? rows : WIDE, LD, p->values,
                               now->type, p->by_rows ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL) ==
           CUSPARSE_STATUS_SUCCESS;
}

static void drop_panel(struct panel *p)
{
    cusparseDestroyDnMat(p->descr);
    cudaFree(p->values);
}

static bool same(const struct panel *p, int rows)
{
    size_t inside = 0;

    for (int i = 0; i < rows; i++)
        for (int j = 0; j < WIDE; j++)
            if (!(cabs(get(p->values, place(p, i, j)) - p->wanted[i][j]) <= now->close * (1 + cabs(p->wanted[i][j]))))
                return false;
    for (size_t i = 0; i < LD * LD; i++)
        inside += get(p->values, i) != 77;
    return inside == (size_t)rows * WIDE;
}

/* Prints a failed step. */
static bool step(bool good, const char *what, int a, int b)
{
    if (!good)
        tap_diag("%s: %s (%d, %d)", now->name, what, a, b);
    return good;
}

/* --- products ----------------------------------------------------------------------------------------------------- */

static bool product_vector(const struct matrix *m, cusparseOperation_t op)
{
    bool plain = op == CUSPARSE_OPERATION_NON_TRANSPOSE, good;
    int in = plain ? COLS : ROWS, out = plain ? ROWS : COLS;
    void *x = um_managed(LD * 16), *y = um_managed(LD * 16), *buffer = NULL;
    double complex alpha = any(), beta = any(), wanted[LD];
    char alpha_typed[16], beta_typed[16];
    cusparseDnVecDescr_t vx, vy;
    size_t bytes;

    put(alpha_typed, 0, alpha);
    put(beta_typed, 0, beta);
    for (int i = 0; i < LD; i++) {
        put(x, (size_t)i, any());
        put(y, (size_t)i, any());
    }
    for (int i = 0; i < out; i++) {
        wanted[i] = get(beta_typed, 0) * get(y, (size_t)i);
        for (int j = 0; j < in; j++)
            wanted[i] += get(alpha_typed, 0) * element(op, i, j) * get(x, (size_t)j);
    }
    good = !cusparseCreateDnVec(&vx, in, x, now->type) && !cusparseCreateDnVec(&vy, out, y, now->type) &&
           !cusparseSpMV_bufferSize(handle, op, alpha_typed, m->descr, vx, beta_typed, vy, now->type,
                                    CUSPARSE_SPMV_ALG_DEFAULT, &bytes) &&
           !cudaMalloc(&buffer, bytes + 1) &&
           !cusparseSpMV_preprocess(handle, op, alpha_typed, m->descr, vx, beta_typed, vy, now->type,
                                    CUSPARSE_SPMV_ALG_DEFAULT, buffer) &&
           !cusparseSpMV(handle, op, alpha_typed, m->descr, vx, beta_typed, vy, now->type, CUSPARSE_SPMV_ALG_DEFAULT,
                         buffer) &&
           !cudaDeviceSynchronize();
    step(good, "the calls of SpMV", op, 0);
    for (int i = 0; i < out && good; i++)
        good = step(cabs(get(y, (size_t)i) - wanted[i]) <= now->close * (1 + cabs(wanted[i])), "SpMV's y", op, i);
    good = good && (um_is_cuda_alone() || /* CUDA prints a line, too */
                    step(cusparseSpMV(handle, op, alpha_typed, m->descr, vy, beta_typed, vx, now->type,
                                 CUSPARSE_SPMV_ALG_DEFAULT, buffer) != CUSPARSE_STATUS_SUCCESS, "SpMV's check", op, 0));
    cusparseDestroyDnVec(vx);
    cusparseDestroyDnVec(vy);
    cudaFree(x);
    cudaFree(y);
    return cudaFree(buffer) == cudaSuccess && good;
}

/* layout: 1: B by rows, 2: B transposed, 4: C by rows. */
static bool product_panels(const struct matrix *m, cusparseOperation_t op, int layout)
{
    bool plain = op == CUSPARSE_OPERATION_NON_TRANSPOSE, b_transposed = layout & 2, good;
    cusparseOperation_t op_b = b_transposed ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE;
    int in = plain ? COLS : ROWS, out = plain ? ROWS : COLS;
    struct panel b = {.by_rows = layout & 1, .transposed = b_transposed}, c = {.by_rows = layout & 4};
    char alpha[16], beta[16];
    void *buffer = NULL;
    size_t bytes;

    put(alpha, 0, any());
    put(beta, 0, any());
    good = make_panel(&b, in) && make_panel(&c, out);
    for (int i = 0; i < out; i++)
        for (int k = 0; k < WIDE; k++) {
            c.wanted[i][k] *= get(beta, 0);
            for (int j = 0; j < in; j++)
                c.wanted[i][k] += get(alpha, 0) * element(op, i, j) * b.wanted[j][k];
        }
    good = good &&
           !cusparseSpMM_bufferSize(handle, op, op_b, alpha, m->descr, b.descr, beta, c.descr, now->type,
                                    CUSPARSE_SPMM_ALG_DEFAULT, &bytes) &&
           !cudaMalloc(&buffer, bytes + 1) &&
           !cusparseSpMM(handle, op, op_b, alpha, m->descr, b.descr, beta, c.descr, now->type,
                         CUSPARSE_SPMM_ALG_DEFAULT, buffer) &&
           !cudaDeviceSynchronize();
    step(good, "the calls of SpMM", op, layout);
    good = good && step(same(&c, out), "SpMM's C", op, layout) && step(same(&b, in), "SpMM's B", op, layout);
    drop_panel(&b);
    drop_panel(&c);
    return cudaFree(buffer) == cudaSuccess && good;
}

static const char *const format_names[] = {"", "CSR", "CSC", "COO"};

static void test_products(const struct form *f)
{
    struct matrix m;
    bool good;

    fill_dense(ROWS, COLS, false);
    good = make(f, ROWS, COLS, &m);
    for (int op = 0; op < operations() && good; op++) {
        good = product_vector(&m, (cusparseOperation_t)op);
        for (int layout = 0; layout < 8 && good; layout++)
            good = product_panels(&m, (cusparseOperation_t)op, layout);
    }
    tap_ok(good, "%s, %s, %d bits, from %d: products", now->name, format_names[f->format], f->wide ? 64 : 32, f->one);
    drop(&m);
}

/* --- solves ------------------------------------------------------------------------------------------------------- */

/* Element (i, j) of the triangle used by the solve. */
static double complex of_triangle(cusparseOperation_t op, bool upper, bool unit, int i, int j)
{
    bool stored_upper = op == CUSPARSE_OPERATION_NON_TRANSPOSE ? j > i : j < i;

    if (i == j)
        return unit ? 1 : element(op, i, i);
    return stored_upper == upper ? element(op, i, j) : 0;
}

/* Whether alpha B - op(T) X is 0 up to rounding. */
static bool solves(cusparseOperation_t op, bool upper, bool unit, double complex alpha, const struct panel *b,
                   const struct panel *x)
{
    for (int i = 0; i < SOLVE; i++)
        for (int k = 0; k < WIDE; k++) {
            double complex rest = alpha * b->wanted[i][k];
            double most = cabs(rest);

            for (int j = 0; j < SOLVE; j++) {
                double complex term = of_triangle(op, upper, unit, i, j) * get(x->values, place(x, j, k));

                rest -= term;
                most += cabs(term);
            }
            if (!(cabs(rest) <= now->close * (1 + most)))
                return false;
        }
    return true;
}

static bool solve_panels(const struct matrix *m, cusparseOperation_t op, bool upper, bool unit, bool b_rows,
                         bool x_rows)
{
    const cusparseOperation_t no = CUSPARSE_OPERATION_NON_TRANSPOSE;
    struct panel b = {.by_rows = b_rows}, x = {.by_rows = x_rows};
    cusparseSpSMDescr_t solver;
    void *buffer = NULL;
    char alpha[16];
    size_t bytes;
    bool good;

    put(alpha, 0, any());
    good = make_panel(&b, SOLVE) && make_panel(&x, SOLVE) && !cusparseSpSM_createDescr(&solver) &&
           !cusparseSpSM_bufferSize(handle, op, no, alpha, m->descr, b.descr, x.descr, now->type,
                                    CUSPARSE_SPSM_ALG_DEFAULT, solver, &bytes) &&
           !cudaMalloc(&buffer, bytes + 1) &&
           !cusparseSpSM_analysis(handle, op, no, alpha, m->descr, b.descr, x.descr, now->type,
                                  CUSPARSE_SPSM_ALG_DEFAULT, solver, buffer) &&
           !cusparseSpSM_solve(handle, op, no, alpha, m->descr, b.descr, x.descr, now->type, CUSPARSE_SPSM_ALG_DEFAULT,
                               solver) &&
           !cudaDeviceSynchronize() && solves(op, upper, unit, get(alpha, 0), &b, &x) && same(&b, SOLVE);
    drop_panel(&b);
    drop_panel(&x);
    return !cusparseSpSM_destroyDescr(solver) && cudaFree(buffer) == cudaSuccess && good;
}

static bool solve_vector(const struct matrix *m, cusparseOperation_t op, bool upper, bool unit)
{
    struct panel b = {.by_rows = false}, x = {.by_rows = false};
    cusparseSpSVDescr_t solver;
    cusparseDnVecDescr_t vb, vx;
    void *buffer = NULL;
    char alpha[16];
    size_t bytes;
    bool good;

    put(alpha, 0, any());
    good = make_panel(&b, SOLVE) && make_panel(&x, SOLVE) && !cusparseSpSV_createDescr(&solver);
    for (int k = 0; k < WIDE && good; k++) {
        good = !cusparseCreateDnVec(&vb, SOLVE, (char *)b.values + place(&b, 0, k) * now->bytes, now->type) &&
               !cusparseCreateDnVec(&vx, SOLVE, (char *)x.values + place(&x, 0, k) * now->bytes, now->type);
        if (k == 0)
            good = good &&
                   !cusparseSpSV_bufferSize(handle, op, alpha, m->descr, vb, vx, now->type, CUSPARSE_SPSV_ALG_DEFAULT,
                                            solver, &bytes) &&
                   !cudaMalloc(&buffer, bytes + 1) &&
                   !cusparseSpSV_analysis(handle, op, alpha, m->descr, vb, vx, now->type, CUSPARSE_SPSV_ALG_DEFAULT,
                                          solver, buffer);
        good = good && !cusparseSpSV_solve(handle, op, alpha, m->descr, vb, vx, now->type, CUSPARSE_SPSV_ALG_DEFAULT,
                                           solver);
        cusparseDestroyDnVec(vb);
        cusparseDestroyDnVec(vx);
    }
    good = good && !cudaDeviceSynchronize() && solves(op, upper, unit, get(alpha, 0), &b, &x) && same(&b, SOLVE);
    drop_panel(&b);
    drop_panel(&x);
    return !cusparseSpSV_destroyDescr(solver) && cudaFree(buffer) == cudaSuccess && good;
}

static void test_solves(const struct form *f)
{
    struct matrix m;
    bool good;

    if (f->format == CUSPARSE_FORMAT_CSC && um_is_cuda_alone()) {
        tap_ok(true, "%s, CSC: solves # SKIP cuSPARSE has none", now->name);
        return;
    }
    fill_dense(SOLVE, SOLVE, true);
    good = make(f, SOLVE, SOLVE, &m);
    for (int kind = 0; kind < 4 && good; kind++) {
        cusparseFillMode_t fill = kind & 1 ? CUSPARSE_FILL_MODE_UPPER : CUSPARSE_FILL_MODE_LOWER;
        cusparseDiagType_t diag = kind & 2 ? CUSPARSE_DIAG_TYPE_UNIT : CUSPARSE_DIAG_TYPE_NON_UNIT;

        good = !cusparseSpMatSetAttribute(m.descr, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill) &&
               !cusparseSpMatSetAttribute(m.descr, CUSPARSE_SPMAT_DIAG_TYPE, &diag, sizeof diag);
        for (int op = 0; op < operations() && good; op++) {
            good = solve_vector(&m, (cusparseOperation_t)op, kind & 1, kind & 2);
            for (int layout = 0; layout < 4 && good; layout++)
                good = solve_panels(&m, (cusparseOperation_t)op, kind & 1, kind & 2, layout & 1, layout & 2);
        }
    }
    tap_ok(good, "%s, %s, %d bits, from %d: solves", now->name, format_names[f->format], f->wide ? 64 : 32, f->one);
    drop(&m);
}

/* --- what changes, and what is wrong ------------------------------------------------------------------------------ */

/* The CPU writes values, positions and a vector between products. */
static void test_changes(void)
{
    const struct form f = {CUSPARSE_FORMAT_CSR, false, false};
    struct matrix m;
    bool good;

    now = &kinds[1];
    fill_dense(ROWS, COLS, false);
    good = make(&f, ROWS, COLS, &m) && product_vector(&m, CUSPARSE_OPERATION_NON_TRANSPOSE);
    for (int round = 0; round < 4 && good; round++) {
        cusparseDestroySpMat(m.descr);
        fill_dense(ROWS, COLS, false);
        cusparseCreateCsr(&m.descr, ROWS, COLS, list(&f, ROWS, COLS, &m), m.start, m.index, m.values,
                          CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, now->type);
        good = product_vector(&m, CUSPARSE_OPERATION_NON_TRANSPOSE);
    }
    tap_ok(good, "another matrix in the same arrays");
    drop(&m);
}

/* The same answer as cuSPARSE's, without cuSPARSE's line. */
static void test_conjugate_of_real(void)
{
    const struct form f = {CUSPARSE_FORMAT_CSR, false, false};
    const cusparseOperation_t conjugate = CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;
    double *x = um_managed(LD * 8), *y = um_managed(LD * 8), one = 1;
    cusparseDnVecDescr_t vx, vy;
    struct matrix m;
    size_t bytes;
    bool good;

    now = &kinds[1];
    fill_dense(ROWS, COLS, false);
    good = make(&f, ROWS, COLS, &m) && !cusparseCreateDnVec(&vx, ROWS, x, now->type) &&
           !cusparseCreateDnVec(&vy, COLS, y, now->type);
    y[0] = 7;
    tap_ok(good &&
               cusparseSpMV_bufferSize(handle, conjugate, &one, m.descr, vx, &one, vy, now->type,
                                       CUSPARSE_SPMV_ALG_DEFAULT, &bytes) == CUSPARSE_STATUS_NOT_SUPPORTED &&
               cusparseSpMV(handle, conjugate, &one, m.descr, vx, &one, vy, now->type, CUSPARSE_SPMV_ALG_DEFAULT,
                            NULL) == CUSPARSE_STATUS_NOT_SUPPORTED && y[0] == 7,
           "the conjugate of a real matrix is refused");
    cusparseDestroyDnVec(vx);
    cusparseDestroyDnVec(vy);
    cudaFree(x);
    cudaFree(y);
    drop(&m);
}

int main(int argc, char **argv)
{
    static const cusparseFormat_t formats[] = {CUSPARSE_FORMAT_CSR, CUSPARSE_FORMAT_CSC, CUSPARSE_FORMAT_COO};

    state = (argc > 1 ? strtoull(argv[1], NULL, 0) : 20261121) | 1;
    tap_diag("seed %llu", (unsigned long long)state);
    if (cusparseCreate(&handle) != CUSPARSE_STATUS_SUCCESS) {
        printf("Bail out! no handle\n");
        return 99;
    }
    for (size_t t = 0; t < sizeof kinds / sizeof *kinds; t++)
        for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
            /* The two widths and bases occur with every format, in half of the types each. */
            struct form f = {formats[i], (t + i) & 1, t & 1};

            now = &kinds[t];
            test_products(&f);
            test_solves(&f);
        }
    test_changes();
    if (!um_is_cuda_alone())
        test_conjugate_of_real();
    cusparseDestroy(handle);
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
