/* Counts the bytes of a CUDA program's copies, of the program and of libraries.  The driver loads this module into a
 * program, and CUPTI reports every copy.  Interposed functions would miss copies, because cuBLAS and NVBLAS contain a
 * CUDA runtime.
 *
 *     CUDA_INJECTION64_PATH=$PWD/bench/.libs/count_copies.so COUNT_COPIES=FILE program
 *
 * writes one line into FILE (without COUNT_COPIES: to stderr) when the program ends.  Not counted are migrating pages
 * of unified memory, reads of pinned memory by kernels, and copies within a device.  CUPTI's threads call back, so
 * counts are atomic. */
#include <cupti.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { BUFFER = 1 << 20 };

static uint64_t up, down, between, copies; /* bytes; how many */
static uint64_t lost;                      /* records without room in CUPTI's buffers */

__attribute__((visibility("default"))) int InitializeInjection(void);

static void add(uint64_t *sum, uint64_t more) { __atomic_fetch_add(sum, more, __ATOMIC_RELAXED); }

/* The first fields of a record are the same in all versions, also for copies between peers. */
static void count(const CUpti_ActivityMemcpy *copy)
{
    uint64_t *sum = NULL;

    if (copy->kind == CUPTI_ACTIVITY_KIND_MEMCPY2 || copy->copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_PTOP)
        sum = &between;
    else if (copy->copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD || copy->copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOA)
        sum = &up;
    else if (copy->copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH || copy->copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_ATOH)
        sum = &down;
    if (!sum)
        return;
    add(sum, copy->bytes);
    add(&copies, 1);
}

static void CUPTIAPI request(uint8_t **buffer, size_t *size, size_t *records)
{
    *buffer = aligned_alloc(64, BUFFER); /* NULL: CUPTI drops records and reports the number */
    *size = *buffer ? BUFFER : 0;
    *records = 0; /* as many as fit */
}

static void CUPTIAPI complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t filled)
{
    CUpti_Activity *record = NULL;
    size_t dropped = 0;

    (void)size;
    while (filled && cuptiActivityGetNextRecord(buffer, filled, &record) == CUPTI_SUCCESS)
        if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY || record->kind == CUPTI_ACTIVITY_KIND_MEMCPY2)
            count((const CUpti_ActivityMemcpy *)record);
    if (cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS)
        add(&lost, dropped);
    free(buffer);
}

static void say(void)
{
    const char *path = getenv("COUNT_COPIES");
    FILE *out = path ? fopen(path, "w") : stderr;

    cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    if (!out)
        return;
    fprintf(out, "copied up=%" PRIu64 " down=%" PRIu64 " between=%" PRIu64 " copies=%" PRIu64 " lost=%" PRIu64 "\n", up,
            down, between, copies, lost);
    if (path)
        fclose(out);
}

/* Called by the driver when the driver starts in the program. */
int InitializeInjection(void)
{
    if (cuptiActivityRegisterCallbacks(request, complete) != CUPTI_SUCCESS ||
        cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY) != CUPTI_SUCCESS)
        fprintf(stderr, "count_copies: CUPTI does not tell of copies here\n");
    else if (atexit(say) == 0)
        cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY2); /* between peers: not in every version */
    return 1;
}
/* SPDX-License-Identifier: BSD-2-Clause */
