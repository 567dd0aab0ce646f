/* Inside blas/lapack/: whole routines of LAPACK, from the program's call to an operation of the devices. */
#ifndef SC_BLAS_LAPACK_WHOLE_H
#define SC_BLAS_LAPACK_WHOLE_H

#include "blas/blas_int.h"

/* Rules for the least sizes of workspaces. */
enum sc_lapack_rule {
    SC_WORK_POTRF, SC_WORK_POTRS, SC_WORK_POSV, SC_WORK_POTRI, SC_WORK_GETRF, SC_WORK_GETRS, SC_WORK_GETRI,
    SC_WORK_GESV, SC_WORK_TRTRI, SC_WORK_LAUUM, SC_WORK_GEQRF, SC_WORK_ORGQR, SC_WORK_ORMQR, SC_WORK_SYEV,
    SC_WORK_SYEVD, SC_WORK_SYEVR, SC_WORK_SYEVX, SC_WORK_SYGVD, SC_WORK_GESVD, SC_WORK_GESDD, SC_WORK_GELSD,
    SC_WORK_GELSS, SC_WORK_GEEV, SC_WORK_GECON, SC_WORK_POCON, SC_WORK_SYTRF, SC_WORK_SYTRS, SC_WORK_SYSV,
    SC_WORK_GELS, SC_WORK_GEQP3, SC_WORK_GEEVX, SC_WORK_LANGE, SC_WORK_LANSY, SC_WORK_LANHE, SC_WORK_LANTR
};

/* The arguments of a call under LAPACK's names; NULL: not an argument of the routine.  Integers have 64 bits if `wide`,
 * and otherwise those of sc_blas_int_at. */
struct sc_lapack_call {
    int routine; /* a number of trace/ */
    enum sc_type type;
    enum sc_op op;
    enum sc_lapack_rule rule;
    bool wide;
    const char *side, *uplo, *trans, *diag, *norm, *range, *jobz, *jobu, *jobvt, *jobvl, *jobvr,
        *jobbal, *jobsense;
    void *m, *n, *k, *nrhs, *itype, *info;
    void *a, *lda, *b, *ldb, *c, *ldc, *u, *ldu, *vt, *ldvt, *vl, *ldvl, *vr, *ldvr, *z, *ldz;
    void *ipiv, *jpvt, *tau, *w, *wr, *wi, *s;
    void *vu, *il, *iu, *abstol, *found, *isuppz, *ifail; /* of ?syevr, ?syevx and ?sygvx; vl is above */
    void *ilo, *ihi, *scale, *abnrm, *rconde, *rcondv; /* of ?geevx */
    void *rcond, *rank; /* of ?gelsd */
    void *anorm, *estimate; /* of ?gecon and ?pocon */
    void *value; /* the result of a function */
    void *work, *lwork, *rwork, *lrwork, *iwork, *liwork;
};

/* The part of a function for calls that are not small.  DONE: the results are with the program, or queued.  HOST: the
 * operands are at home, and the host's routine runs under sc_blas_enter.  PLAIN: the host's routine runs as if this
 * library were not there. */
enum sc_blas_next sc_lapack_large(const struct sc_lapack_call *call);

/* Around the host's routine. */
static inline void sc_lapack_begin(enum sc_blas_next next, int routine, struct sc_host_timing *timing)
{
    if (next == SC_BLAS_HOST)
        sc_blas_enter(routine);
    else
        sc_host_rates_begin_outer(timing);
}
static inline void sc_lapack_end(enum sc_blas_next next, const struct sc_host_timing *timing)
{
    if (next == SC_BLAS_HOST)
        sc_blas_leave();
    else
        sc_host_rates_end_outer(timing);
}

/* The host's routine for a slot that holds `unfound`: the routine that the program would have used. */
void *sc_lapack_routine(void **slot, void *unfound, const char *symbol);

/* What ?geevx tells of a balanced matrix (balanced.c).  low, high: in the program's width of integers.  scale: real. */
struct sc_lapack_balanced {
    int64_t low, high;
    double norm;
    void *copy, *scale;
};
/* k->a becomes a balanced copy of A.  False: the host's routine must run. */
bool sc_lapack_balance(const struct sc_lapack_call *call, struct sc_kernel *k, struct sc_lapack_balanced *b);
void sc_lapack_balance_give(const struct sc_lapack_call *call, const struct sc_kernel *k,
                            const struct sc_lapack_balanced *b);
void sc_lapack_balance_end(struct sc_lapack_balanced *b);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
