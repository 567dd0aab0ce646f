/* Calls that no routine of the process serves: checked as Fortran checks arguments, and computed here. */
#include <ctype.h>

#include "base/log.h"
#include "blas/veneers/loops.h"
#include "blas/veneers/prototypes.h"
#include "coherence/task.h" /* for the kernels on the host */

static void complain(const struct sc_blas_row *row, int64_t wrong)
{
    char name[16];
    size_t length = strlen(row->name);

    for (size_t i = 0; i < sizeof name; i++)
        name[i] = i < length ? (char)toupper((unsigned char)row->name[i]) : ' ';
    xerbla_(name, (const sc_blas_int *)&wrong, length < 6 ? 6 : length); /* xerbla may read either width */
}

/* OpenBLAS before 0.3.22 and the reference BLAS have no gemmt; the gemmt of later OpenBLAS releases is wrong. */
bool sc_blas_is_made(int routine)
{
    const int op = sc_blas_rows[routine].op;

    return (op == SC_OP_GEMMT || op == SC_OP_GEMM || op == SC_OP_AXPBY) && sc_blas_host_symbol("dgemm_");
}

static bool by_others(int routine, const struct sc_kernel *k)
{
    const int64_t sizes[] = {k->m, k->n, k->k, k->lda, k->ldb, k->ldc};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (!sc_blas_fits(sizes[i]))
            return false;
    return sc_blas_is_made(routine) && sc_device_kernel_host(sc_blas_host_symbol, k) == SC_OK;
}

void sc_blas_compute(struct sc_blas_call *call)
{
    const int wrong = sc_blas_call_wrong(call);
    struct sc_kernel k = {.n = 0};

    call->result = (union sc_blas_scalar){.dz = {0, 0}};
    if (wrong) {
        complain(&sc_blas_rows[call->routine], wrong);
        return;
    }
    sc_blas_call_kernel(call, &k); /* false: there is nothing to do (n is 0), or devices do not serve the call */
    if (k.n > 0 && !by_others(call->routine, &k))
        sc_blas_loops(&k);
}

/* Few host libraries have a correct gemmt (rule 11). */
sc_blas_fn sc_blas_substitute(int routine)
{
    return sc_blas_rows[routine].op == SC_OP_GEMMT ? sc_blas_computed[0][routine] : NULL;
}

void sc_blas_say_computed(int routine, const char *name, const char *why)
{
    static uint8_t said[SC_TRACE_ROUTINES_MAX];
    const char *path = sc_blas_host_path();

    if (!__atomic_exchange_n(&said[path ? routine : 0], 1, __ATOMIC_RELAXED))
        sc_log(SC_LOG_WARN, "%s is computed by plain loops, which are slow: the host BLAS (%s) %s", name,
               path ? path : "none was found", why);
}

void sc_blas_unfit(struct sc_blas_call *call)
{
    sc_blas_say_computed(call->routine, sc_blas_rows[call->routine].name,
                         "has 32-bit integers and a size is above 2^31 - 1; install a 64-bit BLAS "
                         "(Debian: libopenblas64-0), or set SEMCACHE_HOST_BLAS to one");
    sc_blas_compute(call);
}
/* SPDX-License-Identifier: BSD-2-Clause */
