/* A sparse matrix whose arrays and vectors lie in memory of one kind. Products are compared with the definition while
 * the arrays are written by the CPU, by BLAS calls, by the kernel and, if shared, by a second process. Values are small
 * integers: sums are exact.
 *
 *     sparse_places KIND [again]        prints what is wrong, then "ok" or "failed"; again: no array is written
 *     sparse_places into                results that are overwritten, in memory without a kept copy */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "semcache/semcache.h"

#define N 20000
#define ENTRIES (3 * N)

void dscal_(const int *, const double *, double *, const int *);

/* The arrays of the matrix in one block: they share pages. */
struct arrays {
    double values[ENTRIES];
    int32_t columns[ENTRIES], rows[N + 1];
    double x[N], y[N];
};

static struct arrays in_bss, in_data = {.rows = {1}};
struct arrays in_common __attribute__((common));
static struct semcache_sparse *matrix;
static int wrong;
static bool read_only;
static const double unit = 1, minus = -1;
static const int entries = ENTRIES, one = 1;

static void fill(struct arrays *a)
{
    for (int i = 0; i <= N; i++)
        a->rows[i] = 3 * i;
    for (int i = 0; i < ENTRIES; i++) {
        a->columns[i] = (i / 3 * 7 + i % 3 * 6001) % N;
        a->values[i] = i % 9 - 4;
    }
    for (int i = 0; i < N; i++) {
        a->x[i] = i % 5 - 2;
        a->y[i] = i % 3;
    }
}

/* y := A x + beta y. */
static void product_into(const struct arrays *a, double beta, double *y, const char *after)
{
    static double want[N];
    int bad = 0;

    for (int i = 0; i < N; i++) {
        want[i] = beta * y[i];
        for (int k = a->rows[i]; k < a->rows[i + 1]; k++)
            want[i] += a->values[k] * a->x[a->columns[k]];
    }
    if (semcache_sparse_mv(matrix, 'N', &unit, a->x, &beta, y) != SEMCACHE_OK)
        bad = N;
    for (int i = 0; i < N && bad < N; i++)
        bad += y[i] != want[i];
    if (bad)
        printf("%s: %d wrong\n", after, bad);
    wrong += bad != 0;
}

static void product(struct arrays *a, const char *after) { product_into(a, 1, a->y, after); }

/* Half of the values, by a system call. */
static void read_values(struct arrays *a)
{
    size_t bytes = sizeof a->values / 2;
    int file = memfd_create("values", 0);
    double *numbers = malloc(bytes);

    for (int i = 0; i < ENTRIES / 2; i++)
        numbers[i] = i % 4 - 1;
    if (file < 0 || write(file, numbers, bytes) != (ssize_t)bytes || pread(file, a->values, bytes, 0) != (ssize_t)bytes)
        exit(9);
    free(numbers);
    close(file);
}

/* A second process writes the arrays: seen if they are shared, a private copy otherwise. */
static void write_elsewhere(struct arrays *a)
{
    pid_t child = fork();

    if (child == 0) {
        a->values[ENTRIES - 1] = 40;
        a->columns[5] = N - 1;
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

static void use(struct arrays *a)
{
    fill(a);
    if (semcache_sparse_csr(&matrix, N, N, a->rows, a->columns, a->values, SEMCACHE_FLOAT64, 4, 0) != SEMCACHE_OK)
        exit(9);
    product(a, "the first product");
    for (int i = 0; i < (read_only ? 20 : 1); i++)
        product(a, "nothing");
    if (read_only)
        return;
    a->values[7] = 11;
    product(a, "a value");
    a->columns[ENTRIES - 2] = 3;
    product(a, "a column");
    a->rows[1] = 2; /* the second row begins an entry earlier */
    product(a, "the beginning of a row");
    for (int i = 100; i < ENTRIES; i += 97)
        a->values[i] = 5;
    a->x[N - 1] = 6;
    product(a, "many values, and x");
    dscal_(&entries, &minus, a->values, &one);
    product(a, "a call on the values");
    read_values(a);
    product(a, "a system call");
    write_elsewhere(a);
    product(a, "another process");
    product(a, "nothing, again");
    semcache_sparse_destroy(matrix);
}

static void __attribute__((noinline)) on_stack(void)
{
    struct arrays a;

    use(&a);
}

/* New memory at the same addresses: the library must not use its knowledge of the old memory. */
static void remapped(void)
{
    struct arrays *a = mmap(NULL, sizeof *a, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    use(a);
    if (mmap(a, sizeof *a, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != a)
        exit(9);
    use(a);
    munmap(a, sizeof *a);
}

static void *shared_file(void)
{
    int file = memfd_create("arrays", 0);

    return ftruncate(file, sizeof(struct arrays)) == 0
               ? mmap(NULL, sizeof(struct arrays), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : NULL;
}

/* The second frame has its arrays at the same addresses. */
static void stacks(void)
{
    on_stack();
    on_stack();
}

/* The matrix is from malloc. With little memory on the devices, the product runs in several goes. */
static void into(void)
{
    struct arrays *a = malloc(sizeof *a);
    double *y = mmap(NULL, sizeof a->y, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    fill(a);
    if (semcache_sparse_csr(&matrix, N, N, a->rows, a->columns, a->values, SEMCACHE_FLOAT64, 4, 0) != SEMCACHE_OK)
        exit(9);
    for (int i = 0; i < 10; i++) {
        for (int j = 0; j < N; j++)
            y[j] = 77;
        a->x[i] = i;
        product_into(a, 0, y, "a result that is overwritten");
    }
    semcache_sparse_destroy(matrix);
    free(a);
}

static void in_one_place(const char *kind)
{
    if (strcmp(kind, "into") == 0)
        into();
    else if (strcmp(kind, "bss") == 0)
        use(&in_bss);
    else if (strcmp(kind, "data") == 0)
        use(&in_data);
    else if (strcmp(kind, "common") == 0)
        use(&in_common);
    else if (strcmp(kind, "stack") == 0)
        stacks();
    else if (strcmp(kind, "private") == 0)
        remapped();
    else if (strcmp(kind, "shared") == 0)
        use(mmap(NULL, sizeof in_bss, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    else if (strcmp(kind, "file") == 0)
        use(shared_file());
    else
        use(malloc(sizeof in_bss));
}

int main(int argc, char **argv)
{
    read_only = argc > 2;
    in_one_place(argc > 1 ? argv[1] : "malloc");
    puts(wrong ? "failed" : "ok");
    return wrong != 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
