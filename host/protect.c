/* Page protection of arena memory.  A byte per page, in `applied`, holds the protection that is applied now.
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

static uint8_t *applied; /* by page of the arena; NULL while every page is read-write */

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

static enum sc_status table_open(void)
{
    void *table;

    if (applied)
        return SC_OK;
    if (!sc_host_mappings_budget)
        sc_host_mappings_budget = sc_host_mappings_most() / 2; /* the program has mappings of its own */
    table = sc_host_sys_mmap(NULL, sc_host_arena.bytes >> SC_PAGE_SHIFT, PROT_READ | PROT_WRITE,
                             SC_HOST_MAP_UNCOUNTED);
    if (table == MAP_FAILED) {
        sc_log(SC_LOG_ERROR, "no address space for the page table of the arena: %s", strerror(errno));
        return SC_ERR_MEMORY;
    }
    __atomic_store_n(&applied, table, __ATOMIC_RELEASE);
    return SC_OK;
}

enum sc_prot sc_host_prot(uintptr_t addr)
{
    const uint8_t *table = __atomic_load_n(&applied, __ATOMIC_ACQUIRE);

    if (!table || !sc_host_within((const void *)addr))
        return SC_PROT_RW;
    return (enum sc_prot)__atomic_load_n(&table[(addr - sc_host_arena.base) >> SC_PAGE_SHIFT], __ATOMIC_ACQUIRE);
}

/* Number of changes of protection between neighbouring pages in [first - 1, last + 1). */
static size_t borders(size_t first, size_t last)
{
    size_t end = sc_host_arena.bytes >> SC_PAGE_SHIFT, n = 0;

    for (size_t i = first ? first : 1; i <= last && i < end; i++)
        n += applied[i] != applied[i - 1];
    return n;
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
    return table_open() == SC_OK && within_budget(2 * runs);
}

void sc_host_pause_end(void) { pause_left = 0; }

bool sc_host_mappings_scarce(void)
{
    return was_refused || (applied && sc_host_mappings > sc_host_mappings_budget / 2);
}

static char *address_of(size_t page) { return (char *)sc_host_arena.base + (page << SC_PAGE_SHIFT); }

/* The system call.  In tests, refused at sc_host_mappings_limit as the kernel would refuse it. */
static int change(size_t first, size_t last, uint8_t prot, size_t before)
{
    static const int flags[] = {
        [SC_PROT_RW] = PROT_READ | PROT_WRITE, [SC_PROT_R] = PROT_READ, [SC_PROT_NONE] = PROT_NONE};
    size_t end = sc_host_arena.bytes >> SC_PAGE_SHIFT;
    unsigned char there;
    size_t after = (first > 0 && applied[first - 1] != prot) + (last < end && applied[last] != prot);

    if (sc_host_mappings_limit && after > before && sc_host_mappings + after - before > sc_host_mappings_limit) {
        errno = ENOMEM;
        return -1;
    }
    if (sc_host_sys_mprotect(address_of(first), (last - first) << SC_PAGE_SHIFT, flags[prot]) == 0)
        return 0;
    if (errno != ENOMEM || __atomic_load_n(&sc_host_arena_from, __ATOMIC_ACQUIRE) != SIZE_MAX)
        return -1;
    /* A child of a fork lacks the pages that the program has withheld (MADV_DONTFORK): one refusal for all. */
    for (size_t i = first; i < last; i++)
        if (sc_host_sys_mprotect(address_of(i), SC_PAGE, flags[prot]) != 0 &&
            mincore(address_of(i), SC_PAGE, &there) == 0)
            return -1;
    return 0;
}

/* Sets the protection of pages [first, last) to `prot`.  Some pages may have `prot` already; setting it again is
 * free. */
static enum sc_status apply(size_t first, size_t last, uint8_t prot)
{
    size_t before = borders(first, last);
    bool closing = false;

    for (size_t i = first; i < last && !closing; i++)
        closing = applied[i] < prot;
    if (closing && !within_budget(0))
        return SC_ERR_MEMORY;
    /* F1: bytes of pages that close are written before the system call, bytes of pages that open after it.  The
     * stores are relaxed, because the system call itself orders them; ordering a million stores one by one would
     * take longer than the call. */
    for (size_t i = first; i < last; i++)
        if (applied[i] < prot)
            __atomic_store_n(&applied[i], prot, __ATOMIC_RELAXED);
    __atomic_fetch_add(&sc_host_prot_changes, 0, __ATOMIC_SEQ_CST);
    if (change(first, last, prot, before)) {
        was_refused = true;
        pause_left = PAUSE;
        sc_host_mappings += borders(first, last) - before;
        sc_log_once(SC_LOG_WARN, "the system refuses to protect memory (%s): more of it comes home than is needed "
                    "(raise vm.max_map_count?)", strerror(errno));
        return SC_ERR_MEMORY;
    }
    for (size_t i = first; i < last; i++)
        __atomic_store_n(&applied[i], prot, __ATOMIC_RELEASE);
    sc_host_mappings += borders(first, last) - before;
    __atomic_fetch_add(&sc_host_prot_changes, 1, __ATOMIC_SEQ_CST);
    if (closing)
        sc_host_pager_rouse();
    return SC_OK;
}

static bool in_arena(uintptr_t first, size_t pages)
{
    uintptr_t offset = first - sc_host_arena.base;

    return first % SC_PAGE == 0 && offset <= sc_host_arena.bytes &&
           pages <= (sc_host_arena.bytes - offset) >> SC_PAGE_SHIFT;
}

/* A run is a maximal range with the same wanted protection, trimmed of end pages that already have the protection. */
enum sc_status sc_host_protect(uintptr_t first, size_t pages, const uint8_t *want)
{
    size_t page = (first - sc_host_arena.base) >> SC_PAGE_SHIFT;
    enum sc_status status = SC_OK;

    if (!in_arena(first, pages)) {
        sc_log(SC_LOG_ERROR, "protection of %zu pages at %#zx, which the arena does not hold", pages, (size_t)first);
        return SC_ERR_INVALID;
    }
    if (table_open() != SC_OK)
        return SC_ERR_MEMORY;
    for (size_t i = 0, next; i < pages; i = next) {
        size_t begin = i, end;

        for (next = i + 1; next < pages && want[next] == want[i]; next++)
            ;
        for (end = next; begin < end && applied[page + begin] == want[i]; begin++)
            ;
        for (; end > begin && applied[page + end - 1] == want[i]; end--)
            ;
        if (begin < end && apply(page + begin, page + end, want[i]) != SC_OK)
            status = SC_ERR_MEMORY; /* go on: opening a later run may free a mapping */
    }
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
