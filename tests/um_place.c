/* Managed memory of one address, with um_fake_cuda.c in place of CUDA: kernels find what the CPU has written, the CPU
 * finds what kernels have written, and no more travels than that.
 *
 *     um_place [CASE]    CASE: two, on two GPUs, of which semcache may use one; part, of a block larger than the
 *                        device; small, on a device with too little memory for all; loss, of the device; exit, with
 *                        work under way; named, with SEMCACHE_UM_KERNELS=arguments, also "named two" */
#include <config.h>

#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "semcache/semcache.h"
#include "tests/um_place.h"

static bool small;

/* What every program has to do before it touches memory of kernels.  With one address a touch waits by itself. */
static void finish(void)
{
    if (small)
        cudaDeviceSynchronize();
}

static void test_loop(double *p)
{
    size_t up, home;

    set(p, 1);
    up = went_up();
    launch(p, N, 1);
    tap_ok(went_up() - up >= bytes && went_up() - up <= bytes + (2 << 20), "a launch sends what the CPU has written");
    up = went_up();
    home = came_home();
    for (int i = 0; i < STEPS; i++)
        launch(p, N, 1);
    cudaDeviceSynchronize();
    tap_ok(went_up() == up && came_home() == home, "kernels in a loop move nothing");
    tap_ok(all_are(p, STEPS + 2), "the CPU reads the result");
    tap_ok(came_home() - home >= bytes && came_home() - home <= bytes + (2 << 20) && went_up() == up,
           "which comes home once");
}

/* Launches without new data.  Where there are several GPUs the library asks for the thread's. */
static void test_steady(double *p)
{
    size_t asked, works;
    int gpus = 0;

    set(p, 1);
    launch(p, N, 1);
    cudaDeviceSynchronize();
    launch(p, N, 1);
    cudaGetDeviceCount(&gpus);
    asked = count_of("um_fake_asked");
    works = count_of("um_fake_works");
    for (int i = 0; i < STEPS; i++)
        launch(p, N, 1);
    asked = count_of("um_fake_asked") - asked;
    works = count_of("um_fake_works") - works;
    tap_ok(asked == (gpus > 1 ? STEPS : 0) && works == STEPS,
           "a launch without new data is one call of CUDA: %zu launches and %zu other calls of %d with %d GPUs", works,
           asked, STEPS, gpus);
    tap_ok(all_are(p, 3 + STEPS), "the values are right");
}

/* Without any wait by the program. */
static void test_touch(double *p)
{
    size_t up, home;
    double values;

    set(p, 1);
    launch(p, N, 1);
    tap_ok(p[N / 2] == 2, "a read by the CPU waits for the kernel");
    launch(p, N, 1);
    p[N / 2] = 100;
    tap_ok(p[N / 2 - 1] == 3 && p[0] == 3 && p[N - 1] == 3, "so does a write, which spares its neighbours");
    cudaDeviceSynchronize();
    launch(p, N, 1);
    cudaDeviceSynchronize();
    values = p[N / 2];
    launch(p, N, 1);
    cudaDeviceSynchronize();
    set(p, 8);
    launch(p, N, 1);
    tap_ok(values == 101 && all_are(p, 9), "the CPU overwrites all values without a look");
    set(p, 4);
    p[N / 2] = 101;
    launch(p, N, 0);
    cudaDeviceSynchronize();
    up = went_up();
    home = came_home();
    for (int i = 0; i < STEPS; i++) {
        p[i] += 1;
        launch(p, N, 1);
        cudaDeviceSynchronize();
    }
    /* Reading ahead depends on the time, sending does not. */
    tap_ok(came_home() - home < STEPS * bytes && went_up() - up <= STEPS * bytes / 8,
           "a value in each step moves a part of the array");
    tap_ok(p[N / 2] == 101 + STEPS && p[0] == 5 + STEPS && p[STEPS] == 4 + STEPS, "and all values are right");
}

static void test_blocks(void)
{
    double *p[BLOCKS], *scalar = um_managed(sizeof *scalar);
    size_t up;
    int good = 1;

    for (int b = 0; b < BLOCKS; b++) {
        p[b] = um_managed(bytes);
        set(p[b], b);
    }
    *scalar = 4;
    up = went_up();
    launch(scalar, 1, 1);
    tap_ok(small || went_up() - up > BLOCKS * bytes, "all blocks have one address");
    finish();
    for (int i = 0; i < STEPS; i++)
        for (int b = 0; b < BLOCKS; b++) {
            launch(p[b], N, 1);
            launch(scalar, 1, 1);
            if (i % 5 == b) {
                finish();
                p[b][i] += 1;
            }
        }
    finish();
    for (int b = 0; b < BLOCKS; b++)
        for (int i = 0; i < N; i++)
            good &= p[b][i] == b + STEPS + (i < STEPS && i % 5 == b);
    tap_ok(good && *scalar == 5 + STEPS * BLOCKS, "several blocks, and a scalar");
    for (int b = 0; b < BLOCKS; b += 2)
        cudaFree(p[b]);
    launch(p[1], N, 1);
    finish();
    tap_ok(p[1][N - 1] == 2 + STEPS, "after some have been freed");
    for (int b = 0; b < BLOCKS; b += 2)
        set(p[b] = um_managed(bytes), 7);
    launch(p[0], N, 1);
    launch(p[2], N, 2);
    finish();
    tap_ok(all_are(p[0], 8) && all_are(p[2], 9), "and new ones made");
    for (int b = 0; b < BLOCKS; b++)
        cudaFree(p[b]);
    cudaFree(scalar);
}

/* Calls that semcache serves before the first kernel, and CUDA afterwards. */
static void test_calls(void)
{
    double *x = um_managed(bytes), *y = um_managed(bytes), *result = um_managed(64), one = 1, two = 2;
    cublasHandle_t blas;

    cublasCreate(&blas);
    set(x, 1);
    set(y, 1);
    cublasDscal(blas, N, &two, x, 1);
    cublasDaxpy(blas, N, &one, x, 1, y, 1);
    launch(y, N, 1);
    cublasDasum(blas, N, y, 1, result);
    tap_ok(*result == 4.0 * N, "the result of a call goes to managed memory");
    cublasDscal(blas, N, &two, y, 1);
    launch(x, N, 1);
    cublasDaxpy(blas, N, &one, x, 1, y, 1);
    finish();
    tap_ok(all_are(y, 11) && all_are(x, 3), "calls and kernels in turn");
    finish();
    *result = 3;
    cublasDscal(blas, N, result, y, 1);
    finish();
    tap_ok(all_are(y, 33), "a factor in managed memory");
    set(x, 1);
    tap_ok(cudaMemcpy(y, x, bytes, cudaMemcpyDefault) == cudaSuccess && all_are(y, 1) &&
               cudaMemset(x, 0, bytes) == cudaSuccess && all_are(x, 0),
           "copies and fills");
    cublasDestroy(blas);
    cudaFree(x);
    cudaFree(y);
    cudaFree(result);
}

/* The host's BLAS, asked twice for a sum: semcache knows the second answer, until a kernel writes. */
static void test_repeated(double *p)
{
    double (*sum)(const int *, const double *, const int *) = NULL;
    const int n = N, step = 1;
    int good = 1;

    *(void **)&sum = dlsym(RTLD_DEFAULT, "dasum_");
    set(p, 1);
    for (int i = 0; i < STEPS; i++) {
        for (int k = 0; k < 3; k++)
            good &= sum(&n, p, &step) == (1.0 + i) * N;
        launch(p, N, 1);
        finish();
    }
    tap_ok(good, "a repeated sum sees what a kernel has written");
    launch(p, N, 0);
    finish();
    sum(&n, p, &step);
    for (int i = 0; i < STEPS; i++) {
        launch(p, N, 1);
        finish();
        good &= sum(&n, p, &step) == (2.0 + STEPS + i) * N;
    }
    tap_ok(good, "so does a sum after each kernel");
}

/* A function of a library that semcache does not map. */
static void test_foreign(void)
{
    int (*transform)(int, const double *, double *, int) = NULL;
    double *x = um_managed(bytes), *y = um_managed(bytes);
    size_t up, home;

    *(void **)&transform = dlsym(RTLD_DEFAULT, "cufftExecZ2Z");
    set(x, 1);
    transform(N, x, y, 0);
    transform(N, y, x, 0);
    finish();
    tap_ok(x[N - 1] == 4 && y[0] == 2, "a library with a runtime of its own");
    launch(x, N, 1);
    up = went_up();
    home = came_home();
    transform(N, x, y, 0);
    tap_ok(small || (went_up() == up && came_home() == home), "its calls move nothing");
    finish();
    tap_ok(all_are(y, 10), "and its results are right");
    cudaFree(x);
    cudaFree(y);
}

/* Memory of the device that the program asks for comes before managed memory. */
static void test_room(double *p)
{
    size_t *left = dlsym(RTLD_DEFAULT, "um_fake_left");
    void *device = NULL, *more = NULL;

    set(p, 1);
    launch(p, N, 1);
    *left = 0;
    tap_ok(cudaMalloc(&device, bytes) == cudaSuccess && device, "managed memory gives way to cudaMalloc");
    tap_ok(all_are(p, 2), "and keeps its values");
    *left = 0;
    cudaMalloc(&more, (size_t)1 << 40);
    tap_ok(!more && cudaGetLastError() == cudaSuccess, "too much stays an error");
    *left = SIZE_MAX;
    launch(p, N, 1);
    cudaDeviceSynchronize();
    tap_ok(all_are(p, 3), "and later kernels find the values");
    cudaFree(device);
}

static double *shared;

static void *read_shared(void *result)
{
    size_t *good = result;

    for (int i = 0; i < 2000; i++)
        *good += shared[i * 97 % N] == 6;
    return NULL;
}

/* A thread touches a block that no kernel uses, while kernels run on a second block. */
static void test_threads(double *p)
{
    size_t good = 0;
    pthread_t thread;

    set(shared = um_managed(bytes), 6);
    set(p, 0);
    pthread_create(&thread, NULL, read_shared, &good);
    for (int i = 0; i < 200; i++)
        launch(p, N, 1);
    pthread_join(thread, NULL);
    cudaDeviceSynchronize();
    tap_ok(good == 2000 && all_are(p, 200) && all_are(shared, 6), "a second thread reads meanwhile");
    cudaFree(shared);
}

/* Kernels on two devices in turn. */
static void test_devices(double *p)
{
    double *q = um_managed(bytes);
    int good = 1;

    set(p, 0);
    set(q, 0);
    for (int i = 0; i < STEPS; i++) {
        cudaSetDevice(i % 2);
        launch(p, N, 1);
        launch(q, N, 2);
        cudaDeviceSynchronize();
        if (i % 5 == 4)
            p[i] += 1;
    }
    cudaSetDevice(0);
    for (int i = 0; i < N; i++)
        good &= p[i] == STEPS + (i < STEPS && i % 5 == 4);
    tap_ok(good && all_are(q, 2 * STEPS), "kernels on two devices in turn");
    set(p, 0);
    set(q, 0);
    for (int i = 0; i < STEPS; i++) {
        cudaSetDevice(i % 2);
        launch(i % 2 ? q : p, N, 1);
    }
    for (int d = 0; d < 2; d++) {
        cudaSetDevice(1 - d);
        cudaDeviceSynchronize();
    }
    tap_ok(all_are(p, STEPS / 2) && all_are(q, STEPS / 2), "kernels with a block each, which nobody waits for");
    cudaFree(q);
}

/* After a kernel on a GPU that semcache does not use, the managed blocks stay on the CPU. Kernels of both GPUs use the
 * blocks there, and the program waits before a touch. */
static void test_unused_gpu(double *p)
{
    size_t up = went_up(), home = came_home();

    small = true;
    set(p, 1);
    for (int i = 0; i < STEPS; i++) {
        cudaSetDevice(i % 2);
        launch(p, N, 1);
        cudaDeviceSynchronize();
    }
    cudaSetDevice(0);
    tap_ok(all_are(p, STEPS + 1), "kernels on a GPU that semcache uses and on another one");
    tap_ok(went_up() == up && came_home() == home, "such kernels move nothing");
}

/* A child has the data of the fork, and no devices. */
static void test_fork(double *p)
{
    int status = 1;
    pid_t child;

    set(p, 1);
    launch(p, N, 1);
    finish();
    child = fork();
    if (child == 0) {
        status = !all_are(p, 2);
        p[5] = 20;
        _exit(status);
    }
    waitpid(child, &status, 0);
    tap_ok(p[5] == 20, "two processes share the memory");
    p[5] = 2;
    launch(p, N, 1);
    finish();
    tap_ok(child > 0 && status == 0 && all_are(p, 3), "a forked child reads the data, and the parent goes on");
}

/* A block larger than the device's memory: kernels reach its end on the host. */
static void test_part(void)
{
    enum { PIECES = 6, ALL = PIECES * N };
    double *p = um_managed(PIECES * bytes);
    size_t up, home;
    int good = 1;

    for (int i = 0; i < ALL; i++)
        p[i] = i;
    launch(p, N, 1);
    up = went_up();
    home = came_home();
    tap_ok(up >= bytes && up < (PIECES - 1) * bytes, "a part of the block goes to the device");
    for (int k = 0; k < STEPS; k++)
        for (int i = 0; i < PIECES; i++)
            launch(p + i * N, N, 1);
    cudaDeviceSynchronize();
    tap_ok(went_up() == up && came_home() == home, "kernels on all of the block move nothing");
    for (int i = 0; i < ALL; i++)
        good &= p[i] == i + STEPS + (i < N);
    tap_ok(good, "the CPU reads the result");
    for (int i = 0; i < ALL; i++)
        p[i] = 2 * i;
    for (int i = 0; i < PIECES; i++)
        launch(p + i * N, N, 1);
    cudaDeviceSynchronize();
    for (int i = 0; i < ALL; i++)
        good &= p[i] == 2 * i + 1;
    tap_ok(good, "and writes between kernels");
    for (int i = 0; i < PIECES; i++)
        good &= cudaMemset(p + i * N, 0, bytes) == cudaSuccess;
    for (int i = 0; i < PIECES; i++)
        good &= all_are(p + i * N, 0);
    tap_ok(good, "fills of all of the block");
    tap_ok(cudaFree(p) == cudaSuccess, "the block is freed");
}

/* The device is gone at the first wait: the CPU has what it wrote last, and kernels read the host's memory. */
static void test_loss(double *p)
{
    set(p, 1);
    launch(p, N, 1);
    cudaDeviceSynchronize();
    tap_ok(all_are(p, 1), "a lost device leaves what the CPU wrote last");
    launch(p, N, 1);
    cudaDeviceSynchronize();
    tap_ok(all_are(p, 2), "and later kernels use the host's memory");
}

/* A block that is to stay on the CPU: kernels reach it there. */
static void test_advice(void)
{
    struct cudaMemLocation cpu = {.type = cudaMemLocationTypeHost};
    double *p = um_managed(bytes);
    size_t up, home;

    set(p, 1);
    launch(p, N, 1);
    tap_ok(cudaMemAdvise(p, bytes, cudaMemAdviseSetPreferredLocation, cpu) == cudaSuccess && all_are(p, 2),
           "advice brings a block home");
    up = went_up();
    home = came_home();
    for (int i = 0; i < STEPS; i++) {
        p[i] += 1;
        launch(p, N, 1);
        cudaDeviceSynchronize();
    }
    tap_ok(went_up() == up && came_home() == home && p[0] == 3 + STEPS && p[N - 1] == 2 + STEPS,
           "where it stays, and kernels use it");
    cudaFree(p);
}

/* --- a small block that the CPU and kernels use in turn ----------------------------------------------------------- */

static uint64_t faults(void)
{
    struct semcache_statistics s = {.size = sizeof s};

    semcache_statistics(&s);
    return s.faults_read + s.faults_write;
}

static size_t moved_up, moved_home;
static uint64_t faulted;

static void count_from_here(void)
{
    moved_up = went_up();
    moved_home = came_home();
    faulted = faults();
}

/* Each turn costs so many faults, and pages of 4 KiB each way. */
static bool costs(uint64_t per_step, size_t up, size_t home)
{
    return faults() - faulted <= STEPS * per_step && went_up() - moved_up <= STEPS * up * 4096 &&
           came_home() - moved_home <= STEPS * home * 4096;
}

static void test_bounce(double *p)
{
    double *scalar = um_managed(64), *sum = um_managed(64);
    int good = 1;

    set(p, 0);
    *scalar = *sum = 0;
    launch(p, N, 1);
    cudaDeviceSynchronize();
    count_from_here();
    for (int i = 0; i < STEPS; i++) {
        *scalar = i;
        launch(scalar, 1, 1);
        cudaDeviceSynchronize();
    }
    tap_ok(costs(1, 1, 1), "a value that the CPU writes for each kernel: a fault and a page each way");
    count_from_here();
    for (int i = 0; i < STEPS; i++) {
        launch(sum, 1, 1);
        cudaDeviceSynchronize();
        good &= *sum == i + 1;
    }
    tap_ok(costs(1, 0, 1), "a value that the CPU reads after each kernel: a fault and a page home");
    count_from_here();
    for (int i = 0; i < STEPS; i++) {
        *sum = 0;
        launch(sum, 1, 1);
        cudaDeviceSynchronize();
        good &= *sum == 1;
    }
    tap_ok(costs(2, 1, 1), "both: two faults");
    tap_ok(good && *scalar == STEPS, "the values are right");
    cudaFree(scalar);
    cudaFree(sum);
}

/* --- kernels that name their memory ------------------------------------------------------------------------------- */

static uint64_t write_faults(void)
{
    struct semcache_statistics s = {.size = sizeof s};

    semcache_statistics(&s);
    return s.faults_write;
}

static bool is_block(size_t moved) { return moved >= bytes && moved < bytes + bytes / 2; }

static void test_named(double *p)
{
    double *q = um_managed(bytes);
    size_t up = went_up(), home;
    uint64_t faults;

    set(p, 1);
    set(q, 1);
    launch(p, N, 1);
    tap_ok(is_block(went_up() - up), "a launch sends the block that a parameter points into, and no other");
    faults = write_faults();
    set(q, 2);
    tap_ok(write_faults() == faults, "the pages of the other block stay open");
    p[0] = 2;
    tap_ok(write_faults() > faults, "those of the block are closed");
    up = went_up();
    launch_structure("structure", q, N, 3);
    tap_ok(is_block(went_up() - up), "a pointer inside a structure names its block, too");
    launch(p, N, 0);
    up = went_up();
    home = came_home();
    for (int i = 0; i < STEPS; i++) {
        launch(p, N, 1);
        launch_structure("structure", q, N, 1);
    }
    tap_ok(went_up() == up && came_home() == home, "kernels on the two blocks in turn move nothing");
    tap_ok(all_are(p, 2 + STEPS) && all_are(q, 5 + STEPS), "all values are right");
    set(p, 1);
    set(q, 1);
    launch(p, N, 1);
    up = went_up();
    launch(p, N, 1);
    tap_ok(went_up() == up, "writes to another block do not concern a launch");
    launch(q + N, 0, 1);
    tap_ok(is_block(went_up() - up), "a pointer to the end of a block names the block");
    finish();
    tap_ok(all_are(p, 3) && all_are(q, 1), "all values are right again");
    cudaFree(q);
}

/* What the runtime says of a kernel is asked once, and never at the cost of the program's own errors. */
static void test_questions(double *p)
{
    cudaError_t *error = dlsym(RTLD_DEFAULT, "um_fake_error");
    char kernel[16] = "one";
    double *q = um_managed(bytes);
    size_t up = went_up();

    set(p, 1);
    set(q, 1);
    *error = cudaErrorInvalidConfiguration;
    launch_kernel("unknown", p, N, 1);
    tap_ok(went_up() - up >= 2 * bytes && cudaGetLastError() == cudaErrorInvalidConfiguration,
           "an error of the program stays, and a kernel not known then gets all blocks");
    cudaDeviceSynchronize();
    set(p, 1);
    set(q, 1);
    up = went_up();
    launch_kernel("unknown", p, N, 1);
    tap_ok(is_block(went_up() - up) && cudaGetLastError() == cudaSuccess, "later the kernel is known");
    launch_kernel(kernel, p, N, 1);
    cudaLibraryUnload(NULL);
    strcpy(kernel, "structure");
    up = went_up();
    launch_structure(kernel, q, N, 1);
    tap_ok(is_block(went_up() - up) && all_are(q, 2) && all_are(p, 3),
           "a kernel at the address of an unloaded one has its own parameters");
    cudaFree(q);
}

/* Calls whose operands are lent go to CUDA, and name them. */
static void test_named_calls(double *p)
{
    double *q = um_managed(bytes), *other = um_managed(bytes), *fresh, two = 2;
    cublasHandle_t blas;
    size_t up, home;

    cublasCreate(&blas);
    set(p, 1);
    set(q, 1);
    launch(p, N, 1);
    launch(q, N, 1);
    launch(other, N, 0);
    cudaDeviceSynchronize();
    set(other, 5);
    set(q, 3);
    up = went_up();
    cublasDaxpy(blas, N, &two, p, 1, q, 1);
    tap_ok(is_block(went_up() - up), "a call sends its operands only");
    up = went_up();
    cudaMemcpy(p, q, bytes, cudaMemcpyDefault);
    cudaMemsetAsync(q, 0, bytes, NULL);
    tap_ok(went_up() == up, "so do copies and fills");
    launch(other, N, 1);
    finish();
    tap_ok(all_are(p, 7) && all_are(q, 0) && all_are(other, 6), "with the right values");
    launch(p, N, 0);
    fresh = um_managed(bytes);
    set(fresh, 1);
    up = went_up();
    home = came_home();
    for (int i = 0; i < STEPS; i++)
        cublasDaxpy(blas, N, &two, fresh, 1, p, 1);
    tap_ok(is_block(went_up() - up) && came_home() - home == 0, "a new operand joins those of the kernels");
    tap_ok(all_are(p, 7 + 2 * STEPS) && all_are(fresh, 1), "and stays with them");
    cublasDestroy(blas);
    cudaFree(q);
    cudaFree(other);
    cudaFree(fresh);
}

/* --- the host's pages --------------------------------------------------------------------------------------------- */

enum { UNIT = 2 << 20 };

/* KiB of shared memory that the process has mapped as huge pages. */
static long huge_mapped(void)
{
    FILE *maps = fopen("/proc/self/smaps", "r");
    long sum = 0, kib;
    char line[512];

    while (maps && fgets(line, sizeof line, maps))
        if (sscanf(line, "ShmemPmdMapped: %ld", &kib) == 1)
            sum += kib;
    if (maps)
        fclose(maps);
    return sum;
}

/* Whether the kernel makes huge pages of shared memory on request. */
static bool has_huge(void)
{
    char *at = mmap(NULL, 2 * UNIT, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), *unit;
    bool good;

    if (at == MAP_FAILED)
        return false;
    unit = at + (UNIT - (uintptr_t)at % UNIT) % UNIT;
    *unit = 1;
    good = madvise(unit, UNIT, 25) == 0; /* MADV_COLLAPSE */
    munmap(at, 2 * UNIT);
    return good;
}

static void test_huge(void)
{
    long before = huge_mapped();
    void *p = um_managed(4 * UNIT);

    tap_ok(huge_mapped() > before || !has_huge(), "the host's memory consists of huge pages: %ld KiB",
           huge_mapped() - before);
    cudaFree(p);
}

int main(int argc, char **argv)
{
    double *p = um_managed(bytes);

    small = argc > 1 && strcmp(argv[1], "small") == 0;

    if (argc > 1 && strcmp(argv[1], "loss") == 0) {
        test_loss(p);
        return tap_done();
    }
    if (argc > 1 && strcmp(argv[1], "exit") == 0) {
        set(p, 1);
        launch(p, N, 1);
        tap_ok(1, "the end comes while a kernel works");
        return tap_done();
    }
    if (argc > 1 && strcmp(argv[1], "part") == 0) {
        test_part();
        tap_ok(wrong() == 0, "no access that a GPU could not do");
        return tap_done();
    }
    if (argc > 1 && strcmp(argv[1], "named") == 0) {
        test_named(p);
        test_questions(p);
        test_named_calls(p);
        small = true; /* launches leave some blocks at home */
        test_loop(p);
        test_steady(p);
        test_touch(p);
    } else if (!small) {
        test_huge();
        test_bounce(p);
        test_loop(p);
        test_steady(p);
        test_touch(p);
        test_room(p);
        test_advice();
    }
    test_blocks();
    test_calls();
    test_repeated(p);
    test_foreign();
    test_threads(p);
    if (argc > 1 && strcmp(argv[argc - 1], "two") == 0)
        test_devices(p);
    if (argc > 1 && strcmp(argv[argc - 1], "two") == 0 && semcache_device_count() < 2)
        test_unused_gpu(p);
    test_fork(p);
    tap_ok(wrong() == 0, "no access that a GPU could not do");
    tap_ok(cudaFree(p) == cudaSuccess, "the memory is freed");
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
