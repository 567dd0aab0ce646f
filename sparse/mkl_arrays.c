/* MKL's older names, with the arrays as arguments of every call: sc_sparse_find finds the matrix by its arrays.  The
 * functions cannot return an error; on an error they print a line on stderr and write nothing. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "sparse/mkl.h"
#include "sparse/sparse_int.h"

/* The arguments of a call. */
struct call {
    struct sc_sparse_arrays arrays;
    char trans;
    bool skew; /* the triangle `uplo`, and its negative transpose */
    struct sc_sparse_descr descr;
};

/* In a program compiled for MKL's ILP64 libraries, integers have 64 bits, in spite of the declarations here. */
static int integer_bytes(void) { return sc_mkl_wide() ? 8 : 4; }
static int64_t number(const int32_t *p) { return sc_sparse_at(p, integer_bytes(), 0); }

static char upper(const char *letter)
{
    return (char)toupper((unsigned char)*letter);
}

/* Reads matdescra: kind, triangle, diagonal, base. */
static bool read_descr(struct call *c, const char *matdescra)
{
    char kind = upper(matdescra);

    c->descr = (struct sc_sparse_descr){.kind = SC_SPARSE_GENERAL, .uplo = 'L', .diag = 'N'};
    c->arrays = (struct sc_sparse_arrays){.base = upper(matdescra + 3) != 'C'};
    c->skew = kind == 'A';
    switch (kind) {
    case 'G': return true;
    case 'S': c->descr.kind = SC_SPARSE_SYMMETRIC; break;
    case 'H': c->descr.kind = SC_SPARSE_HERMITIAN; break;
    case 'A':
    case 'T': c->descr.kind = SC_SPARSE_TRIANGULAR; break;
    case 'D': c->descr.kind = SC_SPARSE_DIAGONAL; break;
    default: sc_log(SC_LOG_ERROR, "matdescra begins with '%c', which means nothing: y stays as it is", *matdescra);
        return false;
    }
    if (kind != 'D')
        c->descr.uplo = upper(matdescra + 1);
    if (kind != 'A')
        c->descr.diag = upper(matdescra + 2) == 'U' ? 'U' : 'N';
    return true;
}

/* Positions count from the first row's position, whatever its value; in sparse.h they count from the base. */
static void read_arrays(struct call *c, enum sc_type type, int64_t rows, int64_t cols, const void *values,
                        const int32_t *index, const int32_t *start, const int32_t *end)
{
    struct sc_sparse_arrays *a = &c->arrays;
    const int bytes = integer_bytes();
    int64_t off = rows > 0 && start ? sc_sparse_at(start, bytes, 0) - a->base : 0;

    a->format = SC_SPARSE_CSR;
    a->type = type;
    a->index_bytes = bytes;
    a->rows = rows;
    a->cols = cols;
    a->start = start;
    a->end = end;
    a->index = (const char *)index - off * bytes;
    a->values = (const char *)values - off * (int64_t)sc_type_bytes(type);
}

/* Diagonals have no base; dense operands are stored by columns. */
static bool begin_diagonals(struct call *c, enum sc_type type, const char *trans, int64_t rows, int64_t cols,
                            const char *matdescra, const void *values, int64_t ld, const int32_t *offsets,
                            int64_t count)
{
    if (!read_descr(c, matdescra))
        return false;
    c->trans = upper(trans);
    c->arrays = (struct sc_sparse_arrays){.format = SC_SPARSE_DIA, .type = type, .index_bytes = integer_bytes(),
                                          .base = 1, .rows = rows, .cols = cols, .index = offsets, .values = values,
                                          .count = count, .ld = ld};
    return true;
}

/* Dense operands; columns is 0 for vectors. */
struct dense {
    int64_t columns, ldx, ldy;
    const void *x;
    void *y;
};

static enum sc_status apply(struct sc_sparse_matrix *m, const struct call *c, char trans, const double alpha[2],
                            const double beta[2], const struct dense *d)
{
    if (!d->columns)
        return sc_sparse_mv(m, trans, &c->descr, alpha, d->x, 1, beta, d->y, 1);
    return sc_sparse_mm(m, trans, &c->descr, !c->arrays.base, d->columns, alpha, d->x, d->ldx, beta, d->y, d->ldy);
}

/* Conjugates a dense operand with as many rows as the matrix, stored by rows or by columns. */
static void conjugate(const struct call *c, const struct dense *d, void *memory, int64_t ld)
{
    const bool by_rows = d->columns && !c->arrays.base, single = c->arrays.type == SC_C;
    const int64_t lines = by_rows ? c->arrays.rows : d->columns ? d->columns : 1;
    const int64_t each = by_rows ? d->columns : c->arrays.rows;

    for (int64_t i = 0; i < lines; i++)
        for (int64_t j = 0; j < each; j++) {
            const int64_t imaginary = 2 * (i * ld + j) + 1;

            if (single)
                ((float *)memory)[imaginary] *= -1;
            else
                ((double *)memory)[imaginary] *= -1;
        }
}

/* y += alpha conj(T) x, computed as conj(conj(y) + conj(alpha) T conj(x)), with a conjugated copy of x. */
static void apply_conjugate(struct sc_sparse_matrix *m, const struct call *c, const double alpha[2],
                            const struct dense *d)
{
    static const double one[2] = {1, 0};
    const double conjugated[2] = {alpha[0], -alpha[1]};
    const bool by_rows = d->columns && !c->arrays.base;
    const int64_t n = c->arrays.rows, lines = by_rows ? n : d->columns ? d->columns : 1;
    const int64_t each = by_rows ? d->columns : n;
    const size_t bytes = (size_t)((lines - 1) * d->ldx + each) * sc_type_bytes(c->arrays.type);
    struct dense copy = *d;
    void *x = n > 0 ? malloc(bytes) : NULL;

    if (n < 1)
        return;
    if (!x) {
        sc_log(SC_LOG_ERROR, "no memory for a conjugated copy of x: y is not complete");
        return;
    }
    memcpy(x, d->x, bytes);
    copy.x = x;
    conjugate(c, d, x, d->ldx);
    conjugate(c, d, d->y, d->ldy);
    apply(m, c, 'N', conjugated, one, &copy);
    conjugate(c, d, d->y, d->ldy);
    free(x);
}

/* y := alpha op(T - T^T) x + beta y; the diagonal cancels. */
static void apply_skew(struct sc_sparse_matrix *m, const struct call *c, const double alpha[2], const double beta[2],
                       const struct dense *d)
{
    static const double one[2] = {1, 0};
    const double minus[2] = {-alpha[0], -alpha[1]};

    if (apply(m, c, c->trans, alpha, beta, d) != SC_OK)
        return;
    if (c->trans == 'C' && sc_type_is_complex(c->arrays.type))
        apply_conjugate(m, c, minus, d);
    else
        apply(m, c, c->trans == 'N' ? 'T' : 'N', minus, one, d);
}

static void product(const struct call *c, const double alpha[2], const double beta[2], const struct dense *d)
{
    struct sc_sparse_matrix *m;

    if (sc_sparse_find(&m, &c->arrays) != SC_OK)
        return;
    if (c->skew)
        apply_skew(m, c, alpha, beta, d);
    else
        apply(m, c, c->trans, alpha, beta, d);
    sc_sparse_destroy(m);
}

static void solve(const struct call *c, const double alpha[2], const struct dense *d)
{
    struct sc_sparse_matrix *m;

    if (c->skew)
        sc_log(SC_LOG_ERROR, "a solve with a skew-symmetric matrix, of which MKL has none: y stays as it is");
    if (c->skew || sc_sparse_find(&m, &c->arrays) != SC_OK)
        return;
    if (!d->columns)
        sc_sparse_sv(m, c->trans, &c->descr, alpha, d->x, 1, d->y, 1);
    else
        sc_sparse_sm(m, c->trans, &c->descr, !c->arrays.base, d->columns, alpha, d->x, d->ldx, d->y, d->ldy);
    sc_sparse_destroy(m);
}

/* Reads the arguments of a call with matdescra. */
static bool begin(struct call *c, enum sc_type type, const char *trans, int64_t rows, int64_t cols,
                  const char *matdescra, const void *values, const int32_t *index, const int32_t *start,
                  const int32_t *end)
{
    if (!read_descr(c, matdescra))
        return false;
    c->trans = upper(trans);
    read_arrays(c, type, rows, cols, values, index, start, end);
    return true;
}

/* A call for a square matrix with contiguous rows; the name determines the base. */
static void whole(enum sc_type type, int base, char trans, const struct sc_sparse_descr *descr, const int32_t *n,
                  const void *values, const int32_t *start, const int32_t *index, const void *x, void *y, bool solves)
{
    static const double one[2] = {1, 0}, zero[2] = {0, 0};
    struct call c = {.arrays = {.base = base}, .trans = trans, .descr = *descr};
    const struct dense d = {.x = x, .y = y};

    read_arrays(&c, type, number(n), number(n), values, index, start,
                (const int32_t *)(const void *)((const char *)start + integer_bytes()));
    if (solves)
        solve(&c, one, &d);
    else
        product(&c, one, zero, &d);
}

static void gemv(enum sc_type type, int base, const char *trans, const int32_t *n, const void *values,
                 const int32_t *start, const int32_t *index, const void *x, void *y)
{
    static const struct sc_sparse_descr descr = {.kind = SC_SPARSE_GENERAL, .uplo = 'L', .diag = 'N'};

    whole(type, base, upper(trans), &descr, n, values, start, index, x, y, false);
}

static void symv(enum sc_type type, int base, const char *uplo, const int32_t *n, const void *values,
                 const int32_t *start, const int32_t *index, const void *x, void *y)
{
    const struct sc_sparse_descr descr = {.kind = SC_SPARSE_SYMMETRIC, .uplo = upper(uplo), .diag = 'N'};

    whole(type, base, 'N', &descr, n, values, start, index, x, y, false);
}

static void trsv(enum sc_type type, int base, const char *uplo, const char *trans, const char *diag, const int32_t *n,
                 const void *values, const int32_t *start, const int32_t *index, const void *x, void *y)
{
    const struct sc_sparse_descr descr = {.kind = SC_SPARSE_TRIANGULAR, .uplo = upper(uplo), .diag = upper(diag)};

    whole(type, base, upper(trans), &descr, n, values, start, index, x, y, true);
}

/* The spellings of C and of Fortran programs. */
#define SPELLINGS(name, fortran, capitals, ...)                                                                      \
    SC_MKL_FUNCTION(void, name, __VA_ARGS__);                                                                        \
    extern __typeof__(name) fortran __attribute__((alias(#name), visibility("default")));                            \
    extern __typeof__(name) capitals __attribute__((alias(#name), visibility("default")));                           \
    void name(__VA_ARGS__)

#define WITH_DESCR(l, L, T, t, suffix, I)                                                                            \
    SPELLINGS(mkl_##l##csrmv, mkl_##l##csrmv_, MKL_##L##CSRMV, const char *trans, const I *m, const I *k,            \
              const T *alpha, const char *matdescra, const T *values, const I *index, const I *start, const I *end,  \
              const T *x, const T *beta, T *y)                                                                       \
    {                                                                                                                \
        struct call c;                                                                                               \
                                                                                                                     \
        if (begin(&c, t, trans, number(m), number(k), matdescra, values, index, start, end))                         \
            product(&c, SC_MKL_SCALAR(*alpha), SC_MKL_SCALAR(*beta), &(struct dense){.x = x, .y = y});               \
    }                                                                                                                \
    SPELLINGS(mkl_##l##csrmm, mkl_##l##csrmm_, MKL_##L##CSRMM, const char *trans, const I *m, const I *n,            \
              const I *k, const T *alpha, const char *matdescra, const T *values, const I *index, const I *start,    \
              const I *end, const T *b, const I *ldb, const T *beta, T *to, const I *ldc)                            \
    {                                                                                                                \
        struct call c;                                                                                               \
                                                                                                                     \
        if (number(n) && begin(&c, t, trans, number(m), number(k), matdescra, values, index, start, end))            \
            product(&c, SC_MKL_SCALAR(*alpha), SC_MKL_SCALAR(*beta),                                                 \
                    &(struct dense){.columns = number(n), .ldx = number(ldb), .ldy = number(ldc), .x = b, .y = to}); \
    }                                                                                                                \
    SPELLINGS(mkl_##l##csrsv, mkl_##l##csrsv_, MKL_##L##CSRSV, const char *trans, const I *m, const T *alpha,        \
              const char *matdescra, const T *values, const I *index, const I *start, const I *end, const T *x,      \
              T *y)                                                                                                  \
    {                                                                                                                \
        struct call c;                                                                                               \
                                                                                                                     \
        if (begin(&c, t, trans, number(m), number(m), matdescra, values, index, start, end))                         \
            solve(&c, SC_MKL_SCALAR(*alpha), &(struct dense){.x = x, .y = y});                                       \
    }                                                                                                                \
    SPELLINGS(mkl_##l##csrsm, mkl_##l##csrsm_, MKL_##L##CSRSM, const char *trans, const I *m, const I *n,            \
              const T *alpha, const char *matdescra, const T *values, const I *index, const I *start, const I *end,  \
              const T *b, const I *ldb, T *to, const I *ldc)                                                         \
    {                                                                                                                \
        struct call c;                                                                                               \
                                                                                                                     \
        if (number(n) && begin(&c, t, trans, number(m), number(m), matdescra, values, index, start, end))            \
            solve(&c, SC_MKL_SCALAR(*alpha),                                                                         \
                  &(struct dense){.columns = number(n), .ldx = number(ldb), .ldy = number(ldc), .x = b, .y = to});   \
    }
SC_MKL_TYPES(WITH_DESCR, , int32_t)

#define OF_DIAGONALS(l, L, T, t, suffix, I)                                                                          \
    SPELLINGS(mkl_##l##diamv, mkl_##l##diamv_, MKL_##L##DIAMV, const char *trans, const I *m, const I *k,            \
              const T *alpha, const char *matdescra, const T *values, const I *ld, const I *offsets,                 \
              const I *count, const T *x, const T *beta, T *y)                                                       \
    {                                                                                                                \
        struct call c = {.trans = 0};                                                                                \
                                                                                                                     \
        if (begin_diagonals(&c, t, trans, number(m), number(k), matdescra, values, number(ld), offsets,              \
                            number(count)))                                                                          \
            product(&c, SC_MKL_SCALAR(*alpha), SC_MKL_SCALAR(*beta), &(struct dense){.x = x, .y = y});               \
    }
SC_MKL_TYPES(OF_DIAGONALS, , int32_t)

#define OF_BASE(base, prefix, PREFIX, l, L, T, t)                                                                    \
    SPELLINGS(prefix##l##csrgemv, prefix##l##csrgemv_, PREFIX##L##CSRGEMV, const char *trans, const int32_t *n,      \
              const T *values, const int32_t *start, const int32_t *index, const T *x, T *y)                         \
    {                                                                                                                \
        gemv(t, base, trans, n, values, start, index, x, y);                                                         \
    }                                                                                                                \
    SPELLINGS(prefix##l##csrsymv, prefix##l##csrsymv_, PREFIX##L##CSRSYMV, const char *uplo, const int32_t *n,       \
              const T *values, const int32_t *start, const int32_t *index, const T *x, T *y)                         \
    {                                                                                                                \
        symv(t, base, uplo, n, values, start, index, x, y);                                                          \
    }                                                                                                                \
    SPELLINGS(prefix##l##csrtrsv, prefix##l##csrtrsv_, PREFIX##L##CSRTRSV, const char *uplo, const char *trans,      \
              const char *diag, const int32_t *n, const T *values, const int32_t *start, const int32_t *index,       \
              const T *x, T *y)                                                                                      \
    {                                                                                                                \
        trsv(t, base, uplo, trans, diag, n, values, start, index, x, y);                                             \
    }
#define BOTH_BASES(l, L, T, t, suffix, I)                                                                            \
    OF_BASE(1, mkl_, MKL_, l, L, T, t)                                                                               \
    OF_BASE(0, mkl_cspblas_, MKL_CSPBLAS_, l, L, T, t)
SC_MKL_TYPES(BOTH_BASES, , int32_t)
/* SPDX-License-Identifier: BSD-2-Clause */
