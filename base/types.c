#include "base/types.h"

const char *sc_op_name(enum sc_op op)
{
    static const char *const names[SC_OPS] = {
        [SC_OP_AXPY] = "axpy", [SC_OP_SCAL] = "scal", [SC_OP_COPY] = "copy", [SC_OP_SWAP] = "swap",
        [SC_OP_DOT] = "dot",   [SC_OP_DOTC] = "dotc", [SC_OP_NRM2] = "nrm2", [SC_OP_ASUM] = "asum",
        [SC_OP_IAMAX] = "iamax", [SC_OP_GEMV] = "gemv", [SC_OP_GER] = "ger", [SC_OP_GERC] = "gerc",
        [SC_OP_TRSV] = "trsv", [SC_OP_GEMM] = "gemm", [SC_OP_SYMM] = "symm", [SC_OP_HEMM] = "hemm",
        [SC_OP_SYRK] = "syrk", [SC_OP_HERK] = "herk", [SC_OP_SYR2K] = "syr2k",
        [SC_OP_HER2K] = "her2k", [SC_OP_GEMMT] = "gemmt", [SC_OP_TRMM] = "trmm", [SC_OP_TRSM] = "trsm"};
    return (unsigned)op < SC_OPS ? names[op] : "?";
}
