/* Page faults and read-ahead: the amount to bring home.  acquire.c brings it home. */
#include "coherence/faults.h"
#include "coherence/protocol.h"

#define EVERYTHING ((size_t)1 << 46) /* of the matrix */
#define LOOKS 4 /* at a page's kernels; calls of other threads may write the page again meanwhile */

/* Of a large matrix a read waits for at most WINDOW bytes, and brings the aligned PART around them; in the second half
 * of a part the next one, too.  Threads with ranges of their own thus share the link.  With all of the matrix in
 * one order the reader of the last range would begin at the end. */
#define WINDOW ((size_t)16 << 20)
#define PART ((size_t)32 << 20)

/* With several devices the whole matrix comes at once: the parts of a range lie on one device, and its link alone would
 * carry them. */
static bool is_large(const struct sc_matrix *m) { return m->bytes > PART && sc_protocol.devices == 1; }

/* The size of the window around a page.  Once piecemeal fetches have cost enough (sc_wait_is_over), a write brings the
 * whole matrix. */
static size_t window_for(const struct sc_matrix *m, size_t window, enum sc_access access)
{
    if (access & SC_WRITE)
        return sc_wait_is_over(m, access) ? EVERYTHING : window;
    return window > WINDOW && window != EVERYTHING && is_large(m) ? WINDOW : window;
}

/* The part of the aligned window around a page that a matrix on the page covers. */
static void clip_window(uintptr_t page, size_t window, enum sc_access access, uintptr_t *lo, uintptr_t *hi)
{
    size_t first;
    int n = sc_directory_find(page, page + SC_PAGE, &first);

    *lo = page;
    *hi = page + SC_PAGE;
    for (int i = 0; i < n; i++) {
        const struct sc_matrix *m = sc_directory_at(first + (size_t)i);
        uintptr_t base = sc_page_floor(m->base);
        size_t most = window_for(m, window, access);
        uintptr_t a = base + (page - base) / most * most, b = a + most;
        uintptr_t end = sc_page_ceil(sc_matrix_end(m));

        b = b < end ? b : end;
        if (b - a > *hi - *lo) {
            *lo = a;
            *hi = b;
        }
    }
}

static void start(struct sc_matrix *m, uintptr_t lo, uintptr_t hi)
{
    uintptr_t first = sc_page_floor(m->base), end = sc_page_ceil(sc_matrix_end(m));

    lo = lo > first ? lo : first;
    hi = hi < end ? hi : end;
    if (lo < hi)
        sc_access_ahead(m, lo, hi);
}

/* The bytes of a matrix that come with a page. */
static void part_around(const struct sc_matrix *m, uintptr_t page, uintptr_t *lo, uintptr_t *hi)
{
    uintptr_t base = sc_page_floor(m->base);

    *lo = base + (page - base) / PART * PART;
    *hi = *lo + PART + (page - *lo >= PART / 2 ? PART : 0);
    if (!is_large(m)) {
        *lo = 0;
        *hi = UINTPTR_MAX;
    }
}

/* Once piecemeal fetches have cost enough, a read brings the whole matrix or a part, the window [lo, hi) first.  The
 * reader waits for the window only, and runs beside the other transfers.  Later faults open the arrived pages. */
static void start_rest(uintptr_t page, uintptr_t lo, uintptr_t hi)
{
    size_t first;
    int n = sc_directory_find(page, page + SC_PAGE, &first);

    for (int i = 0; i < n; i++) {
        struct sc_matrix *m = sc_directory_at(first + (size_t)i);
        uintptr_t from, to;

        if (!sc_wait_is_over(m, SC_READ))
            continue;
        sc_partial_finish();
        start(m, lo, hi);
        part_around(m, page, &from, &to);
        start(m, hi, to);
        start(m, from, lo);
    }
}

/* The transfers of a device run in order: a transfer that waits for its kernel would hold up the readers of data that
 * are complete.  Of several devices each has transfers of its own, and these begin at once. */
static bool may_start(uintptr_t page, struct sc_fences *kernels)
{
    return sc_protocol.devices > 1 || sc_access_computed(page, kernels);
}

/* Lock held before and after, dropped meanwhile. */
static void await_kernels(uintptr_t page)
{
    struct sc_fences kernels;

    for (int i = 0; i < LOOKS && !may_start(page, &kernels); i++) {
        sc_protocol_unlock();
        sc_fences_sync(&kernels);
        sc_lent_lock();
    }
}

/* A write fault costs as much as moving half a MiB and therefore takes more than its page; not much more, because
 * the taken sectors go to the devices again. */
#define WRITE_WINDOW ((size_t)64 << 10)

/* A fault of a thread. */
struct touch {
    uintptr_t addr, ip;
    enum sc_access access;
    struct sc_trace_site site;
};

/* Reads that were answered while another fault waits.  In a trace an event `wait` belongs to the preceding fault, so
 * these faults follow that event.  Written under the protocol's lock. */
#define BESIDE_MOST 64
static struct touch beside[BESIDE_MOST];
static int besides;

static struct touch touch_of(uintptr_t addr, enum sc_access access, struct sc_host_code code)
{
    return (struct touch){addr, code.ip, access, sc_trace_site_of(code.ip, code.sp, code.thread, code.context)};
}

static void trace_fault(const struct touch *t)
{
    sc_trace(.kind = SC_EVENT_FAULT, .access = (uint8_t)t->access,
             .touch = {.address = t->addr, .line = t->site.program, .chain = t->site.chain, .ip = t->ip});
}

static void trace_beside(void)
{
    for (int i = 0; i < besides; i++)
        trace_fault(&beside[i]);
    besides = 0;
}

enum sc_fault_answer sc_coherence_fault(uintptr_t addr, enum sc_access access, struct sc_host_code code, size_t window)
{
    uintptr_t page = sc_page_floor(addr), lo, hi;
    struct sc_fences kernels;
    enum sc_prot prot;
    double since;
    bool computed;

    if (!sc_host_in_arena((void *)addr)) {
        if (!(access & SC_WRITE) || !sc_host_watch_fault(addr))
            return SC_FAULT_NOT_OURS;
        sc_count(&sc_stats.faults_write, 1);
        return SC_FAULT_DONE;
    }
    if (!sc_protocol_ops())
        return SC_FAULT_NOT_OURS;
    since = sc_wait_clock(SC_HOST_EVENT_NONE);
    sc_lent_lock();
    prot = sc_host_prot(page);
    /* another thread has opened the page; a page that faults for another reason faults again (rule F7) */
    if (prot == SC_PROT_RW) {
        sc_protocol_unlock();
        return SC_FAULT_DONE;
    }
    if (prot == SC_PROT_R && access == SC_READ) {
        sc_protocol_unlock();
        return SC_FAULT_DONE;
    }
    sc_count(access & SC_WRITE ? &sc_stats.faults_write : &sc_stats.faults_read, 1);
    if (__builtin_expect(sc_trace_on, 0)) {
        const struct touch touch = touch_of(addr, access, code);

        trace_fault(&touch);
    }
    if (access & SC_WRITE) {
        access = SC_RDWR;
        window = WRITE_WINDOW;
    }
    computed = sc_access_computed(page, &kernels);
    await_kernels(page);
    if (sc_host_mappings_scarce()) /* opening the matrix in parts would take a mapping per part */
        window = EVERYTHING;
    clip_window(page, window > SC_PAGE ? sc_page_floor(window) : SC_PAGE, access, &lo, &hi);
    if (access == SC_READ)
        start_rest(page, lo, hi);
    if (access != SC_READ || !sc_access_landed(page))
        sc_access_range(lo, hi, access);
    if (sc_host_prot(page) > sc_host_prot_for(access)) /* not painted since the page was opened */
        sc_protocol_paint(page, page + SC_PAGE);
    sc_wait_faulted(page, since, access, computed);
    trace_beside();
    sc_protocol_unlock();
    return SC_FAULT_DONE;
}

/* The window of a reader while another reader waits: a sixteenth of the matrix, from a write's window to a read's. */
static void start_beside(uintptr_t page)
{
    size_t first;
    int n = sc_directory_find(page, page + SC_PAGE, &first);

    for (int i = 0; i < n; i++) {
        struct sc_matrix *m = sc_directory_at(first + (size_t)i);
        uintptr_t base = sc_page_floor(m->base);
        size_t window = sc_page_ceil(m->bytes / 16);

        window = window < WRITE_WINDOW ? WRITE_WINDOW : window < WINDOW ? window : WINDOW;
        base += (page - base) / window * window;
        start(m, base, base + window);
    }
}

bool sc_coherence_fault_landed(uintptr_t addr, struct sc_host_code code)
{
    uintptr_t page = sc_page_floor(addr), lo, hi;
    struct sc_fences kernels;
    bool landed;

    if (!sc_protocol_ops())
        return false;
    sc_lent_lock();
    landed = sc_access_landed(page);
    if (!landed && may_start(page, &kernels)) { /* transfers go behind those in transit at once */
        start_beside(page);
        clip_window(page, WINDOW, SC_READ, &lo, &hi);
        start_rest(page, lo, hi);
    }
    if (landed) {
        sc_count(&sc_stats.faults_read, 1);
        if (__builtin_expect(sc_trace_on, 0) && besides < BESIDE_MOST)
            beside[besides++] = touch_of(addr, SC_READ, code);
    }
    sc_protocol_unlock();
    return landed;
}

void sc_coherence_read_ahead(uintptr_t addr, size_t bytes)
{
    uintptr_t lo = sc_page_ceil(addr), hi;
    struct sc_fences kernels;
    size_t first;

    if (!bytes || !sc_protocol_ops())
        return;
    sc_protocol_lock();
    if (sc_lent_any()) { /* the program has started a kernel, and reads no more: another fault would wait for it */
        sc_protocol_unlock();
        return;
    }
    sc_partial_finish();
    if (may_start(lo, &kernels) && sc_directory_find(lo, lo + 1, &first)) {
        struct sc_matrix *m = sc_directory_at(first);

        hi = lo + bytes < sc_matrix_end(m) ? lo + bytes : sc_matrix_end(m);
        sc_access_ahead(m, lo, sc_page_ceil(hi));
    }
    sc_protocol_unlock();
}
/* SPDX-License-Identifier: BSD-2-Clause */
