/* Products and solves of the Sparse BLAS. */
#include <string.h>

#include "sparse/usblas.h"

void sc_usblas_scalar(double out[2], enum sc_type type, const void *scalar)
{
    out[1] = 0;
    switch (type) {
    case SC_S: out[0] = (double)*(const float *)scalar; break;
    case SC_D: out[0] = *(const double *)scalar; break;
    case SC_C:
        out[0] = (double)((const float *)scalar)[0];
        out[1] = (double)((const float *)scalar)[1];
        break;
    default: memcpy(out, scalar, 2 * sizeof *out);
    }
}

/* The arguments of a call; columns is 0 for vectors. */
struct call {
    const char *name;
    enum sc_type type;
    int order, trans, columns;
    const void *alpha;
    int handle;
};

static const double one[2] = {1, 0};

/* Returns 'N', 'T' or 'C', or 0 after a line. */
static char read_trans(const struct call *c)
{
    if (c->trans < blas_no_trans || c->trans > blas_conj_trans) {
        sc_usblas_wrong(c->name, "no such operation on the matrix");
        return 0;
    }
    return "NTC"[c->trans - blas_no_trans];
}

static bool has_columns(const struct call *c)
{
    if ((c->order == blas_rowmajor || c->order == blas_colmajor) && c->columns >= 0)
        return true;
    sc_usblas_wrong(c->name, c->columns < 0 ? "a size is negative" : "no such order of a matrix's elements");
    return false;
}

static int mv(const struct call *c, const void *x, int incx, void *y, int incy)
{
    char trans = read_trans(c);
    struct sc_usblas *m = trans ? sc_usblas_take(c->handle, c->name, (int)c->type, SC_USBLAS_ENDED) : NULL;
    enum sc_status status;
    double alpha[2];

    if (!m)
        return -1;
    sc_usblas_scalar(alpha, c->type, c->alpha);
    status = sc_sparse_mv(m->matrix, trans, &m->descr, alpha, x, incx, one, y, incy);
    sc_usblas_give(m, SC_USBLAS_ENDED);
    return sc_usblas_result(status);
}

static int mm(const struct call *c, const void *b, int ldb, void *to, int ldc)
{
    char trans = has_columns(c) ? read_trans(c) : 0;
    struct sc_usblas *m = trans ? sc_usblas_take(c->handle, c->name, (int)c->type, SC_USBLAS_ENDED) : NULL;
    enum sc_status status;
    double alpha[2];

    if (!m)
        return -1;
    sc_usblas_scalar(alpha, c->type, c->alpha);
    status = sc_sparse_mm(m->matrix, trans, &m->descr, c->order == blas_rowmajor, c->columns, alpha, b, ldb, one, to,
                          ldc);
    sc_usblas_give(m, SC_USBLAS_ENDED);
    return sc_usblas_result(status);
}

/* Takes the matrix of a solve; NULL after a line. */
static struct sc_usblas *take_triangle(const struct call *c)
{
    struct sc_usblas *m = sc_usblas_take(c->handle, c->name, (int)c->type, SC_USBLAS_ENDED);

    if (m && m->descr.kind == SC_SPARSE_TRIANGULAR && !m->singular)
        return m;
    if (m) {
        sc_usblas_wrong(c->name, m->singular ? "an element of the diagonal is missing"
                                             : "the matrix is not triangular");
        sc_usblas_give(m, SC_USBLAS_ENDED);
    }
    return NULL;
}

static int sv(const struct call *c, void *x, int incx)
{
    char trans = read_trans(c);
    struct sc_usblas *m = trans ? take_triangle(c) : NULL;
    enum sc_status status;
    double alpha[2];

    if (!m)
        return -1;
    sc_usblas_scalar(alpha, c->type, c->alpha);
    status = sc_sparse_sv(m->matrix, trans, &m->descr, alpha, x, incx, x, incx);
    sc_usblas_give(m, SC_USBLAS_ENDED);
    return sc_usblas_result(status);
}

static int sm(const struct call *c, void *b, int ldb)
{
    char trans = has_columns(c) ? read_trans(c) : 0;
    struct sc_usblas *m = trans ? take_triangle(c) : NULL;
    enum sc_status status;
    double alpha[2];

    if (!m)
        return -1;
    sc_usblas_scalar(alpha, c->type, c->alpha);
    status = sc_sparse_sm(m->matrix, trans, &m->descr, c->order == blas_rowmajor, c->columns, alpha, b, ldb, b, ldb);
    sc_usblas_give(m, SC_USBLAS_ENDED);
    return sc_usblas_result(status);
}

#define CALLS(l, t, element, scalar, at)                                                                             \
    int BLAS_##l##usmv(enum blas_trans_type trans, scalar alpha, blas_sparse_matrix m, const element *x, int incx,   \
                       element *y, int incy)                                                                         \
    {                                                                                                                \
        return mv(&(struct call){"BLAS_" #l "usmv", t, 0, (int)trans, 0, at(alpha), m}, x, incx, y, incy);           \
    }                                                                                                                \
    SC_USBLAS_FORTRAN(l##usmv, const int *trans, const element *alpha, const int *m, const element *x,               \
                      const int *incx, element *y, const int *incy, int *status)                                     \
    {                                                                                                                \
        *status = mv(&(struct call){#l "usmv", t, 0, *trans, 0, alpha, *m}, x, *incx, y, *incy);                     \
    }                                                                                                                \
    int BLAS_##l##usmm(enum blas_order_type order, enum blas_trans_type trans, int columns, scalar alpha,            \
                       blas_sparse_matrix m, const element *b, int ldb, element *c, int ldc)                         \
    {                                                                                                                \
        return mm(&(struct call){"BLAS_" #l "usmm", t, (int)order, (int)trans, columns, at(alpha), m}, b, ldb, c,    \
                  ldc);                                                                                              \
    }                                                                                                                \
    SC_USBLAS_FORTRAN(l##usmm, const int *order, const int *trans, const int *columns, const element *alpha,         \
                      const int *m, const element *b, const int *ldb, element *c, const int *ldc, int *status)       \
    {                                                                                                                \
        *status = mm(&(struct call){#l "usmm", t, *order, *trans, *columns, alpha, *m}, b, *ldb, c, *ldc);           \
    }                                                                                                                \
    int BLAS_##l##ussv(enum blas_trans_type trans, scalar alpha, blas_sparse_matrix m, element *x, int incx)         \
    {                                                                                                                \
        return sv(&(struct call){"BLAS_" #l "ussv", t, 0, (int)trans, 0, at(alpha), m}, x, incx);                    \
    }                                                                                                                \
    SC_USBLAS_FORTRAN(l##ussv, const int *trans, const element *alpha, const int *m, element *x, const int *incx,    \
                      int *status)                                                                                   \
    {                                                                                                                \
        *status = sv(&(struct call){#l "ussv", t, 0, *trans, 0, alpha, *m}, x, *incx);                               \
    }                                                                                                                \
    int BLAS_##l##ussm(enum blas_order_type order, enum blas_trans_type trans, int columns, scalar alpha,            \
                       blas_sparse_matrix m, element *b, int ldb)                                                    \
    {                                                                                                                \
        return sm(&(struct call){"BLAS_" #l "ussm", t, (int)order, (int)trans, columns, at(alpha), m}, b, ldb);      \
    }                                                                                                                \
    SC_USBLAS_FORTRAN(l##ussm, const int *order, const int *trans, const int *columns, const element *alpha,         \
                      const int *m, element *b, const int *ldb, int *status)                                         \
    {                                                                                                                \
        *status = sm(&(struct call){#l "ussm", t, *order, *trans, *columns, alpha, *m}, b, *ldb);                    \
    }
SC_USBLAS_TYPES(CALLS)
/* SPDX-License-Identifier: BSD-2-Clause */
