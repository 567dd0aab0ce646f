/* Extent, traffic and arithmetic of a kernel record, for address checks and time models. */
#include <stdlib.h>

#include "device/device_int.h"

static struct sc_kernel_operand vector(const void *ptr, int64_t n, int64_t inc, enum sc_access access)
{
    return (struct sc_kernel_operand){ptr, 1, n, llabs(inc), 1, access};
}

static struct sc_kernel_operand matrix(const void *ptr, int64_t rows, int64_t cols, int64_t ld, double used,
                                       enum sc_access access)
{
    return (struct sc_kernel_operand){ptr, rows, cols, ld, used, access};
}

/* Access of the output of an operation with beta: if beta is 0, the output is not read. */
static enum sc_access output(const struct sc_kernel *k) { return k->beta[0] || k->beta[1] ? SC_RDWR : SC_WRITE; }

static int level1_operands(const struct sc_kernel *k, struct sc_kernel_operand out[3])
{
    static const enum sc_access access[][2] = {
        [SC_OP_AXPY] = {SC_READ, SC_RDWR}, [SC_OP_SCAL] = {SC_RDWR, 0},       [SC_OP_COPY] = {SC_READ, SC_WRITE},
        [SC_OP_SWAP] = {SC_RDWR, SC_RDWR}, [SC_OP_DOT] = {SC_READ, SC_READ},  [SC_OP_DOTC] = {SC_READ, SC_READ},
        [SC_OP_NRM2] = {SC_READ, 0},       [SC_OP_ASUM] = {SC_READ, 0},       [SC_OP_IAMAX] = {SC_READ, 0},
        [SC_OP_AXPBY] = {SC_READ, SC_RDWR}, [SC_OP_ROT] = {SC_RDWR, SC_RDWR}, [SC_OP_ROTM] = {SC_RDWR, SC_RDWR},
        [SC_OP_IAMIN] = {SC_READ, 0},      [SC_OP_DSDOT] = {SC_READ, SC_READ},
    };

    out[0] = vector(k->a, k->n, k->lda, access[k->op][0]);
    if (!access[k->op][1])
        return 1;
    out[1] = vector(k->b, k->n, k->ldb, k->op == SC_OP_AXPBY ? output(k) : access[k->op][1]);
    return 2;
}

/* The matrix of a level 2 operation as stored. */
static struct sc_kernel_operand level2_matrix(const struct sc_kernel *k, const void *ptr, int64_t ld,
                                              enum sc_access access)
{
    bool general = k->op == SC_OP_GEMV || k->op == SC_OP_GER || k->op == SC_OP_GERC;

    if (sc_op_is_packed(k->op))
        return vector(ptr, k->n * (k->n + 1) / 2, 1, access);
    if (sc_op_is_banded(k->op))
        return matrix(ptr, (k->op == SC_OP_GBMV ? k->kl + k->ku : k->k) + 1, k->n, ld, 1, access);
    return matrix(ptr, general ? k->m : k->n, k->n, ld, general ? 1 : 0.5, access);
}

static int level2_operands(const struct sc_kernel *k, struct sc_kernel_operand out[3])
{
    bool plain = k->transa == 'N';

    switch (k->op) {
    case SC_OP_TRMV: case SC_OP_TRSV: case SC_OP_TBMV: case SC_OP_TBSV: case SC_OP_TPMV: case SC_OP_TPSV:
        out[0] = level2_matrix(k, k->a, k->lda, SC_READ);
        out[1] = vector(k->b, k->n, k->ldb, SC_RDWR);
        return 2;
    case SC_OP_GEMV: case SC_OP_GBMV:
        out[0] = level2_matrix(k, k->a, k->lda, SC_READ);
        out[1] = vector(k->b, plain ? k->n : k->m, k->ldb, SC_READ);
        out[2] = vector(k->c, plain ? k->m : k->n, k->ldc, output(k));
        return 3;
    case SC_OP_SYMV: case SC_OP_HEMV: case SC_OP_SBMV: case SC_OP_HBMV: case SC_OP_SPMV: case SC_OP_HPMV:
        out[0] = level2_matrix(k, k->a, k->lda, SC_READ);
        out[1] = vector(k->b, k->n, k->ldb, SC_READ);
        out[2] = vector(k->c, k->n, k->ldc, output(k));
        return 3;
    case SC_OP_SYR: case SC_OP_HER: case SC_OP_SPR: case SC_OP_HPR:
        out[0] = vector(k->a, k->n, k->lda, SC_READ);
        out[1] = level2_matrix(k, k->c, k->ldc, SC_RDWR);
        return 2;
    default: /* GER, GERC, SYR2, HER2, SPR2, HPR2 */
        out[0] = vector(k->a, k->op == SC_OP_GER || k->op == SC_OP_GERC ? k->m : k->n, k->lda, SC_READ);
        out[1] = vector(k->b, k->n, k->ldb, SC_READ);
        out[2] = level2_matrix(k, k->c, k->ldc, SC_RDWR);
        return 3;
    }
}

static int level3_operands(const struct sc_kernel *k, struct sc_kernel_operand out[3])
{
    int64_t order = k->side == 'L' ? k->m : k->n; /* order of the symmetric or triangular A */
    bool plain = k->transa == 'N', tall;

    switch (k->op) {
    case SC_OP_GEMM:
        out[0] = matrix(k->a, plain ? k->m : k->k, plain ? k->k : k->m, k->lda, 1, SC_READ);
        out[1] = matrix(k->b, k->transb == 'N' ? k->k : k->n, k->transb == 'N' ? k->n : k->k, k->ldb, 1, SC_READ);
        out[2] = matrix(k->c, k->m, k->n, k->ldc, 1, output(k));
        return 3;
    case SC_OP_SYMM:
    case SC_OP_HEMM:
        out[0] = matrix(k->a, order, order, k->lda, 0.5, SC_READ);
        out[1] = matrix(k->b, k->m, k->n, k->ldb, 1, SC_READ);
        out[2] = matrix(k->c, k->m, k->n, k->ldc, 1, output(k));
        return 3;
    case SC_OP_SYR2K:
    case SC_OP_HER2K:
    case SC_OP_GEMMT:
        tall = k->op == SC_OP_GEMMT ? k->transb != 'N' : plain; /* B is stored as n x k */
        out[0] = matrix(k->a, plain ? k->n : k->k, plain ? k->k : k->n, k->lda, 1, SC_READ);
        out[1] = matrix(k->b, tall ? k->n : k->k, tall ? k->k : k->n, k->ldb, 1, SC_READ);
        out[2] = matrix(k->c, k->n, k->n, k->ldc, 0.5, output(k));
        return 3;
    case SC_OP_TRMM:
    case SC_OP_TRSM:
        out[0] = matrix(k->a, order, order, k->lda, 0.5, SC_READ);
        out[1] = matrix(k->b, k->m, k->n, k->ldb, 1, SC_RDWR);
        return 2;
    default: /* SYRK, HERK */
        out[0] = matrix(k->a, plain ? k->n : k->k, plain ? k->k : k->n, k->lda, 1, SC_READ);
        out[1] = matrix(k->c, k->n, k->n, k->ldc, 0.5, output(k));
        return 2;
    }
}

/* Operands of a sparse operation.  The factor of A counts only the rows that match columns of A. */
static int sparse_operands(const struct sc_kernel *k, struct sc_kernel_operand out[3])
{
    bool vectors = k->op == SC_OP_CSRMV || k->op == SC_OP_CSRSV, by_rows = k->transb == 'T', plain = k->transa == 'N';
    int64_t first = plain ? k->csr.first : 0, inputs = plain ? k->csr.end - first : k->m, outputs = plain ? k->m : k->n;
    const char *in = (const char *)k->b + first * (vectors || by_rows ? k->ldb : 1) * (int64_t)sc_type_bytes(k->type);
    enum sc_access access = k->op == SC_OP_CSRSV || k->op == SC_OP_CSRSM ? SC_WRITE : output(k);

    out[0] = vector(k->a, k->csr.nonzeros, 1, SC_READ);
    out[1] = vectors ? vector(in, inputs, k->ldb, SC_READ)
                     : matrix(in, by_rows ? k->k : inputs, by_rows ? inputs : k->k, k->ldb, 1, SC_READ);
    out[2] = vectors ? vector(k->c, outputs, k->ldc, access)
                     : matrix(k->c, by_rows ? k->k : outputs, by_rows ? outputs : k->k, k->ldc, 1, access);
    return 3;
}

int sc_device_kernel_operands(const struct sc_kernel *k, struct sc_kernel_operand out[3])
{
    if (sc_op_is_sparse(k->op))
        return sparse_operands(k, out);
    if (sc_op_level(k->op) == 1)
        return level1_operands(k, out);
    return sc_op_level(k->op) == 2 ? level2_operands(k, out) : level3_operands(k, out);
}

uint64_t sc_device_operand_extent(const struct sc_kernel_operand *o, enum sc_type type)
{
    if (o->rows <= 0 || o->cols <= 0)
        return 0;
    return ((uint64_t)(o->cols - 1) * (uint64_t)o->ld + (uint64_t)o->rows) * sc_type_bytes(type);
}

double sc_device_kernel_bytes(const struct sc_kernel *k)
{
    struct sc_kernel_operand operands[3];
    int count = sc_device_kernel_operands(k, operands);
    double bytes = 0;

    for (int i = 0; i < count; i++) {
        const struct sc_kernel_operand *o = &operands[i];
        if (o->rows > 0 && o->cols > 0)
            bytes += (double)o->rows * (double)o->cols * o->used * (double)sc_type_bytes(k->type)
                   * (o->access == SC_RDWR ? 2 : 1);
    }
    if (sc_op_is_sparse(k->op))
        bytes += (double)(k->csr.nonzeros + k->m) * k->csr.index_bytes;
    return bytes;
}

double sc_device_kernel_flops(const struct sc_kernel *k)
{
    double m = (double)k->m, n = (double)k->n, order = k->side == 'L' ? m : n;
    double real = sc_type_is_complex(k->type) ? 4 : 1; /* a complex multiply-add counts as four real ones */

    switch (k->op) {
    case SC_OP_COPY:
    case SC_OP_SWAP: return 0;
    case SC_OP_GEMV:
    case SC_OP_GER:
    case SC_OP_GERC: return 2 * m * n * real;
    case SC_OP_SYMV: case SC_OP_HEMV: case SC_OP_SPMV: case SC_OP_HPMV:
    case SC_OP_SYR2: case SC_OP_HER2: case SC_OP_SPR2: case SC_OP_HPR2: return 2 * n * n * real;
    case SC_OP_SYR: case SC_OP_HER: case SC_OP_SPR: case SC_OP_HPR:
    case SC_OP_TRMV: case SC_OP_TRSV: case SC_OP_TPMV: case SC_OP_TPSV: return n * n * real;
    case SC_OP_GBMV: return 2 * n * (double)(k->kl + k->ku + 1) * real;
    case SC_OP_SBMV: case SC_OP_HBMV: return 2 * n * (double)(2 * k->k + 1) * real;
    case SC_OP_TBMV: case SC_OP_TBSV: return 2 * n * (double)(k->k + 1) * real;
    case SC_OP_ROT: case SC_OP_ROTM: return 6 * n * (sc_type_is_complex(k->type) ? 2 : 1);
    case SC_OP_GEMM: return 2 * m * n * (double)k->k * real;
    case SC_OP_SYMM:
    case SC_OP_HEMM: return 2 * m * n * order * real;
    case SC_OP_SYRK:
    case SC_OP_HERK:
    case SC_OP_GEMMT: return n * n * (double)k->k * real;
    case SC_OP_SYR2K:
    case SC_OP_HER2K: return 2 * n * n * (double)k->k * real;
    case SC_OP_TRMM:
    case SC_OP_TRSM: return m * n * order * real;
    case SC_OP_CSRMV: case SC_OP_CSRSV: return 2 * (double)k->csr.nonzeros * real;
    case SC_OP_CSRMM: case SC_OP_CSRSM: return 2 * (double)k->csr.nonzeros * (double)k->k * real;
    default: return 2 * n * real;
    }
}
