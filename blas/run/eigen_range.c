/* A range of eigenvalues (?syevr, ?syevx, ?sygvx).  A device computes the eigenvectors of the range, or for ?sygvx all
 * of them, in a matrix of the library.  Those of the range are copied to the program's matrix.  The matrix of the
 * library never goes to the host. */
#include <math.h>
#include <string.h>

#include "blas/blas.h"
#include "blas/run/tasks.h"
#include "coherence/access.h"

static bool is_single(const struct sc_kernel *k) { return k->type == SC_S || k->type == SC_C; }

static double value_at(const struct sc_kernel *k, int64_t i)
{
    return is_single(k) ? (double)((const float *)k->small[0])[i] : ((const double *)k->small[0])[i];
}

/* Values up to a limit, of ascending values. */
static int64_t count_to(const struct sc_kernel *k, double limit)
{
    int64_t count = 0;

    while (count < k->n && value_at(k, count) <= limit)
        count++;
    return count;
}

/* The values of the range go to the front.  Returns the number of values before the range. */
static int64_t select_values(const struct sc_kernel *k)
{
    size_t bytes = is_single(k) ? sizeof(float) : sizeof(double);
    int64_t before = k->range == 'I' ? k->first - 1 : k->range == 'V' ? count_to(k, k->alpha[0]) : 0;
    char *values = k->small[0];

    k->pivots[0] = k->range == 'V' ? count_to(k, k->alpha[1]) - before : k->k;
    memmove(values, values + (size_t)before * bytes, (size_t)k->pivots[0] * bytes);
    return before;
}

static struct sc_kernel copy_of(const struct sc_kernel *k, int64_t cols, const void *from, int64_t from_ld, void *to,
                                int64_t to_ld)
{
    return (struct sc_kernel){.op = SC_OP_LACPY, .type = k->type, .m = k->n, .n = cols,
                              .a = (void *)(uintptr_t)from, .lda = from_ld, .b = to, .ldb = to_ld};
}

/* The eigenvectors of the range, to the program's matrix. */
static void give_vectors(const struct sc_kernel *k, const void *vectors, int64_t before, int64_t *info)
{
    bool generalized = k->op == SC_OP_SYGVX;
    const char *first = (const char *)vectors + (size_t)(before * k->n) * sc_type_bytes(k->type);
    struct sc_kernel copy = copy_of(k, k->pivots[0], first, k->n, generalized ? k->c : k->b,
                                    generalized ? k->ldc : k->ldb);

    if (k->pivots[0] > 0 && sc_blas_copy_matrix(&copy) != SC_OK)
        sc_blas_lapack_on_host(&copy, info);
}

enum sc_status sc_blas_eigen_range(const struct sc_kernel *k, enum sc_op all, int64_t *info)
{
    struct sc_kernel whole = *k, copy;
    bool vectors = k->job[0] == 'V', apart = vectors && !(k->op == SC_OP_SYEVR && k->range == 'A');
    void *space = apart ? sc_coherence_host_alloc((size_t)(k->n * k->n) * sc_type_bytes(k->type)) : NULL;
    enum sc_status status = apart && !space ? SC_ERR_MEMORY : SC_OK;
    int64_t before;

    k->pivots[0] = k->range == 'I' ? k->k : 0;
    whole.op = all;
    if (vectors) { /* A is unchanged while a refusal is possible */
        whole.a = apart ? space : k->b;
        whole.lda = apart ? k->n : k->ldb;
        copy = copy_of(k, k->n, k->a, k->lda, whole.a, whole.lda);
        if (status == SC_OK)
            status = sc_blas_copy_matrix(&copy);
    }
    if (status == SC_OK)
        status = sc_blas_lapack_run(&whole, !apart, info);
    if (status == SC_OK && *info == 0) {
        before = all == SC_OP_SYEVD && k->range != 'A' ? 0 : select_values(k);
        if (apart)
            give_vectors(k, space, before, info);
    }
    if (space)
        sc_coherence_host_free(space);
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
