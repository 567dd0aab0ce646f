/* A chain of dgemm on memory that nothing has used before: a plain BLAS program.
 *
 *     first_chain [n [links [rounds]]] */
#include "bench/first_chain.h"

static void product(int n, const double *a, const double *b, double *c)
{
    cblas_dgemm(EXAMPLE_COL_MAJOR, EXAMPLE_NO_TRANS, EXAMPLE_NO_TRANS, n, n, n, 1, a, n, b, n, 0, c, n);
}

/* A product that is large enough to open the devices, and is not measured. */
static void open_devices(void)
{
    struct chain chain = chain_new(6144, 1);

    product(chain.n, chain.factor[0], chain.factor[1], chain.result[0]);
    columns_by_threads(chain.result[0], chain.n, 0, CHAIN_THREADS, chain_read);
}

static void run(const struct chain *chain)
{
    for (int i = 0; i < chain->links; i++)
        product(chain->n, i ? chain->result[i - 1] : chain->factor[0], chain->factor[i + 1], chain->result[i]);
}

int main(int argc, char **argv)
{
    return chain_main(argc, argv, "first_chain", open_devices, run);
}
/* SPDX-License-Identifier: BSD-2-Clause */
