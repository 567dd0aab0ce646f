/* bench/count_copies.c with a fake CUPTI, which reports copies of known sizes. Asserts the sums of bytes up, down and
 * between devices, and that lost records are counted. */
#include <cupti.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/tap.h"

/* --- CUPTI -------------------------------------------------------------------------------------------------------- */

static const struct {
    CUpti_ActivityKind kind;
    CUpti_ActivityMemcpyKind copy;
    uint64_t bytes;
} told[] = {
    {CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, 1},
    {CUPTI_ACTIVITY_KIND_KERNEL, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, 2},
    {CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, UINT64_C(5) << 32},
    {CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_MEMCPY_KIND_DTOD, 8},
    {CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_MEMCPY_KIND_PTOP, 16},
    {CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, 32},
};
enum { TOLD = sizeof told / sizeof *told };

static CUpti_BuffersCallbackRequestFunc request;
static CUpti_BuffersCallbackCompleteFunc complete;
static int enabled[CUPTI_ACTIVITY_KIND_COUNT];

#pragma GCC visibility push(default)
CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc asks,
                                           CUpti_BuffersCallbackCompleteFunc gives)
{
    request = asks, complete = gives;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
    enabled[kind] = 1;
    return CUPTI_SUCCESS;
}

/* Records are longer in later versions. */
union record {
    CUpti_ActivityMemcpy copy;
    char room[200];
};

CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
    union record *record;
    uint8_t *buffer;
    size_t size, most, count = 0;

    (void)flag;
    request(&buffer, &size, &most);
    record = (union record *)buffer;
    for (size_t i = 0; i < TOLD; i++) {
        if (!enabled[told[i].kind] && told[i].kind != CUPTI_ACTIVITY_KIND_KERNEL)
            continue;
        memset(record + count, 0xff, sizeof *record);
        record[count].copy.kind = told[i].kind;
        record[count].copy.copyKind = (uint8_t)told[i].copy;
        record[count++].copy.bytes = told[i].bytes;
    }
    complete(NULL, 0, buffer, size, count * sizeof *record);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t filled, CUpti_Activity **record)
{
    uint8_t *next = *record ? (uint8_t *)*record + sizeof(union record) : buffer;

    *record = (CUpti_Activity *)next;
    return next < buffer + filled ? CUPTI_SUCCESS : CUPTI_ERROR_MAX_LIMIT_REACHED;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *dropped)
{
    (void)context, (void)stream;
    *dropped = 3;
    return CUPTI_SUCCESS;
}
#pragma GCC visibility pop

/* --- a program into which the driver loads it --------------------------------------------------------------------- */

static void program(const char *module)
{
    void *loaded = dlopen(module, RTLD_NOW);
    int (*begin)(void) = loaded ? (int (*)(void))dlsym(loaded, "InitializeInjection") : NULL;

    if (!begin)
        fprintf(stderr, "%s\n", dlerror());
    exit(begin && begin() ? 0 : 1);
}

int main(void)
{
    const char *build = getenv("top_builddir");
    char module[4096], path[] = "/tmp/count_copies.XXXXXX", line[200] = "";
    int status = -1, out = mkstemp(path);
    pid_t child;

    snprintf(module, sizeof module, "%s/bench/.libs/count_copies.so", build ? build : ".");
    setenv("COUNT_COPIES", path, 1);
    fflush(stdout);
    child = fork();
    if (child == 0)
        program(module);
    waitpid(child, &status, 0);
    tap_ok(status == 0, "the module is loaded and started");
    tap_ok(read(out, line, sizeof line - 1) > 0, "it writes when the program ends");
    line[strcspn(line, "\n")] = 0;
    tap_ok(strcmp(line, "copied up=33 down=21474836480 between=16 copies=4 lost=3") == 0,
           "what went up, down and between devices: %s", line);
    unlink(path);
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
