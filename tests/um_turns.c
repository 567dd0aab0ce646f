/* Managed memory of one address, with um_fake_cuda.c in place of CUDA: which blocks give way where they do not fit, and
 * which calls go to CUDA before the first kernel.
 *
 *     um_turns CASE    CASE: round, by name (SEMCACHE_UM_KERNELS=arguments), on a device that does not hold all blocks;
 *                      beside, the same beside calls on other memory; expected, calls before the first kernel, on one
 *                      or two devices; more, the same with more blocks than the device holds; named, on two devices by
 *                      name; none, on two devices without a launch */
#include <config.h>

#include <string.h>

#include "tests/um_place.h"

void daxpy_(const int *n, const double *alpha, const double *x, const int *incx, double *y, const int *incy);

/* Kernels walk over blocks beside a call on other memory, whose copies give way while kernels work. */
static void test_round_beside(void)
{
    enum { MANY = 5 };
    const int n = N, one = 1;
    const double alpha = 1;
    double *p[MANY], *x = malloc(bytes), *y = malloc(bytes);
    int good = 1;

    for (int b = 0; b < MANY; b++)
        set(p[b] = um_managed(bytes), b);
    set(x, 1);
    set(y, 0);
    for (int i = 0; i < STEPS; i++) {
        if (i % 5 == 0)
            daxpy_(&n, &alpha, x, &one, y, &one);
        for (int b = 0; b < MANY; b++)
            launch(p[b], N, 1);
    }
    for (int b = 0; b < MANY; b++)
        good &= all_are(p[b], b + STEPS);
    tap_ok(good && all_are(y, STEPS / 5), "kernels walk over blocks beside a call on other memory");
    for (int b = 0; b < MANY; b++)
        cudaFree(p[b]);
    free(x);
    free(y);
}

/* Kernels walk over more blocks than the device holds, and nobody waits for them. */
static void test_round(void)
{
    enum { MANY = 7 };
    double *p[MANY], *each = um_managed(bytes);
    size_t up = went_up(), first = 0;
    int good = 1;

    for (int b = 0; b < MANY; b++)
        set(p[b] = um_managed(bytes), b);
    set(each, 1);
    for (int i = 0; i < STEPS; i++) {
        for (int b = 0; b < MANY; b++) {
            launch(p[b], N, 1);
            launch(each, N, 1);
        }
        first = i ? first : went_up() - up;
    }
    up = went_up() - up - first;
    tap_diag("%.2f of %d blocks go up in each round", (double)up / bytes / (STEPS - 1), MANY + 1);
    tap_ok(up < (STEPS - 1) * (MANY - 1) * bytes, "some of the blocks stay from round to round");
    for (int b = 0; b < MANY; b++)
        good &= all_are(p[b], b + STEPS);
    tap_ok(good && all_are(each, 1 + STEPS * MANY), "kernels walk over more blocks than the device holds");
    for (int b = 0; b < MANY; b++)
        cudaFree(p[b]);
}

/* --- kernels to come ---------------------------------------------------------------------------------------------- */

/* As the code that nvcc makes does before main. */
void __cudaRegisterFunction(void **handle, const char *kernel, char *on_device, const char *name, int threads,
                            uint3 *thread, uint3 *block, dim3 *dim, dim3 *grid, int *warps);

static int passed(void)
{
    const int *at = dlsym(RTLD_DEFAULT, "um_fake_passed");

    return at ? *at : -1;
}

/* A program that launches no kernel has all devices after a while. */
static void test_none_launched(double *p)
{
    double *q = um_managed(bytes), two = 2;
    int before = passed(), last = -1;
    cublasHandle_t blas;

    __cudaRegisterFunction(NULL, "kernel", NULL, "kernel", -1, NULL, NULL, NULL, NULL, NULL);
    cublasCreate(&blas);
    set(p, 1);
    set(q, 2);
    for (int i = 0; i < STEPS; i++) {
        last = passed();
        cublasDaxpy(blas, N, &two, p, 1, q, 1);
    }
    tap_ok(passed() > before && passed() == last, "without a launch later calls are semcache's: %d of %d passed",
           passed() - before, STEPS);
    tap_ok(all_are(p, 1) && all_are(q, 2 + 2 * STEPS), "the values are right");
    launch(q, N, 1);
    last = passed();
    cublasDaxpy(blas, N, &two, p, 1, q, 1);
    tap_ok(passed() == last + 1 && all_are(q, 5 + 2 * STEPS), "a kernel changes that");
    cublasDestroy(blas);
    cudaFree(q);
}

/* With several devices a large matrix that no kernel uses stays with semcache. */
static void test_large_stays(double *p)
{
    double *large = um_managed(4 * bytes), *x = um_managed(bytes), one = 1;
    cublasHandle_t blas;
    int before;

    cublasCreate(&blas);
    for (int j = 0; j < 4; j++)
        set(large + j * N, j + 1);
    set(x, 1);
    set(p, 5);
    for (int i = 0; i < STEPS; i++) {
        launch(p, N, 1);
        before = passed();
        cublasDgemv(blas, CUBLAS_OP_N, N, 4, &one, large, N, x, 1, &one, p, 1);
    }
    tap_ok(passed() == before, "a product with a large matrix is semcache's");
    launch(p, N, 1);
    tap_ok(all_are(p, 6 + 11 * STEPS) && all_are(x, 1), "the values are right");
    cublasDestroy(blas);
    cudaFree(large);
    cudaFree(x);
}

/* Calls before the first kernel.  goes: the calls of a program with kernels go to CUDA. */
static void test_expected(double *p, size_t blocks, bool goes)
{
    double *q = um_managed(bytes), *more[BLOCKS], two = 2;
    cublasHandle_t blas;
    size_t up;
    int before = passed();

    for (size_t b = 0; b < blocks; b++)
        set(more[b] = um_managed(bytes), 1);
    cublasCreate(&blas);
    set(p, 1);
    set(q, 2);
    cublasDaxpy(blas, N, &two, p, 1, q, 1);
    tap_ok(passed() == before && all_are(q, 4), "a call of a program without kernels is semcache's");
    __cudaRegisterFunction(NULL, "kernel", NULL, "kernel", -1, NULL, NULL, NULL, NULL, NULL);
    set(p, 1);
    set(q, 2);
    up = went_up();
    cublasDaxpy(blas, N, &two, p, 1, q, 1);
    cublasDaxpy(blas, N, &two, p, 1, q, 1);
    tap_ok(passed() == before + (goes ? 2 : 0), goes ? "a program with kernels calls CUDA's BLAS"
                                                     : "so is a call of a program with kernels here");
    if (goes) {
        launch(q, N, 1);
        tap_ok(went_up() - up >= 2 * bytes && went_up() - up <= 2 * bytes + (4 << 20), "the data goes up once");
    }
    tap_ok(all_are(p, 1) && all_are(q, goes ? 7 : 6), "the values are right");
    cublasDestroy(blas);
    for (size_t b = 0; b < blocks; b++)
        cudaFree(more[b]);
    cudaFree(q);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    double *p = um_managed(bytes);

    if (strcmp(what, "round") == 0)
        test_round();
    else if (strcmp(what, "beside") == 0)
        test_round_beside();
    else if (strcmp(what, "none") == 0)
        test_none_launched(p);
    else
        test_expected(p, strcmp(what, "more") == 0 ? BLOCKS : 0, strcmp(what, "expected") == 0);
    if (strcmp(what, "named") == 0)
        test_large_stays(p);
    tap_ok(wrong() == 0, "no access that a GPU could not do");
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
