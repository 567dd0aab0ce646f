/* Every routine of blas/veneers/routines.tab, by Fortran and CBLAS names, with 32-bit and 64-bit integers and every
 * combination of letters. Asserts that a call through the veneer gives the same bits as a direct call of the host BLAS:
 * for small and large calls, with and without devices, and for routines that are made of further routines. */
#include <complex.h>
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "base/config.h"
#include "blas/veneers/prototypes.h"
#include "coherence/access.h"
#include "coherence/call.h"
#include "coherence/task.h"
#include "tests/blas_data.h"
#include "tests/tap.h"

static int complaints;
/* The program's own. */
void xerbla_(const char *name, const sc_blas_int *info, size_t length)
{
    (void)name, (void)info, (void)length;
    complaints++;
}

static bool offload_answer;
static int offloads, acquired, of_lesser_order;
bool sc_blas_offload(int routine, const struct sc_kernel *kernel, bool once, struct sc_blas_home *home)
{
    (void)routine, (void)once, (void)home;
    offloads++;
    of_lesser_order += kernel->side && (kernel->side == 'L' ? kernel->m : kernel->n) < size.m;
    return offload_answer;
}
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
    if (view->rows > 0 && view->cols > 0)
        acquired++;
}

static int differing(void)
{
    int bad = 0;

    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        const struct check *plain = plain_of(&checks[i]);
        sc_blas_fn host = sc_blas_host[plain->interface][plain->routine];

        bad += !same_as(&checks[i], checks[i].veneer, plain, host, true);
    }
    return bad;
}

/* Replaces the host's entry for one interface by the routine made of further routines. */
static int differing_made_of(enum sc_blas_interface interface, const sc_blas_fn *made)
{
    int bad = 0;

    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        sc_blas_fn *entry = &sc_blas_host[checks[i].interface][checks[i].routine], before = *entry;
        const struct check *plain = plain_of(&checks[i]);
        sc_blas_fn host = sc_blas_host[plain->interface][plain->routine];

        if (checks[i].interface != interface)
            continue;
        *entry = made[checks[i].routine];
        bad += !same_as(&checks[i], checks[i].veneer, plain, host, false);
        *entry = before;
    }
    return bad;
}

/* A host's zdotu_ of the second convention: the result goes through a hidden argument. */
static void hidden_zdotu(double complex *value, const sc_blas_int *n, const void *x, const sc_blas_int *incx,
                         const void *y, const sc_blas_int *incy)
{
    cblas_zdotu_sub(*n, x, *incx, y, *incy, value);
}
static bool hidden_differs(void)
{
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        int routine = checks[i].routine;

        if (strcmp(checks[i].name, "zdotu_"))
            continue;
        sc_blas_hidden[0][routine] = (sc_blas_fn)hidden_zdotu;
        return !same_as(&checks[i], sc_blas_of_hidden[0][routine], &checks[i], sc_blas_host[SC_BLAS_F77][routine],
                        false);
    }
    return true;
}

static void set_small(int64_t work)
{
    for (int level = 1; level <= 3; level++)
        sc_blas_small[level] = work;
}
/* Called once for each large call. */
static int looked_at;
static bool start(bool now)
{
    looked_at++;
    return now;
}
static bool start_nothing(bool now) { return now && false; }

/* The work of a call with these sizes; o: order of the call's matrix. */
static int64_t work_of(const char *work, int64_t o)
{
    int64_t product = 1;

    for (; *work; work++)
        product *= *work == 'm' ? size.m : *work == 'n' ? size.n : *work == 'k' ? size.k : *work == 'o' ? o : 1;
    return product;
}

static int large_calls(const struct check *check, int64_t threshold)
{
    set_small(threshold);
    calls = looked_at = of_lesser_order = 0;
    type = check->type;
    check->run(check->veneer);
    return looked_at;
}

/* Number of routines whose threshold is wrong. A routine must be looked at from its work on, and not below. Routines
 * with a side have two orders; from the lesser work on only one side is looked at. */
static int misjudged(void)
{
    int bad = 0;

    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        const struct check *check = &checks[i];
        bool sides = strchr(check->work, 'o') != NULL;
        int64_t least = work_of(check->work, size.n), most = work_of(check->work, size.m);
        int all = large_calls(check, INT64_MIN), none = large_calls(check, most + 1);
        int from_least = large_calls(check, least), from_most = large_calls(check, most);

        if (none || from_least != all || from_most != (sides ? all / 2 : all) || (sides && of_lesser_order) ||
            !all != !strcmp(check->work, "0")) {
            tap_diag("%s: %d calls, %d from %lld on, %d from %lld, %d above", check->name, all, from_least,
                     (long long)least, from_most, (long long)most, none);
            bad++;
        }
    }
    return bad;
}

/* Sizes whose product overflows 64 bits: the devices take the call. The host would return at once, or never. */
static int enormous_taken(void)
{
    static const int64_t wide = INT64_C(1) << 32;
    static const sc_blas_int narrow = 1 << 30;
    static const double one = 1;

    offload_answer = true;
    offloads = 0;
    dgemm_64_("N", "N", &wide, &wide, &wide, &one, NULL, &wide, NULL, &wide, &one, NULL, &wide);
    dtrsm_64_("L", "L", "N", "N", &wide, &wide, &one, NULL, &wide, NULL, &wide);
    dgemm_("N", "N", &narrow, &narrow, &narrow, &one, NULL, &narrow, NULL, &narrow, &one, NULL, &narrow);
    dtrsm_("L", "L", "N", "N", &narrow, &narrow, &one, NULL, &narrow, NULL, &narrow);
    cblas_dgemm(102, 111, 111, narrow, narrow, narrow, 1, NULL, narrow, NULL, narrow, 1, NULL, narrow);
    offload_answer = false;
    return offloads;
}

int main(void)
{
    data_start(sizeof(struct blas_data));
    tap_ok(sc_blas_host_open(NULL) == SC_OK && sc_blas_host_path(), "a host BLAS is found");
    tap_ok(sizeof checks / sizeof *checks == 4 * (size_t)(sc_blas_routines - 1) && sc_blas_routines > 150,
           "%d routines", sc_blas_routines - 1);
    tap_ok(differing() == 0 && offloads == 0, "no devices: all are the host's");
    set_small(2);
    tap_ok(differing() == 0 && offloads == 0, "large without a start: all are the host's");
    sc_blas_start = start_nothing;
    tap_ok(differing() == 0 && offloads == 0, "large and no devices after all: all are the host's");
    tap_ok(acquired == 0, "nothing is brought home without devices");
    sc_config.open = SC_OPEN_FIRST;
    sc_blas_start = start;
    tap_ok(differing() == 0, "large and declined by the devices: all are the host's");
    tap_ok(offloads > 0 && acquired > offloads, "devices were asked, operands brought home");
    set_small(0);
    tap_ok(differing() == 0, "all are large: all are the host's");
    tap_ok(misjudged() == 0, "each is looked at from its work on");
    set_small(INT64_MAX);
    tap_ok(enormous_taken() == 5, "products beyond 64 bits are not small");
    tap_ok(complaints > 0, "the program's own xerbla_ is the one that is called");
    tap_ok(differing_made_of(SC_BLAS_CBLAS, sc_blas_via_fortran[0]) == 0,
           "the CBLAS made of the Fortran routines gives the same");
    tap_ok(differing_made_of(SC_BLAS_CBLAS_64, sc_blas_via_fortran[1]) == 0, "that with 64-bit integers, too");
    tap_ok(sc_blas_abi_is_hidden((sc_blas_fn)hidden_zdotu) &&
               !sc_blas_abi_is_hidden((sc_blas_fn)sc_blas_host_symbol("zdotu_")),
           "how complex functions return is found out");
    tap_ok(!hidden_differs(), "one with a hidden argument gives the same");
    sc_blas_host_counts = 3;
    tap_ok(differing_made_of(SC_BLAS_F77_64, sc_blas_narrow[0]) == 0 &&
               differing_made_of(SC_BLAS_CBLAS_64, sc_blas_narrow[1]) == 0,
           "vectors longer than the host's integers go to it in parts");
    sc_blas_host_counts = INT32_MAX;
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
