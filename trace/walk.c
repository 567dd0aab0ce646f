/* Walks the stack of the calling thread. A walk costs microseconds, and programs allocate and call from the same
 * places again. A walk is therefore remembered with the places of its return addresses on the stack. A later walk from
 * the same depth reads these words. The later walk is the same walk if all words are unchanged: the return address and
 * the end of a frame of fixed size determine the next frame. A frame whose size is chosen at run time could be mistaken
 * only if the old return addresses still lie at the old places. */
#include <config.h>

#include <string.h>
#include <unwind.h>

#include "base/loader.h"
#include "base/stack.h"
#include "trace/store.h"
#include "trace/walk.h"

#define SETS 64
#define WAYS 8 /* walks from the same depth */

/* Protected by the file lock. */
static struct walk {
    const uint64_t *begin; /* place of the first return address; NULL: no walk */
    struct sc_walk frames;
    const uint64_t *place[SC_WALK_FRAMES]; /* of the return addresses, ascending; NULL: unknown */
} walks[SETS][WAYS];
static unsigned next_way;

static _Unwind_Reason_Code (*unwind)(_Unwind_Trace_Fn, void *);
static uintptr_t (*get_ip)(struct _Unwind_Context *);
static uintptr_t (*get_end)(struct _Unwind_Context *); /* of the frame of the called function */

/* A frame behind a signal has no place, and neither have the frames behind it. */
static _Unwind_Reason_Code see_frame(struct _Unwind_Context *context, void *to)
{
    struct walk *walk = to;
    int at = walk->frames.count;
    const uint64_t *place = (const uint64_t *)get_end(context) - 1;
    uint64_t ip = get_ip(context);
    bool follows = at == 0 || (walk->place[at - 1] && place > walk->place[at - 1]);

    if (!ip || at == SC_WALK_FRAMES)
        return _URC_END_OF_STACK;
    if (at == 0 && place != walk->begin) /* functions of this file */
        return _URC_NO_REASON;
    walk->frames.ip[at] = ip;
    walk->place[at] = follows && sc_stack_is((uintptr_t)place) && *place == ip ? place : NULL;
    walk->frames.count++;
    return _URC_NO_REASON;
}

/* The first use of the unwinder reads its tables. */
void sc_walk_prepare(void)
{
    void *library = sc_loader_open("libgcc_s.so.1", RTLD_NOW);
    void *first = library ? sc_loader_symbol(library, "_Unwind_Backtrace") : NULL;
    struct walk walk = {.begin = NULL};

    if (!first)
        return;
    *(void **)&get_ip = sc_loader_symbol(library, "_Unwind_GetIP");
    *(void **)&get_end = sc_loader_symbol(library, "_Unwind_GetCFA");
    if (!get_ip || !get_end)
        return;
    *(void **)&unwind = first;
    unwind(see_frame, &walk);
}

static bool is_same(const struct walk *walk)
{
    int count = walk->frames.count;

    if (!sc_stack_is((uintptr_t)walk->place[count - 1])) /* of a larger stack that was here before */
        return false;
    for (int i = 0; i < count; i++)
        if (*walk->place[i] != walk->frames.ip[i])
            return false;
    return true;
}

static bool recall(const struct walk *set, const uint64_t *begin, struct sc_walk *to)
{
    bool found = false;

    sc_trace_lock();
    for (int i = 0; i < WAYS && !found; i++) {
        found = set[i].begin == begin && is_same(&set[i]);
        if (found) {
            to->count = set[i].frames.count;
            memcpy(to->ip, set[i].frames.ip, (size_t)to->count * sizeof *to->ip);
        }
    }
    sc_trace_unlock();
    return found;
}

/* A thread may fork meanwhile: the child finds no half of a walk. */
static void remember(struct walk *set, const struct walk *walk)
{
    struct walk *to;

    if (!walk->frames.count || !walk->place[walk->frames.count - 1])
        return;
    sc_trace_lock();
    to = &set[next_way++ % WAYS];
    __atomic_store_n(&to->begin, NULL, __ATOMIC_SEQ_CST);
    to->frames = walk->frames;
    memcpy(to->place, walk->place, sizeof to->place);
    __atomic_store_n(&to->begin, walk->begin, __ATOMIC_RELEASE);
    sc_trace_unlock();
}

void __attribute__((noinline)) sc_walk_here(struct sc_walk *to)
{
    const uint64_t *begin = (const uint64_t *)__builtin_frame_address(0) + 1;
    struct walk *set = walks[(uintptr_t)begin / 16 % SETS], walk;

    to->count = 0;
    if (!unwind || recall(set, begin, to))
        return;
    walk.begin = begin;
    walk.frames.count = 0;
    unwind(see_frame, &walk);
    remember(set, &walk);
    *to = walk.frames;
}
/* SPDX-License-Identifier: BSD-2-Clause */
