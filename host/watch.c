/* Watched memory outside the arena: which memory may be watched, by which engine, and the table of ranges.
 *
 * Only private memory is watched, because other processes write to shared memory and to files unseen.  Of private
 * file mappings only those of programs and libraries (.data) are watched: a page that the program has not written
 * shows later writes to its file. */
#define _GNU_SOURCE
#include "host/watch.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/inside.h"
#include "base/config.h"
#include "base/loader.h"
#include "base/locks.h"
#include "base/log.h"
#include "base/own_proc.h"
#include "host/arena.h"

static struct sc_lock lock = SC_LOCK(SC_RANK_WATCH); /* writers of the table, and the engines */

/* Inside the library: the engines hand the library's own memory to the kernel, and an interposer that opened the
 * memory would take the lock again. */
static void take_lock(void)
{
    sc_lock(&lock);
    sc_inside_enter();
}

static void give_lock(void)
{
    sc_inside_leave();
    sc_unlock(&lock);
}

/* --- engines ------------------------------------------------------------------------------------------------------ */

#define ENGINES 2
static const struct sc_watch_engine *engines[ENGINES]; /* available engines, the preferred engine first */
static bool looked;
bool sc_watch_has_engine;

static void find_engines(void)
{
    int count = 0;

    if (sc_config.track != SC_TRACK_MPROTECT && sc_watch_wp.start())
        engines[count++] = &sc_watch_wp;
    if (sc_config.track != SC_TRACK_WP && sc_watch_mprotect.start())
        engines[count++] = &sc_watch_mprotect;
    if (!count && sc_config.track != SC_TRACK_AUTO)
        sc_log(SC_LOG_WARN, "SEMCACHE_TRACK: not on this system (wp: Linux 6.7, permission for userfaultfd; mprotect: "
                            "semcache run): arrays that are not from malloc are copied in each call");
}

const char *sc_host_watch_engine(void)
{
    if (!__atomic_load_n(&looked, __ATOMIC_ACQUIRE)) {
        take_lock();
        if (!looked)
            find_engines();
        __atomic_store_n(&sc_watch_has_engine, engines[0] != NULL, __ATOMIC_RELEASE);
        __atomic_store_n(&looked, true, __ATOMIC_RELEASE);
        give_lock();
    }
    return engines[0] ? engines[0]->name : NULL;
}

/* --- the kind of memory ------------------------------------------------------------------------------------------- */

/* Parses a line of maps in /proc; false when the format is unknown. */
static bool parse(const char *line, uintptr_t *lo, uintptr_t *hi, const char **mode, bool *file, const char **name)
{
    char *end;
    unsigned long inode;

    *lo = strtoul(line, &end, 16);
    if (*end != '-')
        return false;
    *hi = strtoul(end + 1, &end, 16);
    if (*end != ' ')
        return false;
    *mode = end + 1;
    for (int field = 0; field < 3; field++) { /* mode, offset, device */
        end = strchr(end + 1, ' ');
        if (!end)
            return false;
    }
    inode = strtoul(end + 1, &end, 10);
    *file = inode != 0;
    *name = end + strspn(end, " ");
    return true;
}

/* True when the line's mapping contains `at` and may be watched; *hi is the end of the mapping. */
static bool is_usable(const char *line, uintptr_t at, uintptr_t *hi, bool *constant)
{
    const char *mode, *name;
    uintptr_t lo;
    bool file;

    if (!parse(line, &lo, hi, &mode, &file, &name) || at < lo || at >= *hi || mode[0] != 'r' || mode[3] != 'p')
        return false;
    *constant = mode[1] != 'w';
    if (file)
        return sc_loader_has((const void *)at) || sc_lifetime_is_static(at);
    return *name != '[' || strncmp(name, "[heap]", 6) == 0 || strncmp(name, "[stack", 6) == 0 ||
           strncmp(name, "[anon:", 6) == 0;
}

/* Progress through usable mappings: `at` is the end so far, `kinds` has the bits 1 << constant. */
struct walk {
    uintptr_t at, hi;
    unsigned kinds;
};

/* Advances over the lines of maps in /proc that continue at w->at.  Returns the number of bytes consumed: the
 * caller keeps an incomplete line for the next call. */
static size_t walk(struct walk *w, char *text, size_t bytes)
{
    char *line = text, *end;
    bool constant;
    uintptr_t hi;

    while (w->at < w->hi && (end = memchr(line, '\n', (size_t)(text + bytes - line)))) {
        *end = 0;
        if (is_usable(line, w->at, &hi, &constant)) {
            w->at = hi;
            w->kinds |= 1u << constant;
        }
        line = end + 1;
    }
    return (size_t)(line - text);
}

/* Raw system calls, because open and read are cancellation points. */
static struct walk usable_from(uintptr_t lo, uintptr_t hi)
{
    static char text[16384]; /* under the lock */
    struct walk w = {lo, hi, 0};
    int fd = (int)syscall(SYS_openat, AT_FDCWD, SC_OWN_PROC "maps", O_RDONLY | O_CLOEXEC);
    size_t got = 0, used;
    long n;

    sc_assert_held(SC_RANK_WATCH);
    while (fd >= 0 && w.at < hi && (n = syscall(SYS_read, fd, text + got, sizeof text - got)) > 0) {
        got += (size_t)n;
        used = walk(&w, text, got);
        memmove(text, text + used, got - used);
        got -= used;
    }
    if (fd >= 0)
        syscall(SYS_close, fd);
    w.at = w.at < hi ? w.at : hi;
    return w;
}

/* --- the ranges --------------------------------------------------------------------------------------------------- */

/* Readers have no lock, and load base before bytes. They always find the ranges added before the look. The hull
 * therefore grows, bytes first, until the last range ends. */
static void widen_hull(uintptr_t lo, uintptr_t hi)
{
    uintptr_t base = sc_host_watched.base, end = base + sc_host_watched.bytes;

    sc_assert_held(SC_RANK_WATCH);
    if (base == end) {
        __atomic_store_n(&sc_host_watched.base, lo, __ATOMIC_RELEASE);
        __atomic_store_n(&sc_host_watched.bytes, hi - lo, __ATOMIC_RELEASE);
        return;
    }
    lo = lo < base ? lo : base;
    hi = hi > end ? hi : end;
    __atomic_store_n(&sc_host_watched.bytes, hi - lo, __ATOMIC_RELEASE);
    __atomic_store_n(&sc_host_watched.base, lo, __ATOMIC_RELEASE);
}

static void end_hull(void)
{
    sc_assert_held(SC_RANK_WATCH);
    for (const struct sc_watch_range *r = sc_watch_ranges; r < sc_watch_ranges + SC_WATCHED_MAX; r++)
        if (r->hi)
            return;
    __atomic_store_n(&sc_host_watched.bytes, 0, __ATOMIC_RELEASE);
}

static struct sc_watch_range *free_range(void)
{
    sc_assert_held(SC_RANK_WATCH);
    for (struct sc_watch_range *r = sc_watch_ranges; r < sc_watch_ranges + SC_WATCHED_MAX; r++)
        if (!r->hi)
            return r;
    return NULL;
}

/* Under the lock.  With more exclusions than entries, no memory is watched any more. */
static struct sc_watch_run excluded[SC_WATCHED_MAX];
static int exclusions;

static bool is_excluded(uintptr_t lo, uintptr_t hi)
{
    sc_assert_held(SC_RANK_WATCH);
    for (int i = 0; i < exclusions && i < SC_WATCHED_MAX; i++)
        if (excluded[i].lo < hi && excluded[i].hi > lo)
            return true;
    return exclusions > SC_WATCHED_MAX;
}

/* Changes of mappings that threads of the program are making. With more changes than entries, no memory becomes watched
 * until they are over. An entry stays for ever if a signal handler leaves the call by longjmp: its range is not watched
 * again. */
#define CHANGES 32
static struct sc_watch_run changing[CHANGES]; /* hi 0: unused entry */
static int unlisted;

int sc_watch_change(uintptr_t lo, uintptr_t hi)
{
    int i = 0;

    take_lock();
    while (i < CHANGES && changing[i].hi)
        i++;
    if (i < CHANGES)
        changing[i] = (struct sc_watch_run){lo, hi};
    else
        unlisted++;
    give_lock();
    return i;
}

void sc_watch_change_over(int number)
{
    take_lock();
    if (number < CHANGES)
        changing[number].hi = 0;
    else if (unlisted) /* none in a child that was forked during the change */
        unlisted--;
    give_lock();
}

static bool is_changing(uintptr_t lo, uintptr_t hi)
{
    sc_assert_held(SC_RANK_WATCH);
    for (int i = 0; i < CHANGES; i++)
        if (changing[i].hi > lo && changing[i].lo < hi)
            return true;
    return unlisted > 0;
}

void sc_watch_exclude(uintptr_t lo, size_t bytes)
{
    bool known = false;

    take_lock();
    for (int i = 0; i < exclusions && i < SC_WATCHED_MAX && !known; i++)
        known = excluded[i].lo <= lo && excluded[i].hi >= lo + bytes;
    if (!known && exclusions < SC_WATCHED_MAX)
        excluded[exclusions] = (struct sc_watch_run){lo, lo + bytes};
    exclusions += !known && exclusions <= SC_WATCHED_MAX;
    give_lock();
    if (sc_watch_meets(lo, lo + bytes))
        sc_host_forget(lo, bytes);
}

void sc_watch_stack(uintptr_t lo, size_t bytes)
{
    const struct sc_watch_range *r;

    sc_lifetime_stack(lo, bytes);
    r = sc_watch_find(lo, lo + bytes);
    if (r && r->engine->fault)
        sc_host_forget(lo, bytes);
}

static bool add(struct sc_watch_range *r, uintptr_t lo, const struct walk *seen)
{
    sc_assert_held(SC_RANK_WATCH);
    r->constant = seen->kinds == 2;
    for (int i = 0; i < ENGINES && engines[i]; i++)
        if (engines[i]->add(r, lo, seen->at, seen->kinds == 3)) {
            r->engine = engines[i];
            return true;
        }
    return false;
}

enum sc_status sc_host_watch(uintptr_t lo, uintptr_t *hi, uintptr_t least)
{
    enum sc_status status = SC_ERR_UNSUPPORTED;
    struct sc_watch_range *r;
    struct walk seen;

    if (!sc_host_watch_engine())
        return status;
    take_lock();
    r = free_range();
    seen = r ? usable_from(lo, *hi) : (struct walk){0};
    if (seen.at >= least && !is_excluded(lo, seen.at) && !is_changing(lo, seen.at) && add(r, lo, &seen)) {
        *hi = seen.at;
        r->lo = lo;
        __atomic_store_n(&r->hi, seen.at, __ATOMIC_RELEASE);
        widen_hull(lo, seen.at);
        status = SC_OK;
    }
    give_lock();
    return status;
}

void sc_host_unwatch(uintptr_t lo)
{
    struct sc_watch_range *r;

    take_lock();
    r = sc_watch_find(lo, lo + 1);
    if (r) {
        r->engine->remove(r);
        sc_watch_note_end(r); /* before the range ends: a handler finds the one or the other */
        __atomic_store_n(&r->hi, 0, __ATOMIC_SEQ_CST);
        end_hull();
    }
    give_lock();
}

/* A range that a system call is writing counts as written until the system call ends: the kernel may have looked up the
 * pages before they were watched again, and would find a closed page. A system call that begins later notes its range,
 * and then waits for the lock in sc_host_watch_open. */
int sc_host_watch_written(uintptr_t *lo, uintptr_t hi, bool again, struct sc_watch_run *runs, int most)
{
    struct sc_watch_range *r;
    int count = -1;

    take_lock();
    r = sc_watch_find(*lo, hi);
    if (r)
        count = r->engine->written(r, lo, hi, again && !sc_host_in_use(*lo, hi, SC_READ), runs, most);
    give_lock();
    return count;
}

static void open_ranges(uintptr_t lo, uintptr_t hi)
{
    sc_assert_held(SC_RANK_WATCH);
    for (struct sc_watch_range *r = sc_watch_ranges; r < sc_watch_ranges + SC_WATCHED_MAX; r++)
        if (r->hi > lo && r->lo < hi)
            r->engine->open(r, r->lo > lo ? r->lo : lo, r->hi < hi ? r->hi : hi);
}

void sc_host_watch_open(uintptr_t lo, uintptr_t hi)
{
    if (!sc_host_watched.bytes || !sc_watch_meets(lo, hi))
        return;
    take_lock();
    open_ranges(sc_page_floor(lo), sc_page_ceil(hi));
    give_lock();
}

bool sc_host_watch_fault(uintptr_t addr)
{
    struct sc_watch_range *r;
    bool served = false;

    take_lock();
    r = sc_watch_find(addr, addr + 1);
    if (!r)
        served = sc_watch_was(addr);
    else if (r->engine->fault)
        served = r->engine->fault(r, addr);
    give_lock();
    return served;
}

/* --- fork --------------------------------------------------------------------------------------------------------- */

/* The child has no pager to serve its faults, so every page is opened before the fork. */
void sc_watch_fork_prepare(void)
{
    take_lock();
    for (struct sc_watch_range *r = sc_watch_ranges; r < sc_watch_ranges + SC_WATCHED_MAX; r++)
        if (r->hi && r->engine->fault)
            r->engine->open(r, r->lo, r->hi);
}

void sc_watch_fork_parent(void) { give_lock(); }

void sc_watch_fork_child(void)
{
    for (int i = 0; i < SC_WATCHED_MAX; i++)
        sc_watch_ranges[i].hi = 0;
    end_hull();
    memset(changing, 0, sizeof changing); /* of threads that the child does not have */
    unlisted = 0;
    give_lock();
}
/* SPDX-License-Identifier: BSD-2-Clause */
