/* Matrix Market files, by CHOLMOD's reader (SuiteSparse). */
#include <cholmod.h>

#include "examples/problem.h"

/* CHOLMOD has columns: those of the transpose are the rows.  The arrays become the caller's. */
static int take_rows(struct stencil *a, int *columns, cholmod_sparse *by_columns, cholmod_common *common)
{
    cholmod_sparse *rows = cholmod_transpose(by_columns, 1, common);

    if (!rows)
        return -1;
    a->n = (int)rows->ncol;
    *columns = (int)rows->nrow;
    a->start = rows->p;
    a->columns = rows->i;
    a->values = rows->x;
    a->entries = a->start[a->n];
    a->side = a->n;
    rows->p = rows->i = rows->x = NULL;
    cholmod_free_sparse(&rows, common);
    return 0;
}

static int read_sparse(struct stencil *a, int *columns, FILE *file, cholmod_common *common)
{
    int kind, status = -1;
    void *matrix = cholmod_read_matrix(file, 1, &kind, common);

    if (!matrix)
        return -1;
    if (kind == CHOLMOD_DENSE) {
        cholmod_dense *dense = matrix;

        cholmod_free_dense(&dense, common);
    } else {
        cholmod_sparse *sparse = matrix;

        if (sparse->xtype == CHOLMOD_REAL)
            status = take_rows(a, columns, sparse, common);
        cholmod_free_sparse(&sparse, common);
    }
    return status;
}

int market_read(struct stencil *a, int *columns, const char *path)
{
    FILE *file = fopen(path, "r");
    cholmod_common common;
    int status = -1;

    if (!file) {
        perror(path);
        return -1;
    }
    cholmod_start(&common);
    common.print = 0;         /* its own messages go to stdout */
    common.prefer_binary = 1; /* patterns are ones */
    status = read_sparse(a, columns, file, &common);
    cholmod_finish(&common);
    fclose(file);
    if (status)
        fprintf(stderr, "%s: no sparse real matrix in Matrix Market's format\n", path);
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
