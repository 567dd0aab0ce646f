/* The routines of LAPACK of the CUDA module over a fake cuSOLVER (tests/fake_cusolver.c): the checks of
 * device_lapack.c, then refusals.  Asserts that operands are unchanged after a refusal by cuSOLVER, without memory, and
 * after values that are not finite.  Asserts that a failure in the middle of a call in place is reported, and that
 * inaccurate singular values are computed again. */
#define LAPACK_WITHOUT_MAIN
#include "device_lapack.c"

#include "fake_cusolver.h"

enum { ORDER_OF_REFUSALS = 70 };

static const enum sc_op operations[] = {SC_OP_POTRF, SC_OP_POTRS, SC_OP_POTRI, SC_OP_GETRF, SC_OP_GETRS, SC_OP_GETRI,
                                        SC_OP_TRTRI, SC_OP_GEQRF, SC_OP_ORGQR, SC_OP_ORMQR, SC_OP_SYEVD, SC_OP_SYGVD,
                                        SC_OP_GESVD, SC_OP_GEEV, SC_OP_LASWP, SC_OP_SYTRF, SC_OP_SYTRS};

static bool works_in_place(enum sc_op op)
{
    return op == SC_OP_POTRF || op == SC_OP_POTRS || op == SC_OP_GETRS || op == SC_OP_GEQRF || op == SC_OP_ORGQR ||
           op == SC_OP_ORMQR || op == SC_OP_LASWP || op == SC_OP_SYTRS;
}

/* A call of an operation with matrices in all slots. */
static struct sc_kernel example(enum sc_op op)
{
    static double values[2][ORDER];
    static int64_t pivots[ORDER];
    const int n = ORDER_OF_REFUSALS;
    struct sc_kernel k = record(op, SC_D, n, n, n);

    memset(k.job, op == SC_OP_GESVD ? 'S' : 'V', 2);
    if (op == SC_OP_GEEV)
        k.job[0] = 'N';
    k.kl = 1;
    for (int i = 0; i < n; i++)
        pivots[i] = n;
    memset(values, 0, sizeof values);
    k.small[0] = values[0];
    k.small[1] = values[1];
    k.pivots = pivots;
    draw_hermitian(&a, SC_D, n, n);
    for (int slot = 0; slot < SLOTS; slot++)
        upload(slot, SC_D, &a, 0);
    return k;
}

/* The operands that a call reads are unchanged; those of singular vectors have no contents yet. */
static bool keeps_operands(const struct sc_kernel *k)
{
    bool vectors = k->op == SC_OP_GESVD || k->op == SC_OP_GEEV;

    return is_unchanged(0) && (vectors || (is_unchanged(1) && is_unchanged(2)));
}

static void test_refusals(void)
{
    static const cusolverStatus_t errors[] = {CUSOLVER_STATUS_INVALID_VALUE, CUSOLVER_STATUS_NOT_SUPPORTED,
                                              CUSOLVER_STATUS_EXECUTION_FAILED};

    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        struct sc_kernel k = example(operations[i]);

        fake.no_memory = true;
        tap_ok(launch(&k) == -1000 - (int64_t)SC_ERR_DEVICE_MEMORY && keeps_operands(&k), "%s without memory",
               name(&k));
        fake.no_memory = false;
        for (int e = 0; e < 3; e++) {
            bool fatal = errors[e] == CUSOLVER_STATUS_EXECUTION_FAILED && works_in_place(k.op);

            fake.error = errors[e];
            tap_ok(launch(&k) == -1000 - (int64_t)(fatal ? SC_ERR_DEVICE : SC_ERR_UNSUPPORTED) && keeps_operands(&k),
                   "%s: status %d of cuSOLVER", name(&k), (int)errors[e]);
        }
        fake.error = CUSOLVER_STATUS_SUCCESS;
        tap_ok(launch(&k) == 0, "%s without an error", name(&k));
    }
}

static void test_values(void)
{
    static const enum sc_op with_values[] = {SC_OP_SYEVD, SC_OP_GESVD, SC_OP_GEEV, SC_OP_SYTRF};

    for (int i = 0; i < 4; i++) {
        struct sc_kernel k = example(with_values[i]);

        a.v[5] = a.v[5 * a.rows] = NAN;
        upload(0, SC_D, &a, 0);
        tap_ok(launch(&k) == REFUSED && is_unchanged(0), "%s of not-a-number", name(&k));
    }
}

/* Vectors of a decomposition by Xgesvd after one by Xgesvdp, for tall and for wide matrices. */
static void decomposes_again(const char *why)
{
    int polar = fake.polar, qr = fake.qr;

    for (int type = SC_D; type < SC_TYPES; type++)
        for (int shape = 0; shape < 3; shape++)
            test_singular((enum sc_type)type, shape == 1 ? 77 : 70, shape == 2 ? 77 : 70, "SS", false);
    tap_ok(fake.polar == polar + 9 && fake.qr == qr + 9, "%s: computed again", why);
}

static void test_accuracy(void)
{
    static const char *const wrongs[] = {"a wrong left vector", "a wrong value", "a right vector of another length"};
    int polar = fake.polar, qr = fake.qr;

    test_singular(SC_D, 70, 70, "SS", false);
    tap_ok(fake.polar == polar + 1 && fake.qr == qr, "right vectors are kept");
    fake.shift = 1;
    decomposes_again("shifted values");
    fake.shift = 0;
    for (int i = 0; i < 3; i++) {
        fake.wrong = i + 1;
        decomposes_again(wrongs[i]);
    }
    fake.wrong = 0;
    polar = fake.polar;
    test_singular(SC_S, 70, 70, "SS", false);
    tap_ok(fake.polar == polar, "real single precision is not computed by Xgesvdp");
}

int main(void)
{
    static const int sizes[] = {1, 2, 33, 70};
    int count;

    ops = fake_open(&count);
    if (!host_blas_symbol("dgemm_")) {
        printf("1..0 # SKIP no host BLAS\n");
        return 0;
    }
    open_slots();
    test_types(sizes, sizeof sizes / sizeof *sizes);
    test_refusals();
    test_values();
    test_accuracy();
    tap_ok(fake.blocks == 0, "all memory is freed");
    close_slots();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
