#include "base/types.h"

const char *sc_op_name(enum sc_op op)
{
    static const char *const names[SC_OPS_ALL] = {
        [SC_OP_AXPY] = "axpy", [SC_OP_SCAL] = "scal", [SC_OP_COPY] = "copy", [SC_OP_SWAP] = "swap",
        [SC_OP_AXPBY] = "axpby", [SC_OP_ROT] = "rot", [SC_OP_ROTM] = "rotm",
        [SC_OP_DOT] = "dot",   [SC_OP_DOTC] = "dotc", [SC_OP_DSDOT] = "dsdot", [SC_OP_NRM2] = "nrm2",
        [SC_OP_ASUM] = "asum",
        [SC_OP_IAMAX] = "iamax", [SC_OP_IAMIN] = "iamin", [SC_OP_GEMV] = "gemv", [SC_OP_GER] = "ger",
        [SC_OP_GERC] = "gerc", [SC_OP_SYMV] = "symv", [SC_OP_HEMV] = "hemv", [SC_OP_SYR] = "syr",
        [SC_OP_HER] = "her", [SC_OP_SYR2] = "syr2", [SC_OP_HER2] = "her2", [SC_OP_TRMV] = "trmv",
        [SC_OP_TRSV] = "trsv", [SC_OP_GBMV] = "gbmv", [SC_OP_SBMV] = "sbmv", [SC_OP_HBMV] = "hbmv",
        [SC_OP_TBMV] = "tbmv", [SC_OP_TBSV] = "tbsv", [SC_OP_SPMV] = "spmv", [SC_OP_HPMV] = "hpmv",
        [SC_OP_SPR] = "spr", [SC_OP_HPR] = "hpr", [SC_OP_SPR2] = "spr2", [SC_OP_HPR2] = "hpr2",
        [SC_OP_TPMV] = "tpmv", [SC_OP_TPSV] = "tpsv",
        [SC_OP_GEMM] = "gemm", [SC_OP_SYMM] = "symm", [SC_OP_HEMM] = "hemm",
        [SC_OP_SYRK] = "syrk", [SC_OP_HERK] = "herk", [SC_OP_SYR2K] = "syr2k",
        [SC_OP_HER2K] = "her2k", [SC_OP_GEMMT] = "gemmt", [SC_OP_TRMM] = "trmm", [SC_OP_TRSM] = "trsm",
        [SC_OP_CSRMV] = "csrmv", [SC_OP_CSRMM] = "csrmm", [SC_OP_CSRSV] = "csrsv", [SC_OP_CSRSM] = "csrsm"};
    return (unsigned)op < SC_OPS_ALL ? names[op] : "?";
}

bool sc_op_has_type(enum sc_op op, enum sc_type type)
{
    switch (op) {
    case SC_OP_DSDOT: return type == SC_S;
    case SC_OP_ROTM:
    case SC_OP_SYMV:
    case SC_OP_SYR:
    case SC_OP_SYR2:
    case SC_OP_SBMV:
    case SC_OP_SPMV:
    case SC_OP_SPR:
    case SC_OP_SPR2: return !sc_type_is_complex(type);
    default: return (unsigned)op < SC_OPS_ALL && (unsigned)type < SC_TYPES;
    }
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
    case SC_OP_GEMV: /* x, A, y take the places of A, B, C */
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
