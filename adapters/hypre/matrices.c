/* Products of hypre's CSR matrices with vectors.  A parallel matrix is two blocks in CSR form.  hypre computes a
 * declined product. */
#include <math.h>
#include <string.h>

#include "adapters/borders.h"
#include "adapters/hypre/adapter.h"

/* Without a large vector, or many entries, both vectors are at home.  The columns of other ranks have few entries
 * beside a large vector: their product on the host would fetch the vector.  hypre computes with temporary vectors that
 * are longer, too. */
static bool is_suited(const hypre_CSRMatrix *a, HYPRE_Int inputs, HYPRE_Int outputs, const hypre_Vector *x,
                      const hypre_Vector *y)
{
    return a->num_nonzeros >= SC_HYPRE_LEAST_ENTRIES && a->data && a->j && !a->pattern_only &&
           (sc_hypre_is_large(inputs) || sc_hypre_is_large(outputs)) && x->num_vectors == 1 &&
           y->num_vectors == 1 && x->size >= inputs && y->size >= outputs && x->data != y->data && sc_hypre_is_ready();
}

/* What hypre's products return. */
static HYPRE_Int sizes_fit(HYPRE_Int inputs, HYPRE_Int outputs, const hypre_Vector *x, const hypre_Vector *y)
{
    return (x->size != inputs ? 1 : 0) + (y->size != outputs ? 2 : 0);
}

/* --- few entries beside a large vector ---------------------------------------------------------------------------- */

/* libsemcache does not watch arrays as small as those of A, and hypre would touch all of the vector. */
static bool has_few(const hypre_CSRMatrix *a, const hypre_Vector *x, const hypre_Vector *y)
{
    return a->num_nonzeros > 0 && a->num_nonzeros < SC_HYPRE_LEAST_ENTRIES && a->data && a->j && !a->pattern_only &&
           x->data != y->data && x->num_vectors == 1 && y->num_vectors == 1 && sc_hypre_is_ready();
}

/* Rows with entries.  Their elements of a vector come home. */
static HYPRE_Int get_rows(const hypre_CSRMatrix *a, const double *vector, enum semcache_mode mode, HYPRE_Int *rows)
{
    HYPRE_Int count = 0;

    for (HYPRE_Int i = 0; i < a->num_rows; i++)
        if (a->i[i] < a->i[i + 1])
            rows[count++] = i;
    sc_adapter_get(vector, sizeof *vector, rows, sizeof *rows, count, mode);
    return count;
}

/* y := y + alpha A x, with hypre's bits for alpha of 1 or -1.  Otherwise hypre scales all of y by 1 / alpha and by
 * alpha. */
static bool add_few(const hypre_CSRMatrix *a, double alpha, const hypre_Vector *x, double beta, const hypre_Vector *b,
                    hypre_Vector *y)
{
    HYPRE_Int rows[SC_HYPRE_LEAST_ENTRIES], count;

    if (alpha == 0 || beta != 1 || b->data != y->data || y->size < SC_HYPRE_LEAST_ELEMENTS || y->size != a->num_rows ||
        x->size != a->num_cols || !has_few(a, x, y) || (fabs(alpha) != 1 && semcache_device_count() < 1))
        return false;
    count = get_rows(a, y->data, SEMCACHE_READWRITE, rows);
    for (HYPRE_Int k = 0; k < count; k++) {
        double sum = 0;

        for (HYPRE_Int e = a->i[rows[k]]; e < a->i[rows[k] + 1]; e++)
            sum += a->data[e] * x->data[a->j[e]];
        y->data[rows[k]] += alpha * sum;
    }
    return true;
}

/* y := A^T x for a small y, with hypre's bits */
static bool take_few(const hypre_CSRMatrix *a, double alpha, const hypre_Vector *x, double beta, hypre_Vector *y)
{
    HYPRE_Int rows[SC_HYPRE_LEAST_ENTRIES], count;

    if (alpha != 1 || beta != 0 || x->size < SC_HYPRE_LEAST_ELEMENTS || x->size != a->num_rows ||
        y->size != a->num_cols || y->size >= SC_HYPRE_LEAST_ELEMENTS || !has_few(a, x, y))
        return false;
    count = get_rows(a, x->data, SEMCACHE_READ, rows);
    memset(y->data, 0, (size_t)y->size * sizeof *y->data);
    for (HYPRE_Int k = 0; k < count; k++)
        for (HYPRE_Int e = a->i[rows[k]]; e < a->i[rows[k] + 1]; e++)
            y->data[a->j[e]] += a->data[e] * x->data[rows[k]];
    return true;
}

/* --- products ----------------------------------------------------------------------------------------------------- */

/* Matrices whose last product ran on the devices: hints by address, which may be the address of a matrix that has
 * ended. */
static const hypre_CSRMatrix *taken[64]; /* atomic */

static const hypre_CSRMatrix **hint_of(const hypre_CSRMatrix *a)
{
    return &taken[(uintptr_t)a * UINT64_C(0x9e3779b97f4a7c15) >> 58];
}

bool sc_hypre_is_taken(const hypre_CSRMatrix *a) { return __atomic_load_n(hint_of(a), __ATOMIC_RELAXED) == a; }

/* Returns done. */
static bool note_taken(const hypre_CSRMatrix *a, bool done)
{
    if (done != sc_hypre_is_taken(a))
        __atomic_store_n(hint_of(a), done ? a : NULL, __ATOMIC_RELAXED);
    return done;
}

/* y := alpha op(A) x + beta y */
static bool offer(const hypre_CSRMatrix *a, char op, double alpha, const hypre_Vector *x, double beta, hypre_Vector *y)
{
    const struct semcache_sparse_arrays arrays = {
        .size = sizeof arrays, .format = SEMCACHE_SPARSE_CSR, .type = SEMCACHE_FLOAT64,
        .index_bytes = sizeof(HYPRE_Int), .rows = a->num_rows, .cols = a->num_cols, .start = a->i, .index = a->j,
        .values = a->data};
    const double scale[2] = {alpha, 0}, old[2] = {beta, 0};

    return semcache_try_sparse(&arrays, op, 1, scale, x->data, 1, old, y->data, 1);
}

/* y := alpha A x + beta b.  With b apart from y, y is a copy of b first; a declined product overwrites the copy. */
SC_ADAPTER_NAME HYPRE_Int hypre_CSRMatrixMatvecOutOfPlace(HYPRE_Complex alpha, hypre_CSRMatrix *a, hypre_Vector *x,
                                                          HYPRE_Complex beta, hypre_Vector *b, hypre_Vector *y,
                                                          HYPRE_Int offset)
{
    static HYPRE_Int (*own)(HYPRE_Complex, hypre_CSRMatrix *, hypre_Vector *, HYPRE_Complex, hypre_Vector *,
                            hypre_Vector *, HYPRE_Int);

    if (!offset && alpha != 0 && is_suited(a, a->num_cols, a->num_rows, x, y) && b->size == y->size &&
        (beta == 0 || b->data == y->data || sc_hypre_copy(a->num_rows, b->data, y->data)) &&
        note_taken(a, offer(a, 'N', alpha, x, beta, y)))
        return sizes_fit(a->num_cols, a->num_rows, x, y);
    if (!offset && add_few(a, alpha, x, beta, b, y))
        return sizes_fit(a->num_cols, a->num_rows, x, y);
    return SC_ADAPTER_NEXT(own, "hypre_CSRMatrixMatvecOutOfPlace")(alpha, a, x, beta, b, y, offset);
}

SC_ADAPTER_NAME HYPRE_Int hypre_CSRMatrixMatvecT(HYPRE_Complex alpha, hypre_CSRMatrix *a, hypre_Vector *x,
                                                 HYPRE_Complex beta, hypre_Vector *y)
{
    static HYPRE_Int (*own)(HYPRE_Complex, hypre_CSRMatrix *, hypre_Vector *, HYPRE_Complex, hypre_Vector *);

    if (alpha != 0 && is_suited(a, a->num_rows, a->num_cols, x, y) && offer(a, 'T', alpha, x, beta, y))
        return sizes_fit(a->num_rows, a->num_cols, x, y);
    if (take_few(a, alpha, x, beta, y))
        return sizes_fit(a->num_rows, a->num_cols, x, y);
    return SC_ADAPTER_NEXT(own, "hypre_CSRMatrixMatvecT")(alpha, a, x, beta, y);
}

/* --- several ranks ------------------------------------------------------------------------------------------------ */

/* Fetches, in one batch, the elements of a vector that remote ranks read or add to. */
static void get_borders(const hypre_ParCSRCommPkg *plan, const hypre_Vector *local, enum semcache_mode mode)
{
    if (plan && local->num_vectors == 1 && sc_hypre_is_large(local->size) && sc_hypre_is_ready())
        for (HYPRE_Int i = 0; i < plan->num_sends; i++)
            sc_adapter_get(local->data, sizeof(double), plan->send_map_elmts + plan->send_map_starts[i],
                           sizeof(HYPRE_Int), plan->send_map_starts[i + 1] - plan->send_map_starts[i], mode);
}

SC_ADAPTER_NAME HYPRE_Int hypre_ParCSRMatrixMatvecOutOfPlace(HYPRE_Complex alpha, hypre_ParCSRMatrix *a,
                                                             hypre_ParVector *x, HYPRE_Complex beta, hypre_ParVector *b,
                                                             hypre_ParVector *y)
{
    static __typeof__(hypre_ParCSRMatrixMatvecOutOfPlace) *own;
    const bool before = sc_hypre_begin(a);
    HYPRE_Int errors;

    get_borders(hypre_ParCSRMatrixCommPkg(a), hypre_ParVectorLocalVector(x), SEMCACHE_READ);
    errors = SC_ADAPTER_NEXT(own, "hypre_ParCSRMatrixMatvecOutOfPlace")(alpha, a, x, beta, b, y);
    sc_hypre_end(before);
    return errors;
}

/* The result of the thread's transposed product.  hypre ends the exchange between the local product and the addition of
 * what other ranks have sent. */
static _Thread_local hypre_ParVector *transposed;

SC_ADAPTER_NAME HYPRE_Int hypre_ParCSRMatrixMatvecT(HYPRE_Complex alpha, hypre_ParCSRMatrix *a, hypre_ParVector *x,
                                                    HYPRE_Complex beta, hypre_ParVector *y)
{
    static __typeof__(hypre_ParCSRMatrixMatvecT) *own;
    const bool before = sc_hypre_begin(a);
    HYPRE_Int errors;

    transposed = y;
    errors = SC_ADAPTER_NEXT(own, "hypre_ParCSRMatrixMatvecT")(alpha, a, x, beta, y);
    transposed = NULL;
    sc_hypre_end(before);
    return errors;
}

SC_ADAPTER_NAME HYPRE_Int hypre_ParCSRCommHandleDestroy(hypre_ParCSRCommHandle *handle)
{
    static __typeof__(hypre_ParCSRCommHandleDestroy) *own;

    if (handle && transposed)
        get_borders(handle->comm_pkg, hypre_ParVectorLocalVector(transposed), SEMCACHE_READWRITE);
    return SC_ADAPTER_NEXT(own, "hypre_ParCSRCommHandleDestroy")(handle);
}
/* SPDX-License-Identifier: BSD-2-Clause */
