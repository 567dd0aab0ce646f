/* Whole routines of LAPACK: the program's arguments become a record for the devices, and the O(n) results and INFO go
 * from the library's memory to the program's.
 *
 * Calls that the devices do not get: arguments that LAPACK calls invalid, questions for sizes of workspaces, options
 * without an operation (singular vectors in the place of A).  The host's routine is their definition. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/inside.h"
#include "blas/lapack/whole.h"
#include "coherence/access.h"
#include "coherence/call.h"

/* --- integers and letters ----------------------------------------------------------------------------------------- */

static bool is_wide(const struct sc_lapack_call *g) { return g->wide || sc_blas_wide; }

static int64_t integer(const struct sc_lapack_call *g, const void *at)
{
    return !at ? 0 : g->wide ? *(const int64_t *)at : sc_blas_int_at(at);
}

static char letter(const char *at) { return at ? sc_blas_letter(*at) : 0; }

/* Letters of jobs are not letters of the BLAS. */
static char job(const char *at)
{
    char upper = at ? (char)(*at & ~0x20) : 0;

    return upper && strchr("NVSA", upper) ? upper : '?';
}

/* --- the record --------------------------------------------------------------------------------------------------- */

/* The least size of a workspace, in elements.  LAPACK's own checks refuse less. */
struct least {
    int64_t work, rwork, iwork;
};

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

static struct least least_of_eigen(const struct sc_kernel *k)
{
    int64_t n = k->n;
    bool vectors = k->job[0] == 'V';

    if (sc_type_is_complex(k->type))
        return (struct least){vectors ? 2 * n + n * n : n + 1, vectors ? 1 + 5 * n + 2 * n * n : n,
                              vectors ? 3 + 5 * n : 1};
    return (struct least){vectors ? 1 + 6 * n + 2 * n * n : 2 * n + 1, 0, vectors ? 3 + 5 * n : 1};
}

static int64_t shorter(const struct sc_kernel *k) { return k->m < k->n ? k->m : k->n; }

static int64_t least_of_singular(const struct sc_kernel *k, bool divides)
{
    int64_t small = shorter(k), large = most(k->m, k->n);

    if (sc_type_is_complex(k->type))
        return 2 * small + large;
    if (!divides)
        return k->job[0] == 'N' && k->job[1] == 'N' ? 5 * small : most(3 * small + large, 5 * small);
    return 3 * small + most(large, k->job[0] == 'N' ? 7 * small : 3 * small * small + 4 * small);
}

static struct least least_of(const struct sc_lapack_call *g, const struct sc_kernel *k)
{
    bool complex = sc_type_is_complex(k->type);
    int64_t n = k->n;

    switch (g->rule) {
    case SC_WORK_GETRI:
    case SC_WORK_GEQRF:
    case SC_WORK_ORGQR: return (struct least){n, 0, 0};
    case SC_WORK_ORMQR: return (struct least){k->side == 'L' ? n : k->m, 0, 0};
    case SC_WORK_SYEV: return (struct least){complex ? 2 * n - 1 : 3 * n - 1, 0, 0};
    case SC_WORK_SYEVD:
    case SC_WORK_SYGVD: return least_of_eigen(k);
    case SC_WORK_SYEVR: return (struct least){complex ? 2 * n : 26 * n, complex ? 24 * n : 0, 10 * n};
    case SC_WORK_SYEVX: return (struct least){complex ? 2 * n : 8 * n, 0, 0};
    case SC_WORK_GESVD: return (struct least){least_of_singular(k, false), 0, 0};
    case SC_WORK_GESDD: return (struct least){least_of_singular(k, true), 0, 0};
    case SC_WORK_GELSD: return (struct least){(complex ? 2 : 12) * shorter(k) + shorter(k) * k->k, 0, 0};
    case SC_WORK_GELSS:
        return (struct least){
            (complex ? 2 : 3) * shorter(k) + most(most(k->m, k->n), most(2 * shorter(k), k->k)), 0, 0};
    case SC_WORK_GEQP3: return (struct least){complex ? n + 1 : 3 * n + 1, 0, 0};
    case SC_WORK_GELS: return (struct least){shorter(k) + most(shorter(k), k->k), 0, 0};
    case SC_WORK_GEEVX: return (struct least){2 * n, 0, 0};
    case SC_WORK_GEEV:
        return (struct least){complex ? 2 * n : k->job[0] == 'V' || k->job[1] == 'V' ? 4 * n : 3 * n, 0, 0};
    default: return (struct least){0, 0, 0};
    }
}

static bool is_long_enough(const struct sc_lapack_call *g, const void *length, int64_t least)
{
    return !length || integer(g, length) >= most(least, 1);
}

static bool has_workspaces(const struct sc_lapack_call *g, const struct sc_kernel *k)
{
    struct least least = least_of(g, k);

    return is_long_enough(g, g->lwork, least.work) && is_long_enough(g, g->lrwork, least.rwork) &&
           is_long_enough(g, g->liwork, least.iwork);
}

/* Matrices B and C of the operation under the names of the routine. */
static void name_vectors(const struct sc_lapack_call *g, struct sc_kernel *k)
{
    void *b = g->b ? g->b : g->u ? g->u : g->z ? g->z : g->vr ? g->vl : NULL;
    void *ldb = g->ldb ? g->ldb : g->ldu ? g->ldu : g->ldz ? g->ldz : g->ldvl;
    void *c = g->vt ? g->vt : g->vr ? g->vr : g->b && g->z ? g->z : g->c;
    void *ldc = g->ldvt ? g->ldvt : g->ldvr ? g->ldvr : g->b && g->z ? g->ldz : g->ldc;

    k->b = b, k->c = c;
    k->ldb = integer(g, ldb), k->ldc = integer(g, ldc);
}

/* Of a condition number: the letter of A^-1 for the 1-norm, and that of A^-H for the infinity norm. */
static char letter_of_norm(const char *norm, enum sc_type type)
{
    char upper = (char)(*norm & ~0x20);

    return *norm == '1' || upper == 'O' ? 'N' : upper != 'I' ? 0 : sc_type_is_complex(type) ? 'C' : 'T';
}

/* The job of a norm; 0: an invalid letter. */
static char job_of_norm(const char *norm)
{
    char upper = (char)(*norm & ~0x20);

    if (*norm == '1' || upper == 'O')
        return '1';
    return upper == 'M' || upper == 'I' ? upper : upper == 'F' || upper == 'E' ? 'F' : 0;
}

static double number_at(const void *at, enum sc_type type)
{
    return type == SC_S || type == SC_C ? *(const float *)at : *(const double *)at;
}

/* The range of eigenvalues; k = 0: an invalid range. */
static void name_range(const struct sc_lapack_call *g, struct sc_kernel *k)
{
    k->range = (char)(*g->range & ~0x20);
    k->k = k->range == 'A' ? k->n : 0;
    if (k->range == 'I') {
        k->first = integer(g, g->il);
        if (k->first >= 1 && integer(g, g->iu) <= k->n)
            k->k = integer(g, g->iu) - k->first + 1;
    }
    if (k->range == 'V') {
        k->alpha[0] = number_at(g->vl, k->type);
        k->alpha[1] = number_at(g->vu, k->type);
        k->k = k->alpha[0] < k->alpha[1];
    }
}

static struct sc_kernel record_of(const struct sc_lapack_call *g)
{
    struct sc_kernel k = {.op = g->op, .type = g->type, .side = letter(g->side), .uplo = letter(g->uplo),
                          .transa = letter(g->trans), .diag = letter(g->diag), .m = integer(g, g->m),
                          .n = integer(g, g->n), .k = integer(g, g->k ? g->k : g->nrhs),
                          .kl = integer(g, g->itype), .a = g->a, .lda = integer(g, g->lda)};
    const void *limit = g->rcond ? g->rcond : g->anorm;

    k.job[0] = job(g->jobz ? g->jobz : g->jobu ? g->jobu : g->jobvl);
    k.job[1] = job(g->jobvt ? g->jobvt : g->jobvr ? g->jobvr : g->jobz);
    name_vectors(g, &k);
    if (limit)
        k.alpha[0] = number_at(limit, k.type);
    if (g->norm && g->estimate)
        k.transa = letter_of_norm(g->norm, k.type);
    if (g->value)
        k.job[0] = job_of_norm(g->norm);
    if (g->estimate || g->value)
        k.k = 1;
    if (g->range)
        name_range(g, &k);
    if (k.op == SC_OP_GETRF || k.op == SC_OP_GESVD || k.op == SC_OP_GEQRF || k.op == SC_OP_ORGQR ||
        k.op == SC_OP_GELSD || k.op == SC_OP_GELS || k.op == SC_OP_GEQP3 || k.op == SC_OP_LANGE || k.op == SC_OP_LANTR)
        return k;
    if (k.op != SC_OP_ORMQR)
        k.m = k.n;
    return k;
}

/* ?latdf reads a vector that ?gecon leaves in its workspace.  Its matrices have at most so many rows. */
enum { LATDF_MOST = 8 };

static bool is_of(char letter, const char *letters) { return letter && strchr(letters, letter); }

static bool jobs_are_valid(const struct sc_kernel *k)
{
    switch (k->op) {
    case SC_OP_SYEVD:
    case SC_OP_SYEVR: return k->job[0] == 'N' || k->job[0] == 'V';
    case SC_OP_SYGVD:
    case SC_OP_SYGVX: return (k->job[0] == 'N' || k->job[0] == 'V') && k->kl >= 1 && k->kl <= 3;
    case SC_OP_GEEV: return k->job[0] == 'N' && is_of(k->job[1], "NV"); /* cuSOLVER has no left vectors */
    case SC_OP_GESVD: return is_of(k->job[0], "NSA") && is_of(k->job[1], "NSA");
    case SC_OP_GECON: return k->n > LATDF_MOST && k->alpha[0] > 0 && isfinite(k->alpha[0]);
    case SC_OP_POCON: return k->alpha[0] > 0 && isfinite(k->alpha[0]);
    case SC_OP_LANGE:
    case SC_OP_LANSY:
    case SC_OP_LANHE:
    case SC_OP_LANTR: return k->job[0];
    case SC_OP_ORGQR: return k->n <= k->m && k->k <= k->n;
    case SC_OP_GELS: return sc_type_is_complex(k->type) ? k->transa != 'T' : k->transa != 'C';
    case SC_OP_ORMQR:
        return k->k <= (k->side == 'L' ? k->m : k->n) && (sc_type_is_complex(k->type) || k->transa != 'C');
    default: return true;
    }
}

/* Eigenvalues only, of a matrix that is permuted and scaled (balanced.c), as ?geev does. */
static bool is_of_values(const struct sc_lapack_call *g, const struct sc_kernel *k)
{
    return (*g->jobbal & ~0x20) == 'B' && (*g->jobsense & ~0x20) == 'N' && k->job[1] == 'N';
}

/* Whether LAPACK finds nothing to complain about, and an operation exists.  Empty sizes are the host's, too. */
static bool is_valid(const struct sc_lapack_call *g, const struct sc_kernel *k)
{
    const void *const ld[] = {g->lda, g->ldb, g->ldc, g->ldu, g->ldvt, g->ldvl, g->ldvr, g->ldz};
    struct sc_view view[SC_VIEWS_MAX];
    int count;

    if (!jobs_are_valid(k) || !sc_kernel_is_work(k) || (g->rule == SC_WORK_GEEVX && !is_of_values(g, k)))
        return false;
    for (size_t i = 0; i < sizeof ld / sizeof *ld; i++)
        if (ld[i] && integer(g, ld[i]) < 1)
            return false;
    count = sc_kernel_views(k, view);
    for (int i = 0; i < count; i++)
        if (view[i].rows > 0 && view[i].cols > 0 &&
            (view[i].ld < view[i].rows || !sc_view_fits(&view[i]) || !view[i].ptr))
            return false;
    return has_workspaces(g, k);
}

/* --- O(n) operands ------------------------------------------------------------------------------------------------ */

/* The library's memory for pivots and small vectors of a call. */
struct smalls {
    int64_t n, info;
    enum sc_type type; /* of `vector` */
    void *vector[2], *program[2];
    int64_t *pivots;
};

static void access_bytes(const void *at, size_t bytes, enum sc_access access)
{
    if (bytes)
        sc_coherence_acquire_host((uintptr_t)at, bytes, access);
}

static void take_pivots(const struct sc_lapack_call *g, struct smalls *s)
{
    access_bytes(g->ipiv, (size_t)s->n * (is_wide(g) ? 8 : 4), SC_READ);
    for (int64_t i = 0; i < s->n; i++)
        s->pivots[i] = is_wide(g) ? ((const int64_t *)g->ipiv)[i] : ((const int32_t *)g->ipiv)[i];
}

/* Negative pivots are those of a 2 x 2 block, each. */
static bool pivots_are_valid(const struct smalls *s, bool of_blocks)
{
    int64_t negative = 0;

    for (int64_t i = 0; i < s->n; i++) {
        int64_t pivot = s->pivots[i] < 0 && of_blocks ? -s->pivots[i] : s->pivots[i];

        if (pivot < 1 || pivot > s->n || (s->pivots[i] > 0 && negative % 2))
            return false;
        negative = s->pivots[i] < 0 ? negative + 1 : 0;
    }
    return negative % 2 == 0;
}

static bool reads_pivots(enum sc_op op) { return op == SC_OP_GETRS || op == SC_OP_GETRI || op == SC_OP_SYTRS; }
static bool reads_small(enum sc_op op) { return op == SC_OP_ORGQR || op == SC_OP_ORMQR; }

/* Allocates the memory and reads what the operation reads.  False: no memory, or pivots that LAPACK does not allow. */
static bool smalls_begin(const struct sc_lapack_call *g, struct sc_kernel *k, struct smalls *s)
{
    const struct sc_op_info *op = &sc_ops[k->op];
    bool complex = sc_type_is_complex(k->type), two = op->small == 'G' && !complex, good = true;

    *s = (struct smalls){.n = sc_kernel_small(k), .type = k->type};
    if (op->small == 'R')
        s->type = k->type == SC_S || k->type == SC_C ? SC_S : SC_D;
    s->program[0] = g->tau ? g->tau : g->s ? g->s : g->wr ? g->wr : g->w ? g->w : g->estimate ? g->estimate : g->value;
    s->program[1] = g->wi;
    for (int i = 0; op->small && i < 1 + two; i++)
        good = (s->vector[i] = malloc((size_t)s->n * sc_type_bytes(s->type))) && good;
    if (op->pivots || g->rank || g->found)
        good = (s->pivots = malloc((size_t)s->n * sizeof *s->pivots)) && good;
    k->small[0] = s->vector[0];
    k->small[1] = s->vector[1];
    k->pivots = s->pivots;
    k->result = &s->info;
    if (good && reads_small(k->op)) {
        access_bytes(s->program[0], (size_t)s->n * sc_type_bytes(s->type), SC_READ);
        memcpy(s->vector[0], s->program[0], (size_t)s->n * sc_type_bytes(s->type));
    }
    if (good && reads_pivots(k->op)) {
        take_pivots(g, s);
        good = pivots_are_valid(s, k->op == SC_OP_SYTRS);
    }
    return good;
}

static void smalls_end(struct smalls *s)
{
    free(s->vector[0]);
    free(s->vector[1]);
    free(s->pivots);
}

static void give_integer(const struct sc_lapack_call *g, void *at, int64_t i, int64_t value)
{
    if (is_wide(g))
        ((int64_t *)at)[i] = value;
    else
        ((int32_t *)at)[i] = (int32_t)value;
}

static void give_integers(const struct sc_lapack_call *g, void *at, int64_t n, int64_t (*value)(int64_t i, int64_t n),
                          const int64_t *values)
{
    access_bytes(at, (size_t)n * (is_wide(g) ? 8 : 4), SC_WRITE);
    for (int64_t i = 0; i < n; i++)
        give_integer(g, at, i, values ? values[i] : value(i, n));
}

static int64_t of_support(int64_t i, int64_t n) { return i % 2 ? n / 2 : 1; }
static int64_t of_failures(int64_t i, int64_t n) { return (void)i, (void)n, 0; }

/* The first element of a workspace tells its size. */
static void tell_size(enum sc_type type, void *work, int64_t size)
{
    access_bytes(work, sc_type_bytes(type), SC_WRITE);
    memset(work, 0, sc_type_bytes(type));
    if (type == SC_S || type == SC_C)
        *(float *)work = (float)size;
    else
        *(double *)work = (double)size;
}

static bool has_nan(const struct smalls *s)
{
    for (int64_t i = 0; i < s->n; i++)
        if (isnan(s->type == SC_S ? (double)((const float *)s->vector[0])[i] : ((const double *)s->vector[0])[i]))
            return true;
    return false;
}

/* LAPACK names the parts of vectors that are not zero for all of the eigenvectors only. */
static void give_found(const struct sc_lapack_call *g, const struct sc_kernel *k, int64_t found)
{
    give_integers(g, g->found, 1, NULL, &found);
    if (g->isuppz && k->job[0] == 'V' && found == k->n)
        give_integers(g, g->isuppz, 2 * k->n, of_support, NULL);
    if (g->ifail && k->job[0] == 'V')
        give_integers(g, g->ifail, found, of_failures, NULL);
}

static void give_results(const struct sc_lapack_call *g, const struct sc_kernel *k, struct smalls *s)
{
    enum sc_type real = k->type == SC_S || k->type == SC_C ? SC_S : SC_D;
    int64_t values = g->found ? s->pivots[0] : s->n;

    if (g->rule == SC_WORK_GESDD && has_nan(s)) /* LAPACK calls A, the fourth argument, invalid */
        s->info = -4;
    for (int i = 0; i < 2 && !reads_small(k->op); i++)
        if (s->vector[i]) {
            access_bytes(s->program[i], (size_t)values * sc_type_bytes(s->type), SC_WRITE);
            memcpy(s->program[i], s->vector[i], (size_t)values * sc_type_bytes(s->type));
        }
    if (g->rank)
        give_integers(g, g->rank, 1, NULL, s->pivots);
    else if (g->ipiv && !reads_pivots(k->op))
        give_integers(g, g->ipiv, s->n, NULL, s->pivots);
    if (g->found)
        give_found(g, k, values);
    if (g->lwork)
        tell_size(k->type, g->work, integer(g, g->lwork));
    if (g->lrwork)
        tell_size(real, g->rwork, integer(g, g->lrwork));
    if (g->liwork)
        give_integers(g, g->iwork, 1, NULL, (const int64_t[]){integer(g, g->liwork)});
    if (g->info)
        give_integers(g, g->info, 1, NULL, &s->info);
}

/* --- the call ----------------------------------------------------------------------------------------------------- */

/* The matrices in one batch, and the O(n) operands that the host's threads would otherwise meet closed. */
static void bring_home(const struct sc_lapack_call *g, const struct sc_kernel *k)
{
    struct sc_view view[SC_VIEWS_MAX];
    int count = sc_kernel_views(k, view);
    int64_t n = sc_kernel_small(k);

    for (int i = 0; i < count; i++)
        view[i].access |= SC_READ;
    sc_blas_host_operands(view, count);
    if (sc_ops[k->op].pivots)
        access_bytes(g->ipiv, (size_t)n * (is_wide(g) ? 8 : 4), SC_RDWR);
}

static bool run(const struct sc_lapack_call *g, const struct sc_kernel *kernel, bool once)
{
    struct sc_kernel own = *kernel, *k = &own;
    struct sc_lapack_balanced balanced = {.copy = NULL};
    bool balances = g->rule == SC_WORK_GEEVX, done;
    struct smalls s;

    sc_inside_enter(); /* memory of the library */
    done = smalls_begin(g, k, &s) && (!balances || sc_lapack_balance(g, k, &balanced)) &&
           sc_blas_offload(g->routine, k, once, NULL);
    if (g->value && s.info) /* a function cannot tell the program of a lost device */
        done = false;
    if (done)
        give_results(g, k, &s);
    if (done && balances)
        sc_lapack_balance_give(g, k, &balanced);
    sc_lapack_balance_end(&balanced);
    smalls_end(&s);
    sc_inside_leave();
    return done;
}

enum sc_blas_next sc_lapack_large(const struct sc_lapack_call *g)
{
    struct sc_kernel k;
    bool once, done;

    if (sc_inside())
        return SC_BLAS_PLAIN;
    once = sc_blas_called_by_lapack(); /* before a look at the host's LAPACK, which may call the BLAS */
    k = record_of(g);
    if (!is_valid(g, &k))
        return SC_BLAS_PLAIN;
    if (!sc_coherence_stack_fits() || k.op == SC_OP_GEQP3) {
        bring_home(g, &k);
        return SC_BLAS_HOST;
    }
    if (!sc_blas_lapack_started(&k) || !sc_blas_serves(k.op, k.type))
        return SC_BLAS_PLAIN;
    sc_trace_routine = (uint16_t)g->routine;
    if (__builtin_expect(sc_trace_on || sc_explain_on, 0))
        sc_trace_site = sc_trace_site_here();
    if (__builtin_expect(sc_trace_on, 0))
        sc_blas_record_lapack(&k);
    done = run(g, &k, once);
    if (done)
        sc_trace(.kind = SC_EVENT_DONE);
    else
        bring_home(g, &k);
    sc_trace_routine = 0;
    return done ? SC_BLAS_DONE : SC_BLAS_HOST;
}
/* SPDX-License-Identifier: BSD-2-Clause */
