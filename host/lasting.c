/* Memory whose end does not pass unseen.  libc's own calls of munmap (in free, at a thread's end) are not ours to see,
 * so not all private memory is: but static data of the program and of the libraries that were loaded with it, which
 * are never unloaded, and mappings that the program itself has made, and will give up, by libc's functions. */
#define _GNU_SOURCE
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>

#include "base/inside.h"
#include "base/quiet.h"
#include "host/watch.h"

#define MAPPINGS_MAX 256
#define MAPPING_LEAST ((size_t)64 << 10)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sc_watch_run mappings[MAPPINGS_MAX]; /* hi 0: none */
static int used;                                   /* entries at the front that may be in use */

/* mmap may be called in a signal handler. */
static void enter(void)
{
    sc_quiet_enter();
    pthread_mutex_lock(&lock);
}

static void leave(void)
{
    pthread_mutex_unlock(&lock);
    sc_quiet_leave();
}

/* --- static data -------------------------------------------------------------------------------------------------- */

static int loaded; /* objects when this one was: the list begins with those that the program was started with */

static int count_object(struct dl_phdr_info *info, size_t bytes, void *count)
{
    (void)info;
    (void)bytes;
    ++*(int *)count;
    return 0;
}

static void __attribute__((constructor)) count_objects(void) { dl_iterate_phdr(count_object, &loaded); }

struct search {
    uintptr_t at;
    int index;
};

/* Moves `at` to the end of the writable segment that it lies in. */
static int look_into(struct dl_phdr_info *info, size_t bytes, void *context)
{
    struct search *s = context;

    (void)bytes;
    if (s->index++ >= loaded)
        return 1;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t lo = sc_page_floor(info->dlpi_addr + p->p_vaddr);
        uintptr_t hi = sc_page_ceil(info->dlpi_addr + p->p_vaddr + p->p_memsz);

        if (p->p_type == PT_LOAD && p->p_flags & PF_W && lo <= s->at && s->at < hi) {
            s->at = hi;
            return 1;
        }
    }
    return 0;
}

static uintptr_t static_until(uintptr_t at)
{
    struct search s = {.at = at};

    dl_iterate_phdr(look_into, &s);
    return s.at;
}

/* --- mappings ----------------------------------------------------------------------------------------------------- */

static uintptr_t mapped_until(uintptr_t at)
{
    enter();
    for (int i = 0; i < used; i++)
        if (mappings[i].lo <= at && at < mappings[i].hi)
            at = mappings[i].hi;
    leave();
    return at;
}

bool sc_lasting_mapping(uintptr_t lo, uintptr_t hi)
{
    for (uintptr_t end; lo < hi; lo = end)
        if ((end = mapped_until(lo)) == lo)
            return false;
    return true;
}

bool sc_lasting(uintptr_t lo, uintptr_t hi)
{
    while (lo < hi) {
        uintptr_t end = static_until(lo);

        if (end == lo)
            end = mapped_until(lo);
        if (end == lo)
            return false;
        lo = end;
    }
    return true;
}

static void put(uintptr_t lo, uintptr_t hi)
{
    int i = 0;

    while (i < used && mappings[i].hi)
        i++;
    if (i == MAPPINGS_MAX)
        return; /* one more is not remembered */
    mappings[i] = (struct sc_watch_run){lo, hi};
    used = i == used ? i + 1 : used;
}

void sc_lasting_mapped(const void *addr, size_t bytes, int prot, int flags)
{
    if (bytes < MAPPING_LEAST || !sc_host_arena.bytes || sc_inside() || !(prot & PROT_WRITE) ||
        (flags & (MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_GROWSDOWN)) != (MAP_PRIVATE | MAP_ANONYMOUS))
        return;
    enter();
    put((uintptr_t)addr, sc_page_ceil((uintptr_t)addr + bytes));
    leave();
}

void sc_lasting_gone(uintptr_t addr, size_t bytes)
{
    uintptr_t lo = sc_page_floor(addr), hi = sc_page_ceil(addr + bytes);

    if (!__atomic_load_n(&used, __ATOMIC_RELAXED) || hi <= lo)
        return;
    enter();
    for (int i = 0; i < used; i++) {
        struct sc_watch_run was = mappings[i];

        if (was.hi <= lo || was.lo >= hi)
            continue;
        mappings[i].hi = 0;
        if (was.lo < lo)
            put(was.lo, lo);
        if (was.hi > hi)
            put(hi, was.hi);
    }
    while (used && !mappings[used - 1].hi)
        used--;
    leave();
}
