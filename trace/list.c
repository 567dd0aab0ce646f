#include "trace/list.h"

#include <stdlib.h>
#include <string.h>

#define FIRST 64

bool sc_trace_list_reserve(void *list, size_t *room, size_t count, size_t more, size_t each)
{
    size_t wanted = *room ? *room : FIRST;
    void *larger;

    while (wanted < count + more)
        wanted *= 2;
    if (wanted == *room)
        return true;
    memcpy(&larger, list, sizeof larger);
    larger = realloc(larger, wanted * each);
    if (!larger)
        return false;
    memcpy(list, &larger, sizeof larger);
    *room = wanted;
    return true;
}

int sc_trace_thread_find(const struct sc_trace_threads *threads, uint32_t id)
{
    for (int i = 0; i < threads->count; i++)
        if (threads->id[i] == id)
            return i;
    return -1;
}

int sc_trace_thread_slot(struct sc_trace_threads *threads, uint32_t id, bool *fresh)
{
    int i = sc_trace_thread_find(threads, id);

    *fresh = i < 0;
    if (i < 0) {
        i = threads->count < SC_TRACE_THREADS ? threads->count++ : 0;
        threads->id[i] = id;
    }
    return i;
}
/* SPDX-License-Identifier: BSD-2-Clause */
