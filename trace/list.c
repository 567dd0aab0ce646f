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
