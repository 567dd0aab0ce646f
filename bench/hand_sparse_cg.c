/* SPDX-License-Identifier: BSD-2-Clause */
/* sparse_cg written by hand for GPUs with cuSPARSE and cuBLAS: all data resident, the product preprocessed, the same
 * calls per iteration.
 *
 *     hand_sparse_cg [-g GPUS] [n [iterations [algorithm]]]     algorithm: 0 cuSPARSE's default, 1 or 2 CSR's
 *
 * -g  the rows are divided among so many GPUs (default: one). Each sends the border of p to its neighbours. */
#define DISABLE_CUSPARSE_DEPRECATED
#include <cusparse.h>
#include <math.h>
#include <unistd.h>

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

enum { MOST = 8 };

static const double unit = 1, zero = 0;

/* Rows [first, first + rows) on a GPU. p has all rows of the matrix; of those outside the part only the border is
 * valid. The sum of a dot product is in pinned memory of the host. */
struct part {
    cublasHandle_t blas;
    cusparseHandle_t sparse;
    cusparseSpMatDescr_t a;
    cusparseDnVecDescr_t all_p, own_q;
    cudaEvent_t sent;
    void *buffer;
    int first, rows;
    double *x, *r, *p, *q, *sum;
};

static struct part parts[MOST];
static int gpus = 1;
static cusparseSpMVAlg_t algorithm;

static void *on_device(size_t bytes, const void *from)
{
    void *to;

    HAND_CUDA(cudaMalloc(&to, bytes));
    HAND_CUDA(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
    return to;
}

static void multiply(const struct part *m)
{
    HAND_CUSPARSE(cusparseSpMV(m->sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &unit, m->a, m->all_p, &zero, m->own_q,
                               CUDA_R_64F, algorithm, m->buffer));
}

/* The part's rows of the matrix, on the GPU that is current. */
static void upload(struct part *m, const struct stencil *s)
{
    int begin = s->start[m->first], entries = s->start[m->first + m->rows] - begin;
    int *start = stencil_alloc(((size_t)m->rows + 1) * sizeof *start);
    size_t bytes;

    for (int i = 0; i <= m->rows; i++)
        start[i] = s->start[m->first + i] - begin;
    HAND_CUSPARSE(cusparseCreate(&m->sparse));
    HAND_CUSPARSE(cusparseCreateCsr(&m->a, m->rows, s->n, entries,
                                    on_device(((size_t)m->rows + 1) * sizeof *start, start),
                                    on_device((size_t)entries * sizeof(int), s->columns + begin),
                                    on_device((size_t)entries * sizeof(double), s->values + begin),
                                    CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    free(start);
    HAND_CUSPARSE(cusparseCreateDnVec(&m->all_p, s->n, m->p, CUDA_R_64F));
    HAND_CUSPARSE(cusparseCreateDnVec(&m->own_q, m->rows, m->q, CUDA_R_64F));
    HAND_CUSPARSE(cusparseSpMV_bufferSize(m->sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &unit, m->a, m->all_p, &zero,
                                          m->own_q, CUDA_R_64F, algorithm, &bytes));
    HAND_CUDA(cudaMalloc(&m->buffer, bytes + 1));
    HAND_CUSPARSE(cusparseSpMV_preprocess(m->sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &unit, m->a, m->all_p, &zero,
                                          m->own_q, CUDA_R_64F, algorithm, m->buffer));
}

static void begin_part(int g, const struct stencil *s, const double *right_side)
{
    struct part *m = &parts[g];
    void *sum;

    HAND_CUDA(cudaSetDevice(g));
    for (int other = g - 1; other <= g + 1; other += 2)
        if (other >= 0 && other < gpus)
            HAND_CUDA(cudaDeviceEnablePeerAccess(other, 0));
    m->first = (int)((long)s->n * g / gpus);
    m->rows = (int)((long)s->n * (g + 1) / gpus) - m->first;
    m->p = hand_device((size_t)s->n, right_side);
    m->r = hand_device((size_t)m->rows, right_side + m->first);
    m->x = hand_device((size_t)m->rows, NULL);
    m->q = hand_device((size_t)m->rows, NULL);
    HAND_CUDA(cudaMemset(m->x, 0, (size_t)m->rows * sizeof *m->x));
    HAND_CUDA(cudaHostAlloc(&sum, sizeof *m->sum, cudaHostAllocPortable));
    m->sum = sum;
    HAND_CUDA(cudaEventCreateWithFlags(&m->sent, cudaEventDisableTiming));
    HAND_CUBLAS(cublasCreate(&m->blas));
    upload(m, s);
    HAND_CUDA(cudaDeviceSynchronize());
}

/* Enqueues the part's share of a dot product. */
static void dot(const struct part *m, const double *u, const double *v)
{
    HAND_CUBLAS(cublasSetPointerMode(m->blas, CUBLAS_POINTER_MODE_DEVICE));
    HAND_CUBLAS(cublasDdot(m->blas, m->rows, u, 1, v, 1, m->sum));
    HAND_CUBLAS(cublasSetPointerMode(m->blas, CUBLAS_POINTER_MODE_HOST));
}

/* Waits for all GPUs. The sum of their shares. */
static double gathered(void)
{
    double sum = 0;

    for (int g = 0; g < gpus; g++) {
        HAND_CUDA(cudaSetDevice(g));
        HAND_CUDA(cudaStreamSynchronize(NULL));
        sum += *parts[g].sum;
    }
    return sum;
}

/* Enqueues copies of a part's border of p, of `width` elements, to the neighbours. */
static void send_border(int g, int width)
{
    const struct part *m = &parts[g];
    size_t bytes = (size_t)width * sizeof *m->p;
    int low = m->first, high = m->first + m->rows - width;

    if (g > 0)
        HAND_CUDA(cudaMemcpyAsync(parts[g - 1].p + low, m->p + low, bytes, cudaMemcpyDeviceToDevice, NULL));
    if (g + 1 < gpus)
        HAND_CUDA(cudaMemcpyAsync(parts[g + 1].p + high, m->p + high, bytes, cudaMemcpyDeviceToDevice, NULL));
    HAND_CUDA(cudaEventRecord(m->sent, NULL));
}

static void await_borders(int g)
{
    for (int other = g - 1; other <= g + 1; other += 2)
        if (other >= 0 && other < gpus)
            HAND_CUDA(cudaStreamWaitEvent(NULL, parts[other].sent, 0));
}

/* One iteration. rr: the square of the norm of the residual, replaced. */
static void iterate(int border, double *rr)
{
    double alpha, minus, beta, old = *rr;

    for (int g = 0; g < gpus; g++) {
        HAND_CUDA(cudaSetDevice(g));
        await_borders(g);
        multiply(&parts[g]);
        dot(&parts[g], parts[g].p + parts[g].first, parts[g].q);
    }
    alpha = old / gathered();
    minus = -alpha;
    for (int g = 0; g < gpus; g++) {
        const struct part *m = &parts[g];

        HAND_CUDA(cudaSetDevice(g));
        HAND_CUBLAS(cublasDaxpy(m->blas, m->rows, &alpha, m->p + m->first, 1, m->x, 1));
        HAND_CUBLAS(cublasDaxpy(m->blas, m->rows, &minus, m->q, 1, m->r, 1));
        dot(m, m->r, m->r);
    }
    *rr = gathered();
    beta = *rr / old;
    for (int g = 0; g < gpus; g++) {
        const struct part *m = &parts[g];

        HAND_CUDA(cudaSetDevice(g));
        HAND_CUBLAS(cublasDscal(m->blas, m->rows, &beta, m->p + m->first, 1));
        HAND_CUBLAS(cublasDaxpy(m->blas, m->rows, &unit, m->r, 1, m->p + m->first, 1));
        send_border(g, border);
    }
}

int main(int argc, char **argv)
{
    static const cusparseSpMVAlg_t algorithms[] = {CUSPARSE_SPMV_ALG_DEFAULT, CUSPARSE_SPMV_CSR_ALG1,
                                                   CUSPARSE_SPMV_CSR_ALG2};
    struct example_timer timer = {0};
    struct stencil s;
    double *right_side, rr = 0;
    int option, iterations;

    while ((option = getopt(argc, argv, "g:")) != -1)
        gpus = option == 'g' ? atoi(optarg) : 0;
    if (gpus < 1 || gpus > MOST) {
        fprintf(stderr, "usage: hand_sparse_cg [-g GPUS] [n [iterations [algorithm]]], with 1 to %d GPUs\n", MOST);
        return 2;
    }
    stencil_make(&s, optind < argc ? atol(argv[optind]) : 1000000);
    iterations = optind + 1 < argc ? atoi(argv[optind + 1]) : 200;
    algorithm = algorithms[optind + 2 < argc ? atoi(argv[optind + 2]) % 3 : 0];
    right_side = example_doubles((size_t)s.n);
    for (int i = 0; i < s.n; i++) {
        right_side[i] = 1 + i % 3;
        rr += right_side[i] * right_side[i];
    }
    for (int g = 0; g < gpus; g++)
        begin_part(g, &s, right_side);

    timer.start = example_now();
    for (int k = 0; k < iterations; k++) {
        iterate(s.side * s.side, &rr);
        example_lap(&timer);
    }
    (void)gathered();
    printf("hand_sparse_cg gpus=%d n=%d iterations=%d residual=%.3e seconds_per_iteration=%.9f\n", gpus, s.n,
           iterations, sqrt(rr), example_seconds(&timer));
    return 0;
}
