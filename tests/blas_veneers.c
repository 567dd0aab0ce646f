/* The records passed by veneers to devices, the views acquired by veneers, and the routine that reports errors. */
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "blas/veneers/prototypes.h"
#include "coherence/access.h"
#include "coherence/call.h"
#include "coherence/task.h"
#include "tests/tap.h"

enum { ROW = 101, COL = 102, NO = 111, TR = 112, CT = 113, UP = 121, LO = 122, UN = 132, LEFT = 141, RIGHT = 142 };

static double A[64 * 64], B[64 * 64], C[64 * 64], X[4096], Y[4096];

/* --- what is captured ------------------------------------------------------------------------------------------- */

static struct sc_kernel seen;
static int asked, routine_seen, inside_seen, traced_seen;
static bool answer = true;
bool sc_blas_offload(int routine, const struct sc_kernel *kernel, bool once, struct sc_blas_home *home)
{
    (void)once, (void)home;
    seen = *kernel;
    routine_seen = routine;
    inside_seen = sc_inside();
    traced_seen = sc_trace_routine;
    asked++;
    if (answer && kernel->op == SC_OP_IAMAX)
        *(int64_t *)kernel->result = 7;
    else if (answer && kernel->type == SC_D)
        *(double *)kernel->result = 2.5;
    else if (answer && kernel->type == SC_C)
        ((float *)kernel->result)[0] = 1.5F, ((float *)kernel->result)[1] = -2;
    else if (answer && kernel->type == SC_Z)
        ((double *)kernel->result)[0] = 1.25, ((double *)kernel->result)[1] = -3;
    return answer;
}

static struct sc_view views[8];
static int viewed;
bool sc_coherence_stack_fits(void) { return true; }
int sc_coherence_devices(void) { return 0; }
enum sc_at_home sc_coherence_at_home(const void *ptr, uint64_t bytes, enum sc_access access, uintptr_t *base,
                                     size_t *block_bytes)
{
    return (void)ptr, (void)bytes, (void)access, (void)base, (void)block_bytes, SC_NOT_HOME;
}
bool sc_coherence_is_home(const void *ptr, uint64_t bytes) { return (void)ptr, (void)bytes, false; }
void sc_coherence_residency(const struct sc_view *view, int count, struct sc_residency *out)
{
    (void)view, (void)count, (void)out;
}
bool sc_coherence_block(const void *ptr, uintptr_t *base, size_t *bytes)
{
    return (void)ptr, (void)base, (void)bytes, false;
}
uint64_t sc_blas_copy_ahead(const struct sc_kernel *kernel, bool by_rows, int64_t done)
{
    return (void)kernel, (void)by_rows, (void)done, 0;
}
bool sc_coherence_advance(uint64_t speculation, int64_t step) { return (void)speculation, (void)step, false; }
bool sc_coherence_runs(enum sc_op op, enum sc_type type) { return (void)op, (void)type, false; }
void sc_coherence_acquire_view(const struct sc_view *view)
{
    if (viewed < 8)
        views[viewed++] = *view;
}

static int complaints, complaint;
static char complained[16];
static jmp_buf *escape;
void xerbla_(const char *name, const sc_blas_int *info, size_t length)
{
    (void)length;
    snprintf(complained, sizeof complained, "%.6s", name);
    complaint = *info;
    complaints++;
    if (escape)
        longjmp(*escape, 1);
}

static bool start(bool now) { return now; }

static void reset(void)
{
    memset(&seen, 0, sizeof seen);
    asked = viewed = complaints = 0;
    answer = true;
}

static bool is(enum sc_op op, enum sc_type type, int64_t m, int64_t n, int64_t k)
{
    if (asked == 1 && seen.op == op && seen.type == type && seen.m == m && seen.n == n && seen.k == k)
        return true;
    tap_diag("asked %d, op %d, type %d, m %d, n %d, k %d", asked, seen.op, seen.type, (int)seen.m, (int)seen.n,
             (int)seen.k);
    return false;
}
static bool operands(const void *a, int64_t lda, const void *b, int64_t ldb, const void *c, int64_t ldc)
{
    return seen.a == a && seen.lda == lda && seen.b == b && seen.ldb == ldb && seen.c == c && seen.ldc == ldc;
}
static bool letters(const char *transa_transb_side_uplo_diag)
{
    char got[6] = {seen.transa, seen.transb, seen.side, seen.uplo, seen.diag, 0};

    for (int i = 0; i < 5; i++)
        if (!got[i])
            got[i] = '-';
    if (strcmp(got, transa_transb_side_uplo_diag))
        tap_diag("letters %s", got);
    return !strcmp(got, transa_transb_side_uplo_diag);
}

/* --- the records ------------------------------------------------------------------------------------------------ */

static void test_gemm(void)
{
    const sc_blas_int m = 5, n = 6, k = 7, lda = 20, ldb = 21, ldc = 22;
    const double alpha = 1.5, beta = -2, z_alpha[2] = {1, 2}, z_beta[2] = {3, 4};

    reset();
    dgemm_("n", "c", &m, &n, &k, &alpha, A, &lda, B, &ldb, &beta, C, &ldc);
    tap_ok(is(SC_OP_GEMM, SC_D, 5, 6, 7) && operands(A, 20, B, 21, C, 22) && letters("NC---") && seen.alpha[0] == 1.5 &&
               seen.beta[0] == -2 && seen.alpha[1] == 0,
           "dgemm_: sizes, operands, upper case letters");
    tap_ok(!strcmp(sc_trace_routine_name(routine_seen), "dgemm") && traced_seen == routine_seen &&
               sc_trace_routine == 0,
           "the routine is named, and set while the call lasts");
    tap_ok(!inside_seen && !sc_inside(), "the devices are asked outside of sc_inside");
    reset();
    cblas_zgemm(ROW, CT, NO, m, n, k, z_alpha, A, lda, B, ldb, z_beta, C, ldc);
    tap_ok(is(SC_OP_GEMM, SC_Z, 6, 5, 7) && operands(B, 21, A, 20, C, 22) && letters("NC---") && seen.alpha[0] == 1 &&
               seen.alpha[1] == 2 && seen.beta[0] == 3 && seen.beta[1] == 4,
           "cblas_zgemm by rows: A and B exchanged");
    reset();
    cblas_sgemm(COL, TR, CT, m, n, k, 1.5F, (float *)A, lda, (float *)B, ldb, 0, (float *)C, ldc);
    tap_ok(is(SC_OP_GEMM, SC_S, 5, 6, 7) && letters("TC---") && seen.alpha[0] == 1.5, "cblas_sgemm by columns");
    reset();
    cgemm3m_("T", "N", &m, &n, &k, z_alpha, A, &lda, B, &ldb, z_beta, C, &ldc);
    tap_ok(is(SC_OP_GEMM, SC_C, 5, 6, 7), "cgemm3m_ is a gemm");
}

static void test_level3(void)
{
    const double z[2] = {1, 2};

    reset();
    cblas_zhemm(ROW, LEFT, UP, 5, 6, z, A, 20, B, 21, z, C, 22);
    tap_ok(is(SC_OP_HEMM, SC_Z, 6, 5, 0) && operands(A, 20, B, 21, C, 22) && letters("--RL-"), "cblas_zhemm by rows");
    reset();
    cblas_dsymm(COL, RIGHT, LO, 5, 6, 1, A, 20, B, 21, 0, C, 22);
    tap_ok(is(SC_OP_SYMM, SC_D, 5, 6, 0) && letters("--RL-"), "cblas_dsymm by columns");
    reset();
    cblas_dsyrk(ROW, UP, NO, 5, 6, 1.5, A, 20, 2, C, 22);
    tap_ok(is(SC_OP_SYRK, SC_D, 0, 5, 6) && operands(A, 20, NULL, 0, C, 22) && letters("T--L-"), "cblas_dsyrk by rows");
    reset();
    cblas_dsyrk(ROW, UP, CT, 5, 6, 1.5, A, 20, 2, C, 22);
    tap_ok(is(SC_OP_SYRK, SC_D, 0, 5, 6) && letters("N--L-"), "cblas_dsyrk by rows, C is T");
    reset();
    cblas_zherk(ROW, LO, CT, 5, 6, 1.5, A, 20, 2, C, 22);
    tap_ok(is(SC_OP_HERK, SC_Z, 0, 5, 6) && letters("N--U-") && seen.alpha[0] == 1.5 && seen.beta[0] == 2,
           "cblas_zherk by rows: real scalars");
    reset();
    cblas_dtrsm(ROW, LEFT, UP, TR, UN, 5, 6, 1.5, A, 20, B, 21);
    tap_ok(is(SC_OP_TRSM, SC_D, 6, 5, 0) && operands(A, 20, B, 21, NULL, 0) && letters("T-RLU"), "cblas_dtrsm by rows");
}

static void test_rank_2k_and_triangular(void)
{
    const double z[2] = {1, 2};

    reset();
    cblas_dsyr2k(ROW, UP, NO, 5, 6, 1.5, A, 20, B, 21, 2, C, 22);
    tap_ok(is(SC_OP_SYR2K, SC_D, 0, 5, 6) && operands(A, 20, B, 21, C, 22) && letters("T--L-"), "cblas_dsyr2k by rows");
    reset();
    cblas_zher2k(ROW, LO, CT, 5, 6, z, A, 20, B, 21, 2, C, 22);
    tap_ok(is(SC_OP_HER2K, SC_Z, 0, 5, 6) && letters("N--U-") && seen.alpha[0] == 1 && seen.alpha[1] == -2 &&
               seen.beta[0] == 2,
           "cblas_zher2k by rows: alpha conjugated, beta real");
    reset();
    cblas_dtrmm(ROW, LEFT, UP, TR, UN, 5, 6, 1.5, A, 20, B, 21);
    tap_ok(is(SC_OP_TRMM, SC_D, 6, 5, 0) && operands(A, 20, B, 21, NULL, 0) && letters("T-RLU"), "cblas_dtrmm by rows");
    reset();
    cblas_zgemmt(ROW, UP, NO, CT, 5, 7, z, A, 20, B, 21, z, C, 22);
    tap_ok(is(SC_OP_GEMMT, SC_Z, 0, 5, 7) && operands(B, 21, A, 20, C, 22) && letters("CN-L-"), "cblas_zgemmt by rows");
}

/* gemmt of the host, or made of the host's gemm: the named triangle equals gemm's, the rest of C is unchanged. */
static bool gemmt_as_gemm(int order, int uplo, int transa, int transb, double beta)
{
    enum { N = 55, LD = 60 };
    static double wanted[64 * 64];
    bool upper = (uplo == UP) == (order == COL), good = true;

    for (int i = 0; i < 64 * 64; i++)
        A[i] = i % 7 - 3, B[i] = i % 5 - 2, C[i] = wanted[i] = i % 11;
    answer = false;
    cblas_dgemmt(order, uplo, transa, transb, N, 9, 2, A, LD, B, LD, beta, C, LD);
    cblas_dgemm(order, transa, transb, N, N, 9, 2, A, LD, B, LD, beta, wanted, LD);
    for (int j = 0; j < LD; j++)
        for (int i = 0; i < LD; i++) {
            bool named = i < N && j < N && (upper ? i <= j : i >= j);

            good &= C[i + j * LD] == (named ? wanted[i + j * LD] : (i + j * LD) % 11);
        }
    return good;
}

/* gemmt's name in LAPACK since 3.12.1. */
extern __typeof__(dgemmt_) dgemmtr_, dgemmtr_64_;
extern __typeof__(cblas_zgemmt) cblas_zgemmtr, cblas_zgemmtr64_;

static void test_gemmt_on_host(void)
{
    const sc_blas_int n = 5, bad = 3;
    const double one = 1;
    int right = 0;

    for (int i = 0; i < 32; i++)
        right += gemmt_as_gemm(i & 1 ? ROW : COL, i & 2 ? UP : LO, i & 4 ? NO : TR, i & 8 ? NO : CT, i & 16 ? 0 : 3);
    tap_ok(right == 32, "gemmt on the host is a triangle of gemm: %d of 32", right);
    reset();
    dgemmt_("U", "N", "N", &n, &n, &one, A, &n, B, &n, &one, C, &bad);
    tap_ok(complaints == 1 && complaint == 13 && !strncmp(complained, "DGEMMT", 6), "and complains as others do");
    tap_ok(dgemmtr_ == dgemmt_ && (void *)dgemmtr_64_ == (void *)dgemmt_64_ && cblas_zgemmtr == cblas_zgemmt &&
               (void *)cblas_zgemmtr64_ == (void *)cblas_zgemmt64_,
           "gemmtr is another name of it");
}

static void test_level2(void)
{
    const sc_blas_int m = 5, n = 6, lda = 20, inc = -2, one = 1;
    const double alpha = 1.5, beta = -2, z[2] = {1, 2};

    reset();
    dgemv_("t", &m, &n, &alpha, A, &lda, X, &inc, &beta, Y, &one);
    tap_ok(is(SC_OP_GEMV, SC_D, 5, 6, 0) && operands(A, 20, X, -2, Y, 1) && letters("T----"),
           "dgemv_: vectors by their lowest address and signed increment");
    reset();
    cblas_dgemv(ROW, NO, m, n, 1, A, lda, X, 1, 0, Y, 3);
    tap_ok(is(SC_OP_GEMV, SC_D, 6, 5, 0) && operands(A, 20, X, 1, Y, 3) && letters("T----"), "cblas_dgemv by rows");
    reset();
    cblas_dgemv(ROW, CT, m, n, 1, A, lda, X, 1, 0, Y, 3);
    tap_ok(is(SC_OP_GEMV, SC_D, 6, 5, 0) && letters("N----"), "cblas_dgemv by rows, C is T");
    reset();
    cblas_zgemv(ROW, CT, m, n, z, A, lda, X, 1, z, Y, 3);
    tap_ok(is(SC_OP_GEMV, SC_Z, 6, 5, 0) && letters("N----") && seen.conj, "cblas_zgemv by rows, C is conj");
    reset();
    cblas_zhpmv(ROW, UP, 5, z, A, X, 1, z, Y, 3);
    tap_ok(is(SC_OP_HPMV, SC_Z, 0, 5, 0) && letters("---L-") && seen.conj && operands(A, 1, X, 1, Y, 3),
           "cblas_zhpmv by rows");
    reset();
    cblas_zher2(ROW, UP, 5, z, X, 2, Y, -3, A, lda);
    tap_ok(is(SC_OP_HER2, SC_Z, 0, 5, 0) && letters("---L-") && seen.conj && operands(Y, -3, X, 2, A, 20),
           "cblas_zher2 by rows: x and y exchanged");
    reset();
    cblas_dsyr(ROW, UP, 5, 1.5, X, 2, A, lda);
    tap_ok(is(SC_OP_SYR, SC_D, 0, 5, 0) && letters("---L-") && !seen.conj && operands(X, 2, NULL, 0, A, 20),
           "cblas_dsyr by rows: the matrix is c");
    reset();
    cblas_dgbmv(ROW, NO, 6, 5, 1, 2, 1.5, A, lda, X, 2, 0, Y, 1);
    tap_ok(is(SC_OP_GBMV, SC_D, 5, 6, 0) && letters("T----") && seen.kl == 2 && seen.ku == 1 &&
               operands(A, 20, X, 2, Y, 1),
           "cblas_dgbmv by rows: the diagonals exchanged");
    reset();
    cblas_dger(ROW, m, n, 1.5, X, 2, Y, -3, A, lda);
    tap_ok(is(SC_OP_GER, SC_D, 6, 5, 0) && operands(Y, -3, X, 2, A, 20), "cblas_dger by rows: x and y exchanged");
    reset();
    zgerc_(&m, &n, z, X, &one, Y, &inc, A, &lda);
    tap_ok(is(SC_OP_GERC, SC_Z, 5, 6, 0) && operands(X, 1, Y, -2, A, 20), "zgerc_");
    reset();
    cblas_dtrsv(ROW, LO, NO, UN, 6, A, 20, X, -2);
    tap_ok(is(SC_OP_TRSV, SC_D, 0, 6, 0) && operands(A, 20, X, -2, NULL, 0) && letters("T--UU"), "cblas_dtrsv by rows");
}

static void test_level1(void)
{
    const sc_blas_int n = 50, inc = -2, one = 1;
    const double alpha = 1.5;
    float single[2];

    reset();
    daxpy_(&n, &alpha, X, &inc, Y, &one);
    tap_ok(is(SC_OP_AXPY, SC_D, 0, 50, 0) && operands(X, -2, Y, 1, NULL, 0) && seen.alpha[0] == 1.5, "daxpy_");
    reset();
    cblas_csscal(n, 0.25F, X, 2);
    tap_ok(is(SC_OP_SCAL, SC_C, 0, 50, 0) && operands(X, 2, NULL, 0, NULL, 0) && seen.scale_real &&
               seen.alpha[0] == 0.25,
           "cblas_csscal: a real scale");
    reset();
    cblas_csrot(50, X, -2, Y, 1, 0.5F, -0.25F);
    tap_ok(is(SC_OP_ROT, SC_C, 0, 50, 0) && operands(X, -2, Y, 1, NULL, 0) && seen.alpha[0] == 0.5 &&
               seen.beta[0] == -0.25 && seen.alpha[1] == 0,
           "csrot: c is alpha, s is beta");
    reset();
    cblas_srotm(50, (float *)X, 1, (float *)Y, 1, (float[5]){-1, 2, 3, 4, 5});
    tap_ok(is(SC_OP_ROTM, SC_S, 0, 50, 0) && seen.param[0] == -1 && seen.param[4] == 5, "srotm: its parameters");
    reset();
    tap_ok(ddot_(&n, X, &one, Y, &inc) == 2.5 && is(SC_OP_DOT, SC_D, 0, 50, 0), "ddot_ returns the devices' result");
    reset();
    tap_ok(zdotc_(&n, X, &one, Y, &inc, NULL) == 1.25 - 3.0 * __builtin_complex(0.0, 1.0) &&
               is(SC_OP_DOTC, SC_Z, 0, 50, 0),
           "zdotc_ returns it by value");
    reset();
    cblas_cdotu_sub(n, X, 1, Y, 2, single);
    tap_ok(single[0] == 1.5F && single[1] == -2 && is(SC_OP_DOT, SC_C, 0, 50, 0), "cblas_cdotu_sub stores it");
    reset();
    tap_ok(dznrm2_(&n, X, &one) == 1.25 && is(SC_OP_NRM2, SC_Z, 0, 50, 0), "dznrm2_ returns a real number");
    reset();
    tap_ok(idamax_(&n, X, &one) == 7 && cblas_idamax(n, X, 1) == 6, "the index counts from 1 in Fortran, from 0 in C");
    reset();
    cblas_dscal(n, 2, X, -1);
    cblas_daxpy(n, 2, X, 0, Y, 1);
    tap_ok(asked == 0, "increments that devices do not know are the host's");
}

/* --- operands of calls on the host ------------------------------------------------------------------------------ */

static bool is_view(int i, const void *ptr, bool vector, int64_t rows, int64_t cols, int64_t ld, enum sc_access access)
{
    const struct sc_view *v = &views[i];

    if (i < viewed && v->ptr == ptr && v->vector == vector && v->rows == rows && v->cols == cols && v->ld == ld &&
        v->access == access)
        return true;
    tap_diag("view %d of %d: vector %d, %d x %d, ld %d, access %d", i, viewed, v->vector, (int)v->rows, (int)v->cols,
             (int)v->ld, v->access);
    return false;
}

static void test_operands(void)
{
    reset();
    answer = false;
    cblas_dgemm(ROW, TR, NO, 5, 6, 7, 1, A, 20, B, 21, 0, C, 22);
    tap_ok(viewed == 3 && is_view(0, B, false, 6, 7, 21, SC_READ) && is_view(1, A, false, 5, 7, 20, SC_READ) &&
               is_view(2, C, false, 6, 5, 22, SC_WRITE),
           "gemm by rows: the views as stored; C is overwritten when beta is 0");
    reset();
    answer = false;
    cblas_dgemm(COL, NO, NO, 5, 6, 7, 1, A, 20, B, 21, 1, C, 22);
    tap_ok(viewed == 3 && is_view(2, C, false, 5, 6, 22, SC_RDWR), "and updated when it is not");
    reset();
    answer = false;
    cblas_dgbmv(COL, TR, 9, 8, 2, 1, 1, A, 20, X, -3, 0, Y, 2);
    tap_ok(viewed == 3 && is_view(0, A, false, 4, 8, 20, SC_READ) && is_view(1, X, true, 9, 1, 3, SC_READ) &&
               is_view(2, Y, true, 8, 1, 2, SC_WRITE),
           "a band matrix and vectors with increments");
    reset();
    answer = false;
    cblas_dspmv(ROW, UP, 9, 1, A, X, 1, 0, Y, 1);
    tap_ok(viewed == 3 && is_view(0, A, true, 45, 1, 1, SC_READ), "a packed matrix");
    reset();
    answer = false;
    cblas_dcopy(50, X, 1, X, 1);
    tap_ok(viewed == 2 && views[0].access == SC_READ && views[1].access == SC_WRITE,
           "a copy: read first, then overwritten");
    reset();
    answer = false;
    cblas_dgemv(COL, NO, 5, 0, 1, A, 20, X, 1, 0, Y, 1);
    tap_ok(asked == 0 && viewed == 0, "nothing is claimed as overwritten when the host may return at once");
}

/* --- errors ----------------------------------------------------------------------------------------------------- */

static void test_errors(void)
{
    const sc_blas_int m = 5, bad = 2, neg = -1, one = 1, zero = 0;
    const double alpha = 1;
    jmp_buf here;

    reset();
    dgemm_("N", "N", &m, &m, &m, &alpha, A, &bad, B, &m, &alpha, C, &m);
    tap_ok(asked == 0 && viewed == 0 && complaints == 1 && complaint == 8 && !strncmp(complained, "DGEMM", 5),
           "a wrong leading dimension: the host tells the program's xerbla_ (%s, %d)", complained, complaint);
    reset();
    dgemm_("N", "Q", &m, &m, &m, &alpha, A, &m, B, &m, &alpha, C, &m);
    dgemv_("N", &m, &neg, &alpha, A, &m, X, &one, &alpha, Y, &one);
    dtrsv_("U", "N", "X", &m, A, &m, X, &one);
    dgemv_("N", &m, &m, &alpha, A, &m, X, &zero, &alpha, Y, &one);
    cblas_dgemm(7, NO, NO, m, m, m, 1, A, m, B, m, 1, C, m);
    cblas_csyrk(COL, UP, CT, m, m, &alpha, A, m, &alpha, C, m);
    tap_ok(asked == 0 && viewed == 0 && complaints == 6, "letters, sizes, increments, order, conjugate: %d of 6",
           complaints);
    reset();
    escape = &here;
    if (!setjmp(here))
        dgemm_("N", "N", &m, &m, &m, &alpha, A, &bad, B, &m, &alpha, C, &m);
    escape = NULL;
    tap_ok(complaints == 1 && !sc_inside() && sc_trace_routine == 0,
           "an xerbla_ that does not return leaves nothing behind");
}

static void test_small_letters(void)
{
    tap_ok(lsame_("n", "N") && lsame_("T", "T") && !lsame_("n", "T") && !lsame_("@", "`") && !lsame_("[", "{"),
           "lsame_");
}

/* --- the host BLAS calling back --------------------------------------------------------------------------------- */

static uint64_t host_calls(const char *name)
{
    sc_blas_counts_collect();
    for (int i = 1; i < sc_blas_routines; i++)
        if (!strcmp(sc_blas_rows[i].name, name))
            return sc_stats.host[i];
    return 0;
}

static void *count_some(void *unused)
{
    (void)unused;
    for (int i = 0; i < 1000; i++)
        cblas_dasum(1, X, 1);
    return NULL;
}

static void test_host(void)
{
    typedef void geqr2(const sc_blas_int *m, const sc_blas_int *n, double *a, const sc_blas_int *lda, double *tau,
                       double *work, sc_blas_int *info);
    geqr2 *lapack = (geqr2 *)sc_blas_host_symbol("dgeqr2_");
    const sc_blas_int n = 40;
    sc_blas_int info = -1;
    uint64_t before = host_calls("dgemv");
    pthread_t thread[4];

    reset();
    for (int i = 0; i < n * n; i++)
        A[i] = i % 41 == 0 ? 10 : i * 37 % 11;
    answer = false;
    if (lapack)
        lapack(&n, &n, A, &n, X, Y, &info);
    if (lapack && host_calls("dgemv") > before)
        tap_ok(info == 0 && asked > 0, "LAPACK inside the host's library calls the veneers and comes to an end");
    else
        printf("ok %d # SKIP the host BLAS has no LAPACK that calls back\n", ++tap_count_);
    sc_blas_small[1] = 10;
    before = host_calls("dasum");
    for (int i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, count_some, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    tap_ok(host_calls("dasum") - before == 4000, "calls of threads that are gone are counted");
    tap_ok(sc_blas_host_open("nothing") == SC_OK && sc_blas_host_path() && !sc_blas_host_symbol("no such routine"),
           "opened once");
}

int main(void)
{
    sc_blas_host_open(NULL);
    for (int level = 1; level <= 3; level++)
        sc_blas_small[level] = 1;
    sc_config.open = SC_OPEN_FIRST;
    sc_blas_start = start;
    test_gemm();
    test_level3();
    test_rank_2k_and_triangular();
    test_gemmt_on_host();
    test_level2();
    test_level1();
    test_operands();
    test_errors();
    test_small_letters();
    test_host();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
