/* sparse_cg written by hand for one GPU with cuSPARSE and cuBLAS: all data resident, the product preprocessed, the same
 * calls per iteration.
 *
 *     hand_sparse_cg [n [iterations [algorithm]]]     algorithm: 0 cuSPARSE's default, 1 or 2 CSR's */
#define DISABLE_CUSPARSE_DEPRECATED
#include <cusparse.h>
#include <math.h>

#include "bench/hand.h"
#include "examples/stencil.h"

#define HAND_CUSPARSE(call)                                                                          \
    do {                                                                                             \
        cusparseStatus_t status_ = (call);                                                           \
        if (status_ != CUSPARSE_STATUS_SUCCESS) {                                                    \
            fprintf(stderr, "%s: %s\n", #call, cusparseGetErrorName(status_));                       \
            exit(1);                                                                                 \
        }                                                                                            \
    } while (0)

static const double unit = 1, zero = 0;

struct product {
    cusparseHandle_t handle;
    cusparseSpMatDescr_t a;
    cusparseDnVecDescr_t p, q;
    cusparseSpMVAlg_t algorithm;
    void *buffer;
};

static void *on_device(size_t bytes, const void *from)
{
    void *to;

    HAND_CUDA(cudaMalloc(&to, bytes));
    HAND_CUDA(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
    return to;
}

static void prepare(struct product *m, const struct stencil *s, double *p, double *q, int algorithm)
{
    static const cusparseSpMVAlg_t algorithms[] = {CUSPARSE_SPMV_ALG_DEFAULT, CUSPARSE_SPMV_CSR_ALG1,
                                                   CUSPARSE_SPMV_CSR_ALG2};
    size_t entries = (size_t)s->entries, bytes;

    m->algorithm = algorithms[algorithm];
    HAND_CUSPARSE(cusparseCreate(&m->handle));
    HAND_CUSPARSE(cusparseCreateCsr(&m->a, s->n, s->n, s->entries,
                                    on_device(((size_t)s->n + 1) * sizeof(int), s->start),
                                    on_device(entries * sizeof(int), s->columns),
                                    on_device(entries * sizeof(double),
                                              s->values), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                    CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    HAND_CUSPARSE(cusparseCreateDnVec(&m->p, s->n, p, CUDA_R_64F));
    HAND_CUSPARSE(cusparseCreateDnVec(&m->q, s->n, q, CUDA_R_64F));
    HAND_CUSPARSE(cusparseSpMV_bufferSize(m->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &unit, m->a, m->p, &zero, m->q,
                                          CUDA_R_64F, m->algorithm, &bytes));
    HAND_CUDA(cudaMalloc(&m->buffer, bytes + 1));
    HAND_CUSPARSE(cusparseSpMV_preprocess(m->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &unit, m->a, m->p, &zero, m->q,
                                          CUDA_R_64F, m->algorithm, m->buffer));
}

int main(int argc, char **argv)
{
    long asked = argc > 1 ? atol(argv[1]) : 1000000;
    int iterations = argc > 2 ? atoi(argv[2]) : 200, algorithm = argc > 3 ? atoi(argv[3]) % 3 : 0;
    struct example_timer timer = {0};
    double *host, *x, *r, *p, *q, rr;
    struct product m;
    struct stencil s;
    cublasHandle_t blas;

    stencil_make(&s, asked);
    host = example_doubles((size_t)s.n);
    for (int i = 0; i < s.n; i++)
        host[i] = 1 + i % 3;
    HAND_CUBLAS(cublasCreate(&blas));
    r = hand_device((size_t)s.n, host);
    p = hand_device((size_t)s.n, host);
    x = hand_device((size_t)s.n, NULL);
    q = hand_device((size_t)s.n, NULL);
    HAND_CUDA(cudaMemset(x, 0, (size_t)s.n * sizeof *x));
    prepare(&m, &s, p, q, algorithm);
    HAND_CUBLAS(cublasDdot(blas, s.n, r, 1, r, 1, &rr));
    HAND_CUDA(cudaDeviceSynchronize());

    timer.start = example_now();
    for (int k = 0; k < iterations; k++) {
        double pq, alpha, minus, beta, old = rr;

        HAND_CUSPARSE(cusparseSpMV(m.handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &unit, m.a, m.p, &zero, m.q, CUDA_R_64F,
                                   m.algorithm, m.buffer));
        HAND_CUBLAS(cublasDdot(blas, s.n, p, 1, q, 1, &pq));
        alpha = rr / pq;
        minus = -alpha;
        HAND_CUBLAS(cublasDaxpy(blas, s.n, &alpha, p, 1, x, 1));
        HAND_CUBLAS(cublasDaxpy(blas, s.n, &minus, q, 1, r, 1));
        HAND_CUBLAS(cublasDdot(blas, s.n, r, 1, r, 1, &rr));
        beta = rr / old;
        HAND_CUBLAS(cublasDscal(blas, s.n, &beta, p, 1));
        HAND_CUBLAS(cublasDaxpy(blas, s.n, &unit, r, 1, p, 1));
        example_lap(&timer);
    }
    HAND_CUDA(cudaDeviceSynchronize());
    printf("hand_sparse_cg n=%d iterations=%d residual=%.3e seconds_per_iteration=%.9f\n", s.n, iterations, sqrt(rr),
           example_seconds(&timer));
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
