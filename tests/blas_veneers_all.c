/* Every routine of routines.tab, Fortran and CBLAS, with every combination of its letters: through the veneer and
 * directly in the host BLAS, bit for bit the same; small, large, with and without devices; and the CBLAS that is made
 * of Fortran routines. */
#include <complex.h>
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "blas/prototypes.h"
#include "coherence/coherence.h"
#include "tests/tap.h"

struct check {
    const char *name;
    sc_blas_fn veneer;
    void (*run)(sc_blas_fn routine);
    int routine;
    enum sc_blas_interface interface;
    enum sc_type type;
};

/* Everything that a routine reads or writes. */
enum { ELEMENTS = 400 };
struct data {
    double A[ELEMENTS], B[ELEMENTS], C[ELEMENTS], P[ELEMENTS], X[ELEMENTS], Y[ELEMENTS];
    double scalar[8][8], result[2];
    float float_alpha[2], float_beta[2];
    double double_alpha[2], double_beta[2];
};
static struct data data;
static const struct { sc_blas_int m, n, k, kl, ku, lda, ldb, ldc, incx, incy; } size = {5, 4, 3, 1, 2, 7, 6, 8, 2, -1};
static const char fortran_side[] = {'L', 'r'}, fortran_uplo[] = {'u', 'L'}, fortran_diag[] = {'N', 'u'};
static const char fortran_trans[] = {'N', 't', 'C'};
static const int cblas_side[] = {141, 142}, cblas_uplo[] = {121, 122}, cblas_diag[] = {131, 132};
static const int cblas_trans[] = {111, 112, 113};

/* What each call of a check has left. */
enum { CALLS_MAX = 64 };
static struct data left[2][CALLS_MAX];
static int calls, side_of_left;
static enum sc_type type;
static int complaints;

static double value(int i) { return (i * 37 % 13 - 6) / 4.0 + (i % 5 == 0 ? 3 : 0); }

static void fill(double *array)
{
    for (int i = 0; i < ELEMENTS; i++) {
        array[i] = value(i);
        if (type == SC_S || type == SC_C)
            ((float *)array)[2 * i] = (float)value(2 * i), ((float *)array)[2 * i + 1] = (float)value(2 * i + 1);
    }
}

static void begin(void)
{
    static const float s_alpha[] = {1.5F, -0.5F}, s_beta[] = {0.5F, 2.0F};
    static const double d_alpha[] = {1.5, -0.5}, d_beta[] = {0.5, 2.0};

    memset(&data, 0, sizeof data);
    fill(data.A), fill(data.B), fill(data.C), fill(data.P), fill(data.X), fill(data.Y);
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) {
            data.scalar[i][j] = 1 + i;
            if (type == SC_S || type == SC_C)
                ((float *)data.scalar[i])[2 * j] = ((float *)data.scalar[i])[2 * j + 1] = (float)(1 + i);
        }
    if (type == SC_S || type == SC_D)
        memset(data.scalar[4], 0, sizeof data.scalar[4]); /* the flag of rotm's parameters */
    memcpy(data.float_alpha, s_alpha, sizeof s_alpha), memcpy(data.float_beta, s_beta, sizeof s_beta);
    memcpy(data.double_alpha, d_alpha, sizeof d_alpha), memcpy(data.double_beta, d_beta, sizeof d_beta);
}
static void end(void) { left[side_of_left][calls++] = data; }

#include "blas/checks.h"

/* The program's own. */
void xerbla_(const char *name, const sc_blas_int *info, size_t length)
{
    (void)name, (void)info, (void)length;
    complaints++;
}

static bool offload_answer;
static int offloads, acquired;
bool sc_blas_offload(int routine, const struct sc_kernel *kernel)
{
    (void)routine, (void)kernel;
    offloads++;
    return offload_answer;
}
void sc_coherence_acquire_view(const struct sc_view *view)
{
    if (view->rows > 0 && view->cols > 0)
        acquired++;
}

static bool near_enough(const struct data *p, const struct data *q)
{
    size_t count = sizeof *p / sizeof(float);
    bool single = type == SC_S || type == SC_C;

    for (size_t i = 0; i < (single ? count : count / 2); i++) {
        double a = single ? (double)((const float *)p)[i] : ((const double *)p)[i];
        double b = single ? (double)((const float *)q)[i] : ((const double *)q)[i];

        if (isnan(a) && isnan(b))
            continue;
        if (!(fabs(a - b) <= (single ? 1e-4 : 1e-12) * (1 + fabs(a))) && memcmp((const float *)p + i, (const float *)q + i, 4))
            return false;
    }
    return true;
}

static bool same(const struct check *check, sc_blas_fn one, sc_blas_fn other, bool exactly)
{
    int count;

    type = check->type;
    side_of_left = calls = 0;
    check->run(one);
    count = calls;
    side_of_left = 1, calls = 0;
    check->run(other);
    for (int i = 0; i < count; i++)
        if (exactly ? memcmp(&left[0][i], &left[1][i], sizeof left[0][i]) : !near_enough(&left[0][i], &left[1][i])) {
            tap_diag("%s: call %d of %d differs", check->name, i + 1, count);
            return false;
        }
    return count > 0 && count == calls;
}

static int differing(void)
{
    int bad = 0;

    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        sc_blas_fn host = sc_blas_host[checks[i].interface][checks[i].routine];

        bad += !same(&checks[i], checks[i].veneer, host, true);
    }
    return bad;
}

static int differing_via_fortran(void)
{
    int bad = 0;

    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        sc_blas_fn *entry = &sc_blas_host[checks[i].interface][checks[i].routine], host = *entry;

        if (checks[i].interface != SC_BLAS_CBLAS)
            continue;
        *entry = sc_blas_via_fortran[checks[i].routine];
        bad += !same(&checks[i], checks[i].veneer, host, false);
        *entry = host;
    }
    return bad;
}

static void set_small(int64_t work)
{
    for (int level = 1; level <= 3; level++)
        sc_blas_small[level] = work;
}
static bool start(void) { return true; }
static bool start_nothing(void) { return false; }

int main(void)
{
    tap_ok(sc_blas_host_open(NULL) == SC_OK && sc_blas_host_path(), "a host BLAS is found");
    tap_ok(sizeof checks / sizeof *checks == 2 * (size_t)(sc_blas_routines - 1) && sc_blas_routines > 150,
           "%d routines", sc_blas_routines - 1);
    tap_ok(differing() == 0 && offloads == 0, "no devices: all are the host's");
    set_small(2);
    tap_ok(differing() == 0 && offloads == 0, "large without a start: all are the host's");
    sc_blas_start = start_nothing;
    tap_ok(differing() == 0 && offloads == 0, "large and no devices after all: all are the host's");
    tap_ok(acquired == 0, "nothing is brought home without devices");
    sc_blas_start = start;
    tap_ok(differing() == 0, "large and declined by the devices: all are the host's");
    tap_ok(offloads > 0 && acquired > offloads, "devices were asked, operands brought home");
    set_small(0);
    tap_ok(differing() == 0, "all are large: all are the host's");
    set_small(INT64_MAX);
    tap_ok(complaints > 0, "the program's own xerbla_ is the one that is called");
    tap_ok(differing_via_fortran() == 0, "the CBLAS made of the Fortran routines gives the same");
    return tap_done();
}
