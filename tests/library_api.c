/* The public interface on devices: status codes, bytes moved, and results of every function. Started by library_api.t
 * under `semcache run`; argument: the device. */
#include <string.h>

#include "semcache/semcache.h"
#include "tests/tap.h"

#define N 400
#define BYTES (sizeof(double) * N * N)

void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
            const int *, const double *, const int *, const double *, double *, const int *, size_t, size_t);

/* C := A B, of N x N matrices. */
static void multiply(const double *a, const double *b, double *c)
{
    const int n = N;
    const double one = 1, zero = 0;

    dgemm_("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n, 1, 1);
}

static struct semcache_statistics now(void)
{
    struct semcache_statistics statistics = {.size = sizeof statistics};

    semcache_statistics(&statistics);
    return statistics;
}

/* B is the identity, so that C equals A exactly. */
static void fill(double *a, double *b, double first)
{
    memset(b, 0, BYTES);
    for (int j = 0; j < N; j++) {
        b[j + (size_t)j * N] = 1;
        for (int i = 0; i < N; i++)
            a[i + (size_t)j * N] = first + i - 2 * j;
    }
}

static void test_before(void)
{
    char something[64];
    struct semcache_statistics statistics = {.size = 0};

    tap_ok(strcmp(semcache_version(), "0.1.0") == 0, "the version is that of the header");
    tap_ok(strcmp(semcache_status_name(SEMCACHE_OK), "ok") == 0, "statuses have names");
    tap_ok(strcmp(semcache_status_name((enum semcache_status)99), "unknown status") == 0, "even unknown ones");
    tap_ok(semcache_device_count() == 0, "no device is open yet");
    tap_ok(semcache_acquire(something, sizeof something, SEMCACHE_READ) == SEMCACHE_OK, "any memory may be acquired");
    tap_ok(semcache_acquire(something, sizeof something, (enum semcache_mode)0) == SEMCACHE_ERROR_INVALID,
           "but in a known mode");
    tap_ok(semcache_acquire(something, SIZE_MAX, SEMCACHE_READ) == SEMCACHE_ERROR_INVALID,
           "and within the address space");
    tap_ok(semcache_sync(NULL, 0) == SEMCACHE_OK, "there may be nothing to wait for");
    tap_ok(semcache_invalidate(something, sizeof something) == SEMCACHE_OK, "any memory may be invalidated");
    tap_ok(semcache_statistics(&statistics) == SEMCACHE_ERROR_INVALID, "statistics without a size are refused");
    tap_ok(semcache_set_device("gpu") == SEMCACHE_ERROR_INVALID, "an unknown device is refused");
    tap_ok(semcache_set_device(NULL) == SEMCACHE_ERROR_INVALID, "so is none given");
}

static void test_start(const char *device)
{
    tap_ok(semcache_set_device(device) == SEMCACHE_OK, "device %s is accepted", device);
    tap_ok(semcache_init() == SEMCACHE_OK, "and opens");
    tap_ok(semcache_device_count() > 0, "there are devices now");
    tap_ok(semcache_init() == SEMCACHE_OK, "opening twice is opening once");
    tap_ok(semcache_set_device("none") == SEMCACHE_ERROR_TOO_LATE, "another device comes too late");
}

static void test_prefetch_errors(double *a)
{
    const int64_t huge = INT64_C(1) << 40;
    double on_stack[16] = {0};

    tap_ok(semcache_prefetch(a, N, N, N - 1, SEMCACHE_FLOAT64, 0) == SEMCACHE_ERROR_INVALID, "ld < rows");
    tap_ok(semcache_prefetch(a, N, huge, huge, SEMCACHE_FLOAT64, 0) == SEMCACHE_ERROR_INVALID &&
           semcache_prefetch(a, huge << 21, 1, huge << 21, SEMCACHE_FLOAT64, 0) == SEMCACHE_ERROR_INVALID,
           "sizes whose bytes fit into no integer");
    tap_ok(semcache_prefetch(a, -1, N, N, SEMCACHE_FLOAT64, 0) == SEMCACHE_ERROR_INVALID, "rows < 0");
    tap_ok(semcache_prefetch(a, N, N, N, (enum semcache_type)4, 0) == SEMCACHE_ERROR_INVALID, "an unknown type");
    tap_ok(semcache_prefetch(a, N, N, N, SEMCACHE_FLOAT64, 99) == SEMCACHE_ERROR_INVALID, "a device that is not there");
    tap_ok(semcache_prefetch(a, N, 0, N, SEMCACHE_FLOAT64, 0) == SEMCACHE_OK, "an empty matrix is no work");
    tap_ok(semcache_prefetch(on_stack, 4, 4, 4, SEMCACHE_FLOAT64, 0) == SEMCACHE_ERROR_UNSUPPORTED,
           "memory on the stack");
}

static void test_moves(double *a, double *b, double *c)
{
    struct semcache_statistics start = now(), after;

    fill(a, b, 1);
    tap_ok(semcache_prefetch(a, N, N, N, SEMCACHE_FLOAT64, 0) == SEMCACHE_OK, "prefetch");
    after = now();
    tap_ok(after.bytes_h2d - start.bytes_h2d == BYTES, "moves the matrix to the device, once");
    multiply(a, b, c);
    after = now();
    tap_ok(after.calls_offloaded - start.calls_offloaded == 1, "the call is offloaded");
    tap_ok(after.bytes_h2d - start.bytes_h2d <= 2 * BYTES, "A is not sent again, C never");
    tap_ok(after.bytes_d2h == start.bytes_d2h, "nothing comes back by itself");
    tap_ok(semcache_sync(c, BYTES) == SEMCACHE_OK, "sync");
    after = now();
    tap_ok(after.bytes_d2h - start.bytes_d2h == BYTES, "brings C home");
    tap_ok(memcmp(a, c, BYTES) == 0, "C = A I");
    tap_ok(now().faults_read == after.faults_read, "and looking at it faults no more");
}

static void test_changes(double *a, double *b, double *c)
{
    struct semcache_statistics start, after;

    tap_ok(semcache_acquire(a, BYTES, SEMCACHE_READWRITE) == SEMCACHE_OK, "acquire for writing");
    semcache_acquire(b, BYTES, SEMCACHE_READWRITE);
    start = now();
    fill(a, b, 1000);
    tap_ok(semcache_acquire(c, BYTES, SEMCACHE_WRITE) == SEMCACHE_OK, "acquire for overwriting");
    memset(c, 0xff, BYTES);
    after = now();
    tap_ok(after.faults_write == start.faults_write && after.faults_read == start.faults_read,
           "what was acquired does not fault");
    multiply(a, b, c);
    after = now();
    tap_ok(after.bytes_h2d - start.bytes_h2d >= BYTES, "what the CPU wrote is sent again");
    tap_ok(c[0] == 1000 && c[N - 1] == 1000 + N - 1 && memcmp(a, c, BYTES) == 0, "and used");
    start = now();
    tap_ok(semcache_invalidate(a, BYTES) == SEMCACHE_OK, "invalidate");
    multiply(a, b, c);
    after = now();
    tap_ok(after.bytes_h2d - start.bytes_h2d >= BYTES, "the devices' copies are gone");
    tap_ok(memcmp(a, c, BYTES) == 0, "the result is right");
}

static void test_alloc(void)
{
    unsigned char *small = semcache_alloc(10);

    tap_ok(small && (uintptr_t)small % 4096 == 0, "a small allocation is page-aligned");
    tap_ok(semcache_alloc(SIZE_MAX) == NULL, "an absurd one fails");
    tap_ok(semcache_prefetch(small, 2, 1, 2, SEMCACHE_FLOAT32, SEMCACHE_ANY_DEVICE) == SEMCACHE_OK,
           "and it can be on a device");
    semcache_free(small);
    semcache_free(NULL);
}

static void test_json(void)
{
    static char text[1 << 14];
    FILE *out = fmemopen(text, sizeof text, "w");

    tap_ok(semcache_statistics_write(out) == SEMCACHE_OK, "statistics are written");
    fclose(out);
    tap_ok(strstr(text, "\"dgemm\": {\"offloaded\": 3,") != NULL, "and have the calls");
    tap_ok(strstr(text, "\"devices\": [\"") != NULL, "and the devices");
    tap_ok(semcache_statistics_write(NULL) == SEMCACHE_ERROR_INVALID, "to nowhere they are not");
}

static void test_end(double *a, double *b, double *c)
{
    fill(a, b, -5);
    multiply(a, b, c);
    tap_ok(semcache_shutdown() == SEMCACHE_OK, "shutdown");
    tap_ok(semcache_device_count() == 0, "no devices any more");
    tap_ok(memcmp(a, c, BYTES) == 0, "the last result came home");
    memset(c, 0, BYTES);
    multiply(a, b, c);
    tap_ok(memcmp(a, c, BYTES) == 0, "calls go on, on the host");
    tap_ok(semcache_shutdown() == SEMCACHE_OK, "shutdown twice");
    tap_ok(semcache_init() == SEMCACHE_ERROR_NO_DEVICE, "devices are not opened again");
    tap_ok(semcache_prefetch(a, N, N, N, SEMCACHE_FLOAT64, 0) == SEMCACHE_ERROR_NO_DEVICE, "nor used");
    tap_ok(semcache_set_device("none") == SEMCACHE_ERROR_TOO_LATE, "nor chosen");
}

int main(int argc, char **argv)
{
    double *a, *b, *c;

    test_before();
    test_start(argc > 1 ? argv[1] : "auto");
    a = semcache_alloc(BYTES);
    b = malloc(BYTES);
    c = malloc(BYTES);
    test_prefetch_errors(a);
    test_moves(a, b, c);
    test_changes(a, b, c);
    test_alloc();
    test_json();
    test_end(a, b, c);
    semcache_free(a);
    free(b);
    free(c);
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
