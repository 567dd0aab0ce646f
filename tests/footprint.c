/* The effects of a few large BLAS calls on the process: prints the number of threads, the bytes of the arrays whose
 * pages are not readable and writable, and a sum over the bits of a product. Linked with the BLAS only. */
#include <dirent.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
            const int *, const double *, const int *, const double *, double *, const int *, size_t, size_t);

static int threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int count = 0;

    for (struct dirent *entry; tasks && (entry = readdir(tasks)) != NULL;)
        count += entry->d_name[0] != '.';
    if (tasks)
        closedir(tasks);
    return count;
}

/* Bytes of [p, p + bytes) whose mapping is not read-write. */
static uint64_t closed(const void *p, size_t bytes)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    uintptr_t from, to, begin = (uintptr_t)p, end = begin + bytes;
    uint64_t sum = 0;
    char mode[5], line[512];

    while (maps && fgets(line, sizeof line, maps))
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &from, &to, mode) == 3 && from < end && to > begin &&
            (mode[0] != 'r' || mode[1] != 'w'))
            sum += (to < end ? to : end) - (from > begin ? from : begin);
    if (maps)
        fclose(maps);
    return sum;
}

int main(void)
{
    int n = 1000;
    size_t bytes = sizeof(double) * (size_t)n * (size_t)n;
    double *a = malloc(bytes), *c = malloc(bytes), unit = 1, zero = 0, error = 0;
    uint64_t protected_bytes, bits = 0;
    int tasks;

    if (!a || !c)
        return 2;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            a[j * n + i] = i == j ? 2 : 0;
    for (int round = 0; round < 3; round++)
        dgemm_("N", "N", &n, &n, &n, &unit, a, &n, a, &n, &zero, c, &n, 1, 1);
    tasks = threads();
    protected_bytes = closed(a, bytes) + closed(c, bytes);
    for (int i = 0; i < n; i++)
        error += (c[i * n + i] - 4) * (c[i * n + i] - 4);
    for (int i = 0; i < n * n; i++) /* rounded products and sums */
        a[i] = 1.0 / (1 + i % 1009);
    dgemm_("N", "T", &n, &n, &n, &unit, a, &n, a, &n, &zero, c, &n, 1, 1);
    for (int i = 0; i < n * n; i++) {
        uint64_t element;

        memcpy(&element, &c[i], sizeof element);
        bits = bits * UINT64_C(6364136223846793005) + element;
    }
    printf("footprint threads=%d closed=%" PRIu64 " bits=%016" PRIx64 " %s\n", tasks, protected_bytes, bits,
           error <= 0 ? "ok" : "WRONG");
    return error <= 0 ? 0 : 1;
}
/* SPDX-License-Identifier: BSD-2-Clause */
