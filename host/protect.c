/* Page protection of arena memory.  A byte per page, in a table for each range of the arena, holds the protection that
 * is applied now.
 *
 * F1 A page's byte is never more permissive than the page: the byte is written before a page is closed and after a
 * page is opened.  A faulting thread that reads "open" may therefore retry and will not spin.  A page whose byte
 * reads "closed" may already be open.  Callers serialise by the protocol's lock.  Readers, among them the signal
 * handler, take no lock.
 *
 * F9 The number of mappings of the arena is counted exactly: one for each change of protection between neighbouring
 * pages.  Beyond the budget no page is closed, which leaves mappings to the program's own mmap and pthread_create;
 * opening is limited only by the kernel.  The kernel refuses every split of a mapping once the program has used up
 * the limit.  The protocol then fetches more data, until no mapping has to be split (coherence/acquire.c, mend). */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/bytes.h"
#include "base/log.h"
#include "host/arena.h"
#include "host/fault_int.h"
#include "host/host_int.h"

size_t sc_host_mappings_budget; /* 0: not known yet */
size_t sc_host_mappings;
size_t sc_host_mappings_limit; /* tests: replaces the kernel's limit, for the arena alone; 0: none */
uint32_t sc_host_prot_changes;

/* Number of calls of sc_host_can_close that are refused after the kernel has refused a change. */
#define PAUSE 1000
static unsigned pause_left;
static bool was_refused;

struct table {
    const struct sc_host_range *range;
    uint8_t *applied; /* by page of the range; NULL while every page is read-write */
};
static struct table tables[] = {{&sc_host_arena, NULL}, {&sc_host_zone, NULL}};

/* The table for an address; NULL: outside the arena. */
static struct table *table_of(uintptr_t addr)
{
    return sc_host_in_range(&sc_host_arena, (const void *)addr)  ? &tables[0]
           : sc_host_in_range(&sc_host_zone, (const void *)addr) ? &tables[1]
                                                                  : NULL;
}

static size_t pages_of(const struct table *t) { return t->range->bytes >> SC_PAGE_SHIFT; }

size_t sc_host_mappings_most(void)
{
    char text[32] = "65530"; /* the kernel's default */
    int fd = open("/proc/sys/vm/max_map_count", O_RDONLY | O_CLOEXEC);

    if (fd >= 0) {
        ssize_t n = read(fd, text, sizeof text - 1);

        text[n > 0 ? n : 0] = 0;
        close(fd);
    }
    return strtoul(text, NULL, 10);
}

static enum sc_status table_open(struct table *t)
{
    void *table;

    if (t->applied)
        return SC_OK;
    if (!sc_host_mappings_budget)
        sc_host_mappings_budget = sc_host_mappings_most() / 2; /* the program has mappings of its own */
    table = sc_host_sys_mmap(NULL, pages_of(t), PROT_READ | PROT_WRITE, SC_HOST_MAP_UNCOUNTED);
    if (table == MAP_FAILED) {
        sc_log(SC_LOG_ERROR, "no address space for the page table of the arena: %s", strerror(errno));
        return SC_ERR_MEMORY;
    }
    __atomic_store_n(&t->applied, table, __ATOMIC_RELEASE);
    return SC_OK;
}

enum sc_prot sc_host_prot(uintptr_t addr)
{
    const struct table *t = table_of(addr);
    const uint8_t *applied = t ? __atomic_load_n(&t->applied, __ATOMIC_ACQUIRE) : NULL;

    if (!applied)
        return SC_PROT_RW;
    return (enum sc_prot)__atomic_load_n(&applied[(addr - t->range->base) >> SC_PAGE_SHIFT], __ATOMIC_ACQUIRE);
}

/* Whether eight pages from page i on, a multiple of 8, have no larger byte; whether page i has none. */
static bool eight_upto(const uint8_t *applied, size_t i, uint8_t prot)
{
    return !(__atomic_load_n((const uint64_t *)(const void *)(applied + i), __ATOMIC_ACQUIRE) & ~SC_EIGHT_OF(prot));
}

static bool one_upto(const uint8_t *applied, size_t i, uint8_t prot)
{
    return __atomic_load_n(&applied[i], __ATOMIC_ACQUIRE) <= prot;
}

uintptr_t sc_host_open_end(uintptr_t addr, uintptr_t hi, enum sc_prot prot)
{
    const struct table *t = table_of(addr);
    const uint8_t *applied = t ? __atomic_load_n(&t->applied, __ATOMIC_ACQUIRE) : NULL;
    size_t i, last;

    if (!applied || addr >= hi)
        return hi;
    last = (hi - t->range->base) >> SC_PAGE_SHIFT;
    for (i = (addr - t->range->base) >> SC_PAGE_SHIFT; i < last;)
        if (i % 8 == 0 && last - i >= 8 && eight_upto(applied, i, prot))
            i += 8;
        else if (one_upto(applied, i, prot))
            i++;
        else
            break;
    return t->range->base + (i << SC_PAGE_SHIFT);
}

uintptr_t sc_host_open_begin(uintptr_t lo, uintptr_t addr, enum sc_prot prot)
{
    const struct table *t = table_of(lo);
    const uint8_t *applied = t ? __atomic_load_n(&t->applied, __ATOMIC_ACQUIRE) : NULL;
    size_t i, first;

    if (!applied || addr <= lo)
        return lo;
    first = (lo - t->range->base) >> SC_PAGE_SHIFT;
    for (i = (addr - t->range->base) >> SC_PAGE_SHIFT; i > first;)
        if (i % 8 == 0 && i - first >= 8 && eight_upto(applied, i - 8, prot))
            i -= 8;
        else if (one_upto(applied, i - 1, prot))
            i--;
        else
            break;
    return t->range->base + (i << SC_PAGE_SHIFT);
}

/* True when some page of [first, last) has a smaller byte. */
static bool any_below(const uint8_t *applied, size_t first, size_t last, uint8_t prot)
{
    for (size_t i = first; prot != SC_PROT_RW && i < last; i++) {
        i += sc_bytes_run(applied + i, last - i, prot);
        if (i < last && applied[i] < prot)
            return true;
    }
    return false;
}

bool sc_host_is_closed(uintptr_t lo, uintptr_t hi, enum sc_prot prot)
{
    const struct table *t = table_of(lo);
    size_t first, last;

    if (!t || !t->applied)
        return prot == SC_PROT_RW;
    first = (lo - t->range->base) >> SC_PAGE_SHIFT;
    last = (hi - 1 - t->range->base) >> SC_PAGE_SHIFT;
    return !any_below(t->applied, first, last + 1, prot);
}

/* Number of changes of protection between neighbouring pages in [first - 1, last + 1). */
static size_t borders(const struct table *t, size_t first, size_t last)
{
    size_t end = last < pages_of(t) ? last + 1 : pages_of(t), at = first ? first - 1 : 0, n = 0;

    for (;;) {
        at += sc_bytes_run(t->applied + at, end - at, t->applied[at]);
        if (at == end)
            return n;
        n++;
    }
}

static bool within_budget(size_t more)
{
    if (sc_host_mappings + more < sc_host_mappings_budget)
        return true;
    sc_log_once(SC_LOG_WARN, "close to %zu mappings: closing no more pages (raise vm.max_map_count?)",
                sc_host_mappings_budget);
    return false;
}

bool sc_host_can_close(size_t runs)
{
    if (pause_left) {
        pause_left--;
        return false;
    }
    return table_open(&tables[0]) == SC_OK && within_budget(2 * runs);
}

void sc_host_pause_end(void) { pause_left = 0; }

bool sc_host_mappings_scarce(void)
{
    return was_refused || (sc_host_mappings_budget && sc_host_mappings > sc_host_mappings_budget / 2);
}

static char *address_of(const struct table *t, size_t page)
{
    return (char *)t->range->base + (page << SC_PAGE_SHIFT);
}

/* The system call.  In tests, refused at sc_host_mappings_limit as the kernel would refuse it. */
static int change(const struct table *t, size_t first, size_t last, uint8_t prot, size_t before)
{
    static const int flags[] = {
        [SC_PROT_RW] = PROT_READ | PROT_WRITE, [SC_PROT_R] = PROT_READ, [SC_PROT_NONE] = PROT_NONE};
    size_t after = (first > 0 && t->applied[first - 1] != prot) + (last < pages_of(t) && t->applied[last] != prot);
    unsigned char there;

    if (sc_host_mappings_limit && after > before && sc_host_mappings + after - before > sc_host_mappings_limit) {
        errno = ENOMEM;
        return -1;
    }
    if (sc_host_sys_mprotect(address_of(t, first), (last - first) << SC_PAGE_SHIFT, flags[prot]) == 0)
        return 0;
    if (errno != ENOMEM || __atomic_load_n(&sc_host_arena_from, __ATOMIC_ACQUIRE) != SIZE_MAX)
        return -1;
    /* A child of a fork lacks the pages that the program has withheld (MADV_DONTFORK): one refusal for all. */
    for (size_t i = first; i < last; i++)
        if (sc_host_sys_mprotect(address_of(t, i), SC_PAGE, flags[prot]) != 0 &&
            mincore(address_of(t, i), SC_PAGE, &there) == 0)
            return -1;
    return 0;
}

/* Stores the byte of pages [first, last), eight at a time; only where the byte is smaller, if `closes`. */
static void store(uint8_t *applied, size_t first, size_t last, uint8_t prot, bool closes)
{
    for (size_t i = first; i < last;) {
        uint64_t *eight = (uint64_t *)(void *)(applied + i);

        if (i % 8 == 0 && last - i >= 8 && (!closes || !__atomic_load_n(eight, __ATOMIC_RELAXED))) {
            __atomic_store_n(eight, SC_EIGHT_OF(prot), __ATOMIC_RELEASE);
            i += 8;
        } else {
            if (!closes || applied[i] < prot)
                __atomic_store_n(&applied[i], prot, __ATOMIC_RELEASE);
            i++;
        }
    }
}

/* Sets the protection of pages [first, last) to `prot`.  Some pages may have `prot` already; setting it again is
 * free. */
static enum sc_status apply(const struct table *t, size_t first, size_t last, uint8_t prot)
{
    size_t before = borders(t, first, last);
    uint8_t *applied = t->applied;
    bool closing = any_below(applied, first, last, prot);

    if (closing && !within_budget(0))
        return SC_ERR_MEMORY;
    /* F1: bytes of pages that close are written before the system call, bytes of pages that open after it. */
    if (closing)
        store(applied, first, last, prot, true);
    __atomic_fetch_add(&sc_host_prot_changes, 0, __ATOMIC_SEQ_CST);
    if (change(t, first, last, prot, before)) {
        was_refused = true;
        pause_left = PAUSE;
        sc_host_mappings += borders(t, first, last) - before;
        sc_log_once(SC_LOG_WARN, "the system refuses to protect memory (%s): more of it comes home than is needed "
                    "(raise vm.max_map_count?)", strerror(errno));
        return SC_ERR_MEMORY;
    }
    store(applied, first, last, prot, false);
    sc_host_mappings += borders(t, first, last) - before;
    __atomic_fetch_add(&sc_host_prot_changes, 1, __ATOMIC_SEQ_CST);
    if (closing)
        sc_host_pager_rouse();
    return SC_OK;
}

static bool holds(const struct table *t, uintptr_t first, size_t pages)
{
    return t && first % SC_PAGE == 0 && pages <= (t->range->bytes - (first - t->range->base)) >> SC_PAGE_SHIFT;
}

/* A run is a maximal range with the same wanted protection, trimmed of end pages that already have the protection. */
enum sc_status sc_host_protect(uintptr_t first, size_t pages, const uint8_t *want)
{
    struct table *t = table_of(first);
    enum sc_status status = SC_OK;
    size_t page;

    if (!holds(t, first, pages)) {
        sc_log(SC_LOG_ERROR, "protection of %zu pages at %#zx, which the arena does not hold", pages, (size_t)first);
        return SC_ERR_INVALID;
    }
    if (table_open(t) != SC_OK)
        return SC_ERR_MEMORY;
    page = (first - t->range->base) >> SC_PAGE_SHIFT;
    for (size_t i = 0, next; i < pages; i = next) {
        size_t begin, end;

        next = i + sc_bytes_run(want + i, pages - i, want[i]);
        begin = i + sc_bytes_run(t->applied + page + i, next - i, want[i]);
        end = next - sc_bytes_run_back(t->applied + page + begin, next - begin, want[i]);
        if (begin < end && apply(t, page + begin, page + end, want[i]) != SC_OK)
            status = SC_ERR_MEMORY; /* go on: opening a later run may free a mapping */
    }
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
