/* SuiteSparse: a supernodal Cholesky factorisation of a Laplacian on a cube, and its solution. */
#include <stdio.h>

#include <suitesparse/cholmod.h>

int main(void)
{
    cholmod_common common;
    cholmod_start(&common);
    common.supernodal = CHOLMOD_SUPERNODAL;
    const int side = 22, n = side * side * side;
    cholmod_triplet *t = cholmod_allocate_triplet(n, n, 4 * n, 1, CHOLMOD_REAL, &common);
    int *row = t->i, *column = t->j;
    double *value = t->x;
    const int step[3] = {1, side, side * side};
    for (int node = 0; node < n; node++) {
        row[t->nnz] = column[t->nnz] = node;
        value[t->nnz++] = 6.1;
        for (int way = 0; way < 3; way++) {
            if (node / step[way] % side + 1 == side)
                continue;
            row[t->nnz] = node;
            column[t->nnz] = node + step[way];
            value[t->nnz++] = -1;
        }
    }
    cholmod_sparse *a = cholmod_triplet_to_sparse(t, 0, &common);
    cholmod_dense *b = cholmod_ones(n, 1, CHOLMOD_REAL, &common);
    cholmod_factor *factor = cholmod_analyze(a, &common);
    cholmod_factorize(a, factor, &common);
    cholmod_dense *x = cholmod_solve(CHOLMOD_A, factor, b, &common);
    double one[2] = {1, 0}, minus[2] = {-1, 0};
    cholmod_sdmult(a, 0, minus, one, x, b, &common);
    double residual = cholmod_norm_dense(b, 0, &common);
    printf("%s, residual %s\n", factor->is_super ? "supernodal" : "simplicial", residual < 1e-9 ? "ok" : "WRONG");
    cholmod_free_dense(&x, &common);
    cholmod_free_dense(&b, &common);
    cholmod_free_factor(&factor, &common);
    cholmod_free_sparse(&a, &common);
    cholmod_free_triplet(&t, &common);
    cholmod_finish(&common);
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
