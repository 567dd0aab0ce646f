/* The chain of a triangular matrix: the longest sequence of rows of which each needs the result of the row before (rule
 * 13).  A device computes the rows of a chain one after another. */
#include <stdlib.h>

#include "sparse/sparse_int.h"

static int side_of(const struct sc_sparse_use *use) { return use->descr.uplo == 'U'; }

/* Length of the longest chain, or 0 without memory.  The CSR has the entries of one triangle. */
static int64_t length(const struct sc_sparse_csr *a, bool upper)
{
    int64_t *depth = malloc((size_t)a->rows * sizeof *depth), longest = 0;

    for (int64_t i = 0; depth && i < a->rows; i++) {
        int64_t row = upper ? a->rows - 1 - i : i, before = 0;

        for (int64_t e = sc_sparse_first(a, row); e < sc_sparse_first(a, row + 1); e++) {
            int64_t col = sc_sparse_at(a->index, a->index_bytes, e) - a->base;

            if (col != row && depth[col] > before)
                before = depth[col];
        }
        depth[row] = before + 1;
        longest = depth[row] > longest ? depth[row] : longest;
    }
    free(depth);
    return longest;
}

void sc_sparse_chain_of(struct sc_sparse_matrix *m, const struct sc_sparse_use *use, const struct sc_sparse_csr *csr)
{
    if (use->solve && !m->chain[side_of(use)])
        m->chain[side_of(use)] = length(csr, (use->descr.uplo == 'U') == (use->trans == 'N'));
}

void sc_sparse_chain_forget(struct sc_sparse_matrix *m)
{
    for (int i = 0; i < 2; i++)
        m->chain[i] = 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
