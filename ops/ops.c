/* What follows from the table of operations. */
#include "ops/ops.h"

#include <string.h>

bool sc_op_takes(enum sc_op op, enum sc_type type, enum sc_letter name, char letter)
{
    const char *values = name == SC_SIDE ? "LR" : name == SC_UPLO ? "UL" : name == SC_DIAG ? "UN"
                       : name == SC_TRANSB ? "NTC" : sc_ops[op].trans;
    char real = (char)(letter - 'A' + 'a');

    return letter && (strchr(values, letter) || (!sc_type_is_complex(type) && strchr(values, real)));
}

static struct sc_kernel kernel_of_step(const struct sc_kernel *k, int64_t i)
{
    const int64_t bytes = (int64_t)sc_type_bytes(k->type);
    struct sc_kernel one = *k;

    one.batch = (struct sc_batch){.count = 0};
    one.n = k->n / k->batch.count;
    one.a = (char *)k->a + i * sc_batch_stride(k->batch.a, k->lda) * bytes;
    one.b = (char *)k->b + i * sc_batch_stride(k->batch.b, k->ldb) * bytes;
    one.c = (char *)k->c + i * sc_batch_stride(k->batch.c, k->ldc) * bytes;
    return one;
}

bool sc_batch_same_shape(const struct sc_batch_item *a, const struct sc_batch_item *b)
{
    return a->transa == b->transa && a->transb == b->transb && a->m == b->m && a->n == b->n && a->k == b->k &&
           a->lda == b->lda && a->ldb == b->ldb && a->ldc == b->ldc &&
           memcmp(a->alpha, b->alpha, sizeof a->alpha) == 0 && memcmp(a->beta, b->beta, sizeof a->beta) == 0;
}

static struct sc_kernel kernel_of_item(const struct sc_kernel *k, const struct sc_batch_item *item)
{
    const int64_t bytes = (int64_t)sc_type_bytes(k->type);

    return (struct sc_kernel){.op = k->op, .type = k->type, .transa = item->transa, .transb = item->transb,
                              .m = item->m, .n = item->n, .k = item->k, .lda = item->lda, .ldb = item->ldb,
                              .ldc = item->ldc, .alpha = {item->alpha[0], item->alpha[1]},
                              .beta = {item->beta[0], item->beta[1]}, .a = (char *)k->a + item->a * bytes,
                              .b = (char *)k->b + item->b * bytes, .c = (char *)k->c + item->c * bytes};
}

struct sc_kernel sc_kernel_of_batch(const struct sc_kernel *k, int64_t i)
{
    if (k->batch.items)
        return kernel_of_item(k, &k->batch.items->item[i]);
    return kernel_of_step(k, i);
}

static int views_of_items(const struct sc_kernel *k, struct sc_view view[SC_VIEWS_MAX])
{
    const void *const at[] = {k->a, k->b, k->c};

    for (int i = 0; i < 3; i++)
        view[i] = sc_op_vector(k, at[i], k->batch.items->extent[i], 1, i < 2 ? SC_READ : SC_RDWR);
    return 3;
}

/* An element between the parts of a result that belongs to no part stays as it is: the matrix is read, too. */
static int views_of_batch(const struct sc_kernel *k, struct sc_view view[SC_VIEWS_MAX])
{
    const struct sc_batch_step step[] = {k->batch.a, k->batch.b, k->batch.c};
    const struct sc_kernel one = sc_kernel_of_batch(k, 0);
    int count = sc_ops[k->op].views(&one, view);

    if (view[2].cols != step[2].col || step[2].row)
        view[2].access = SC_RDWR;
    for (int i = 0; i < count; i++) {
        view[i].rows += (k->batch.count - 1) * step[i].row;
        view[i].cols += (k->batch.count - 1) * step[i].col;
        view[i].whole = !step[i].row && !step[i].col;
        view[i].split = SC_SPLIT_COLS;
    }
    return count;
}

/* Of the operand that a sparse A is multiplied with, only the rows that A has columns for are looked at. */
int sc_kernel_views(const struct sc_kernel *k, struct sc_view view[SC_VIEWS_MAX])
{
    int count = k->batch.items   ? views_of_items(k, view)
                : k->batch.count ? views_of_batch(k, view)
                                 : sc_ops[k->op].views(k, view);

    if (sc_op_is_sparse(k->op) && k->transa == 'N') {
        int64_t step = view[1].vector || k->transb == 'T' ? k->ldb : 1;

        view[1].ptr = (const char *)k->b + k->csr.first * step * (int64_t)sc_type_bytes(k->type);
    }
    return count;
}

bool sc_kernel_is_work(const struct sc_kernel *k)
{
    const struct sc_op_info *o = &sc_ops[k->op];
    struct sc_kernel rows;

    if (!sc_op_has_type(k->op, k->type) || (k->conj && !sc_kernel_rows(k, &rows)))
        return false;
    if (k->n <= 0 || (o->m && k->m <= 0) || (o->k && !o->banded && k->k <= 0))
        return false;
    if ((o->scales && k->alpha[0] == 0 && k->alpha[1] == 0) || (o->apart && k->a == k->b))
        return false;
    return (!o->transa || sc_op_takes(k->op, k->type, SC_TRANSA, k->transa)) &&
           (!o->transb || sc_op_takes(k->op, k->type, SC_TRANSB, k->transb)) &&
           (!o->side || sc_op_takes(k->op, k->type, SC_SIDE, k->side)) &&
           (!o->uplo || sc_op_takes(k->op, k->type, SC_UPLO, k->uplo)) &&
           (!o->diag || sc_op_takes(k->op, k->type, SC_DIAG, k->diag));
}

double sc_kernel_flops(const struct sc_kernel *k)
{
    double real = sc_type_is_complex(k->type) ? 4 : 1; /* a complex multiply-add is four real ones */
    double m = (double)(sc_op_is_sparse(k->op) ? k->csr.nonzeros : k->m);
    double off = (double)(sc_op_is_banded(k->op) && sc_ops[k->op].m ? k->kl + k->ku : k->k);

    return sc_op_work(k->op, k->side, m, (double)k->n, off) * sc_op_rate[k->op] * real;
}

double sc_kernel_bytes(const struct sc_kernel *k)
{
    struct sc_view view[SC_VIEWS_MAX];
    int count = sc_kernel_views(k, view);
    double bytes = 0;

    for (int i = 0; i < count; i++)
        if (view[i].rows > 0 && view[i].cols > 0)
            bytes += (double)sc_view_bytes(&view[i]) * (view[i].half ? 0.5 : 1) * (view[i].access == SC_RDWR ? 2 : 1);
    if (sc_op_is_sparse(k->op))
        bytes += (double)(k->csr.nonzeros + k->m) * k->csr.index_bytes;
    return bytes;
}

struct sc_view sc_view_flat(const struct sc_view *view)
{
    struct sc_view flat = *view;

    if (view->vector) {
        flat.vector = false;
        flat.rows = 1;
        flat.cols = view->rows;
        flat.ld = sc_step(view->ld);
    }
    return flat;
}

uint64_t sc_view_span(const struct sc_view *view)
{
    const struct sc_view v = sc_view_flat(view);

    if (v.rows <= 0 || v.cols <= 0)
        return 0;
    return ((uint64_t)(v.cols - 1) * (uint64_t)v.ld + (uint64_t)v.rows) * sc_type_bytes(v.type);
}

bool sc_view_fits(const struct sc_view *view)
{
    const int64_t most = (int64_t)1 << 56; /* of addresses of programs, with five levels of page tables */
    const struct sc_view v = sc_view_flat(view);
    __int128 bytes = ((__int128)v.ld * v.cols + v.rows) * (int64_t)sc_type_bytes(v.type);

    if (v.rows < 1 || v.cols < 1)
        return true;
    return v.ld >= 0 && (uintptr_t)v.ptr < (uint64_t)most && bytes + (int64_t)(uintptr_t)v.ptr < most;
}

/* The vectors become rows x^T and y^T.  y := conj(A) x is y^T := x^T A^H, with A^H = A for Hermitian A.  x :=
 * conj(A)^-1 x is x^T := x^T A^-H.  conj(x) y^T is the product of (x^T)^H and y^T. */
bool sc_kernel_rows(const struct sc_kernel *k, struct sc_kernel *rows)
{
    bool good = sc_type_is_complex(k->type);

    *rows = *k;
    rows->conj = false;
    rows->transa = rows->transb = 'N';
    rows->m = 1;
    rows->side = 'R';
    switch (k->op) {
    case SC_OP_GEMV: /* (x, A, y) in the places of A, B, C */
        rows->op = SC_OP_GEMM;
        rows->transb = 'C';
        rows->n = k->m, rows->k = k->n;
        rows->a = k->b, rows->lda = k->ldb;
        rows->b = k->a, rows->ldb = k->lda;
        return good && k->transa == 'N' && k->ldb > 0 && k->ldc > 0;
    case SC_OP_HEMV:
        rows->op = SC_OP_HEMM;
        return good && k->ldb > 0 && k->ldc > 0;
    case SC_OP_TRMV:
    case SC_OP_TRSV:
        rows->op = k->op == SC_OP_TRMV ? SC_OP_TRMM : SC_OP_TRSM;
        rows->transa = 'C';
        rows->alpha[0] = 1, rows->alpha[1] = 0;
        return good && k->transa == 'N' && k->ldb > 0;
    case SC_OP_GERC:
        rows->op = SC_OP_GEMM;
        rows->transa = 'C';
        rows->m = k->m, rows->k = 1;
        rows->beta[0] = 1, rows->beta[1] = 0;
        return good && k->lda > 0 && k->ldb > 0;
    case SC_OP_HER:
        rows->op = SC_OP_HERK;
        rows->transa = 'C';
        rows->k = 1;
        rows->beta[0] = 1, rows->beta[1] = 0;
        return good && k->lda > 0;
    case SC_OP_HER2:
        rows->op = SC_OP_HER2K;
        rows->transa = 'C';
        rows->k = 1;
        rows->beta[0] = 1, rows->beta[1] = 0;
        return good && k->lda > 0 && k->ldb > 0;
    default: return false;
    }
}
/* SPDX-License-Identifier: BSD-2-Clause */
