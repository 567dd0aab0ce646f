/* Sixteen threads read and write pages during their fetch. Asserts that no thread sees a stale byte, in many rounds,
 * with the two front ends. In every round each word of a page on the "device" holds the numbers of page and round. The
 * host's pages hold the previous round's words until a fault fetches the page.  Then one reader waits for a page that
 * does not come before the other readers have read landed pages: asserts that the pager answers them meanwhile. */
#include "config.h"

#include <pthread.h>

#include "base/system_call.h"
#include "tests/host_stub.h"
#include "tests/tap.h"

#define PAGES   256
#define THREADS 16
#define ROUNDS  120
#define WORDS   (SC_PAGE / 8)

static uint64_t round_now, written[PAGES]; /* by page: index of the word that a thread stored, or 0 */
static int faults, refused_prot;
static uint64_t pager_slice; /* ns; 0: the kernel tells no slice */
static pthread_barrier_t barrier;
static uint64_t stale[THREADS];

static uint64_t word_of(size_t page) { return round_now << 32 | page; }

/* Of the calling thread. */
static uint64_t slice(void)
{
    uint64_t attr[6]; /* struct sched_attr of the kernel; libc's headers clash with its definition */
    int policy;

    if (sc_system_call(SYS_sched_getattr, 0, (long)attr, sizeof attr, 0, 0) != 0)
        return 0;
    policy = (int)(attr[0] >> 32);
    return policy == SCHED_OTHER || policy == SCHED_BATCH ? attr[3] : 0;
}

/* Fetches a window of closed pages, or a single page for a write. */
static enum sc_fault_answer fault(uintptr_t addr, enum sc_access access, struct sc_host_code code, size_t window)
{
    size_t page = (addr - (uintptr_t)stub_arena) / SC_PAGE, n = access == SC_READ ? window / SC_PAGE : 1;
    uint64_t data[WORDS];

    (void)code;
    faults++;
    pager_slice = slice();
    for (size_t p = page; p < page + n && p < PAGES && stub_prot(p) == SC_PROT_NONE; p++) {
        for (size_t i = 0; i < WORDS; i++)
            data[i] = word_of(p);
        stub_write(stub_arena + p * SC_PAGE, data, sizeof data);
        refused_prot += stub_protect(p, 1, SC_PROT_R) != SC_OK;
    }
    if (access == SC_WRITE)
        refused_prot += stub_protect(page, 1, SC_PROT_RW) != SC_OK;
    return SC_FAULT_DONE;
}

static const struct sc_host_callbacks callbacks = {.fault = fault};

/* --- a page that comes last --------------------------------------------------------------------------------------- */

#define LAST  (PAGES - 1) /* the page */
#define TRIES 200000      /* looks until the other readers count as forgotten: 4 s or more */

static int readers_left, not_ready, forgotten;
static bool last_waits;

/* Landed pages are the even ones.  Others are fetched by `slow`, but not while the last page is awaited. */
static bool landed(uintptr_t addr, struct sc_host_code code)
{
    size_t page = (addr - (uintptr_t)stub_arena) / SC_PAGE;

    not_ready += page % 2 != 0;
    return page % 2 == 0 && fault(addr, SC_READ, code, SC_PAGE) == SC_FAULT_DONE;
}

static enum sc_fault_answer slow(uintptr_t addr, enum sc_access access, struct sc_host_code code, size_t window)
{
    int looks = 0;

    if ((addr - (uintptr_t)stub_arena) / SC_PAGE == LAST) {
        __atomic_store_n(&last_waits, true, __ATOMIC_SEQ_CST);
        while (__atomic_load_n(&readers_left, __ATOMIC_SEQ_CST) > 1 && ++looks < TRIES && sc_host_serve_landed(looks))
            ;
        forgotten += __atomic_load_n(&readers_left, __ATOMIC_SEQ_CST) > 1;
    }
    return fault(addr, access, code, window);
}

static void *read_one(void *arg)
{
    size_t page = (size_t)(intptr_t)arg;

    while (page != LAST && !__atomic_load_n(&last_waits, __ATOMIC_SEQ_CST))
        sched_yield();
    stale[0] += *(volatile uint64_t *)(stub_arena + page * SC_PAGE) != word_of(page);
    __atomic_sub_fetch(&readers_left, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

/* Readers of the last page, of an odd page and of landed pages. */
static void test_last(const char *front)
{
    static const struct sc_host_callbacks with_landed = {.fault = slow, .landed = landed};
    static const size_t pages[] = {LAST, 1, 2, 40, 80, 120};
    enum { READERS = sizeof pages / sizeof *pages };
    pthread_t threads[READERS];

    sc_host_front_wanted = front;
    tap_ok(sc_host_faults_start(&with_landed) == SC_OK, "%s: started again", front);
    sc_config.window_min = sc_config.window_max = SC_PAGE;
    round_now++;
    stub_protect(0, PAGES, SC_PROT_NONE);
    last_waits = false;
    stale[0] = 0;
    not_ready = forgotten = 0;
    readers_left = READERS - 1; /* the reader of the odd page waits behind the last page */
    for (int i = 0; i < READERS; i++)
        pthread_create(&threads[i], NULL, read_one, (void *)(intptr_t)pages[i]);
    for (int i = 0; i < READERS; i++)
        pthread_join(threads[i], NULL);
    tap_ok(forgotten == 0, "%s: readers of landed pages do not wait for another reader's page", front);
    tap_ok(stale[0] == 0, "%s: they read the page's words, and so do those who waited (%d looks too early)", front,
           not_ready);
    stub_protect(0, PAGES, SC_PROT_RW);
    sc_host_faults_stop();
}

/* Every thread reads the pages from a different start on, and writes one word of each page that it owns. */
static void touch_all(int me)
{
    for (size_t k = 0; k < PAGES; k++) {
        size_t page = (k + (size_t)me * 61) % PAGES, slot = 1 + (size_t)me;
        volatile uint64_t *words = (volatile uint64_t *)(stub_arena + page * SC_PAGE);

        stale[me] += words[0] != word_of(page);
        stale[me] += words[WORDS - 1] != word_of(page);
        if (page % THREADS == (size_t)me) {
            words[slot] = ~word_of(page);
            stale[me] += words[slot] != ~word_of(page);
            written[page] = slot;
        }
    }
}

static void *reader(void *arg)
{
    int me = (int)(intptr_t)arg;

    for (int r = 0; r < ROUNDS; r++) {
        pthread_barrier_wait(&barrier);
        touch_all(me);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

/* After a round: number of stored words that are missing (a page fetched twice would lose a stored word). */
static int lost_stores(void)
{
    int lost = 0;

    for (size_t page = 0; page < PAGES; page++) {
        const uint64_t *words = (const uint64_t *)(const void *)(stub_arena + page * SC_PAGE);

        lost += words[written[page]] != ~word_of(page);
        for (size_t i = 0; i < WORDS; i++)
            lost += i != written[page] && words[i] != word_of(page);
    }
    return lost;
}

static void run(const char *front)
{
    pthread_t threads[THREADS];
    uint64_t all_stale = 0;
    int lost = 0;

    faults = refused_prot = 0;
    sc_host_front_wanted = front;
    tap_ok(sc_host_faults_start(&callbacks) == SC_OK && !strcmp(sc_host_faults_front(), front), "%s: started", front);
    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++) {
        stale[i] = 0;
        pthread_create(&threads[i], NULL, reader, (void *)(intptr_t)i);
    }
    for (int r = 0; r < ROUNDS; r++) {
        round_now++;
        sc_config.window_min = sc_config.window_max = (size_t)SC_PAGE << (r % 6);
        stub_protect(0, PAGES, SC_PROT_NONE);
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
        lost += lost_stores();
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        all_stale += stale[i];
    }
    pthread_barrier_destroy(&barrier);
    sc_host_faults_stop();
    tap_ok(all_stale == 0, "%s: no stale word in %d rounds, %d faults (%llu stale)", front, ROUNDS, faults,
           (unsigned long long)all_stale);
    tap_ok(lost == 0 && refused_prot == 0, "%s: no store is lost (%d), no change refused (%d)", front, lost,
           refused_prot);
}

int main(void)
{
    uint64_t program_slice = slice();

    stub_arena_start(PAGES * SC_PAGE);
    for (int i = 0; i < STUB_FRONTS; i++) {
        run(stub_fronts[i]);
        test_last(stub_fronts[i]);
    }
    if (program_slice)
        tap_ok(pager_slice < program_slice, "the pager's time slice is shorter than the program's (%u and %u us)",
               (unsigned)(pager_slice / 1000), (unsigned)(program_slice / 1000));
    else
        printf("ok %d # SKIP this kernel tells no slices\n", ++tap_count_);
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
