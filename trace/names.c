#include <stdlib.h>
#include <string.h>

#include "trace/store.h"
#include "trace/trace.h"

static const char *const *routine_names;
static int routine_count;
static const char *const *lapack_names;
static int lapack_count;

void sc_trace_name_routines(const char *const *names, int count)
{
    routine_names = names;
    routine_count = count < SC_TRACE_BATCH ? count : SC_TRACE_BATCH;
}

void sc_trace_name_lapack(const char *const *names)
{
    lapack_names = names;
    for (lapack_count = 0; names[lapack_count] && SC_TRACE_LAPACK(lapack_count) < SC_TRACE_TOKEN;)
        lapack_count++;
}

/* A name is written once, under the trace's lock, and its first byte last. */
static char tasks[SC_TRACE_ROUTINES_MAX - SC_TRACE_NAMED][SC_TRACE_TASK_NAME];

static bool is_named(const char *task, const char *name)
{
    return __atomic_load_n(task, __ATOMIC_ACQUIRE) == *name && strncmp(task, name, SC_TRACE_TASK_NAME - 1) == 0;
}

static void set_name(char *task, const char *name)
{
    size_t length = strnlen(name, SC_TRACE_TASK_NAME - 1);

    memcpy(task + 1, name + 1, length - 1);
    __atomic_store_n(task, *name, __ATOMIC_RELEASE);
}

int sc_trace_task(const char *name)
{
    int id = SC_TRACE_TASK;

    if (!name || !*name)
        return id;
    for (int i = 0; i < SC_TRACE_ROUTINES_MAX - SC_TRACE_NAMED && *tasks[i]; i++)
        if (is_named(tasks[i], name))
            return SC_TRACE_NAMED + i;
    sc_trace_lock();
    for (int i = 0; i < SC_TRACE_ROUTINES_MAX - SC_TRACE_NAMED && id == SC_TRACE_TASK; i++) {
        if (*tasks[i] && !is_named(tasks[i], name))
            continue;
        id = SC_TRACE_NAMED + i;
        if (!*tasks[i]) {
            set_name(tasks[i], name);
            sc_trace_store_routine(id);
        }
    }
    sc_trace_unlock();
    return id;
}

const char *sc_trace_routine_name(int routine)
{
    static const char *const sparse[] = {"sparse_gemm", "sparse_mv", "sparse_mm", "sparse_sv", "sparse_sm"};
    int row = routine - (routine < SC_TRACE_SPARSE_END ? SC_TRACE_LAPACK(0) : SC_TRACE_LAPACK_BEYOND);
    static const char *const batch[] = {"sgemm_batch", "dgemm_batch", "cgemm_batch", "zgemm_batch",
                                        "sgemm_batch_strided", "dgemm_batch_strided", "cgemm_batch_strided",
                                        "zgemm_batch_strided"};

    if (routine >= SC_TRACE_NAMED && routine < SC_TRACE_ROUTINES_MAX)
        return *tasks[routine - SC_TRACE_NAMED] ? tasks[routine - SC_TRACE_NAMED] : NULL;
    if (routine >= SC_TRACE_TOKEN && routine < SC_TRACE_NAMED)
        return routine == SC_TRACE_TOKEN ? "semcache_token" : "semcache_run";
    if (routine >= SC_TRACE_BATCH && routine < SC_TRACE_LAPACK_FIRST)
        return batch[routine - SC_TRACE_BATCH];
    if (routine >= SC_TRACE_SPARSE_GEMM && routine < SC_TRACE_SPARSE_END)
        return sparse[routine - SC_TRACE_SPARSE_GEMM];
    if (sc_trace_id_is_lapack(routine))
        return row < lapack_count ? lapack_names[row] : NULL;
    return routine > 0 && routine < routine_count ? routine_names[routine] : NULL;
}

char *sc_trace_line_text(const struct sc_trace_names *names, const struct sc_trace_reading *trace, uint64_t ip)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = ip ? open_memstream(&text, &bytes) : NULL;

    if (!out)
        return NULL;
    names->line(out, trace, ip);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

const char *sc_trace_reason_name(enum sc_trace_reason reason)
{
    static const char *const names[SC_REASONS] = {
        [SC_REASON_FASTER] = "faster, with the move",
        [SC_REASON_RENTED] = "the host had lost what the move costs",
        [SC_REASON_SLOWER] = "the host is faster",
        [SC_REASON_MOVE] = "the move costs more than one call gains",
        [SC_REASON_SOLD] = "the host kept fetching it",
        [SC_REASON_BACK] = "from the host it would have to come back",
        [SC_REASON_CHOSEN] = "the program took the memory for devices",
    };

    return reason < SC_REASONS ? names[reason] : "?";
}
/* SPDX-License-Identifier: BSD-2-Clause */
