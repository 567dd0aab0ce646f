/* Event rings: threads write events into blocks of the trace file (store.c), or without a file into memory. Rules T2
 * to T5 of README. */
#include <config.h>

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/config.h"
#include "base/forks.h"
#include "base/inside.h"
#include "base/locks.h"
#include "base/log.h"
#include "trace/read.h"
#include "trace/rings.h"
#include "trace/store.h"
#include "trace/trace.h"

#define IN_VAIN 16
#define MEMORY_EVENTS 4096u /* bytes of a block outside a file */

struct ring {
    struct ring *next;             /* set before the ring is published, then constant */
    int owned;                     /* 1 while a thread owns the ring; taken by compare-and-swap */
    uint64_t session;              /* session of the events in the block; written by the owner under file_lock */
    uint32_t room;                 /* events that fit into the block */
    struct sc_trace_block *block;  /* NULL: none; written by the owner under file_lock */
    struct sc_trace_block *former; /* the previous block, until it is taken; written in the same way */
    struct sc_trace_block *memory; /* block for events without a file; kept */
};

bool sc_trace_on;
__thread uint16_t sc_trace_routine __attribute__((tls_model("initial-exec")));

static struct ring *rings; /* push only */
static __thread struct ring *my_ring __attribute__((tls_model("initial-exec")));
static __thread uint32_t my_thread __attribute__((tls_model("initial-exec")));
static pthread_key_t ring_key; /* the destructor releases the ring */
static bool ring_key_made;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Protects the variables below, the store, and the rings' session and blocks. Innermost lock: no lock is taken after
 * it. */
static struct sc_lock file_lock = SC_LOCK(SC_RANK_TRACE);
static uint64_t session; /* counts starts; read without the lock by owners of rings */
static bool keeping;     /* without a file, events stay in the rings */

/* A forked process shares the blocks with its parent, and must not write to them.  In the process that traces this page
 * has the number of the process; the kernel clears the page in every forked process. */
static const volatile int *alive;

static bool is_alive(void) { return alive && *alive; }

static void *map_pages(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return at == MAP_FAILED ? NULL : at;
}

static bool come_alive(void)
{
    int *page = is_alive() ? (int *)alive : map_pages(sizeof *page);

    if (!page || madvise(page, (size_t)sysconf(_SC_PAGESIZE), MADV_WIPEONFORK) != 0)
        return false;
    *page = getpid();
    alive = page;
    return true;
}

/* --- the file; all with file_lock held ---------------------------------------------------------------------------- */

static void write_routine(int routine)
{
    struct sc_trace_name_head head = {.routine = (uint32_t)routine};
    const char *name = sc_trace_routine_name(routine);

    if (name)
        sc_trace_store_record(SC_RECORD_ROUTINE, &head, sizeof head, name, strlen(name));
}

void sc_trace_store_routine(int routine)
{
    sc_assert_held(SC_RANK_TRACE);
    if (is_alive())
        write_routine(routine);
}

static void write_routines(void)
{
    sc_assert_held(SC_RANK_TRACE);
    for (int i = 0; i < SC_TRACE_ROUTINES_MAX; i++)
        write_routine(i);
}

/* --- rings -------------------------------------------------------------------------------------------------------- */

static void give_ring_back(void *ring)
{
    my_ring = NULL;
    __atomic_store_n(&((struct ring *)ring)->owned, 0, __ATOMIC_RELEASE);
}

/* The file is the parent's (rule T5). The thread that held the lock exists in the parent only, so the child starts
 * with a free lock. */
static void fork_child(void)
{
    sc_lock_init(&file_lock, SC_RANK_TRACE);
    keeping = sc_trace_on = false;
    sc_trace_store_forget();
}

static void set_up_once(void)
{
    ring_key_made = pthread_key_create(&ring_key, give_ring_back) == 0;
    sc_forks_register(NULL, NULL, fork_child);
}

static struct ring *take_left_ring(void)
{
    for (struct ring *ring = __atomic_load_n(&rings, __ATOMIC_ACQUIRE); ring; ring = ring->next) {
        int unowned = 0;

        if (__atomic_compare_exchange_n(&ring->owned, &unowned, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            return ring;
    }
    return NULL;
}

static struct ring *map_ring(void)
{
    struct ring *ring = map_pages(sizeof *ring);

    if (!ring)
        return NULL;
    ring->owned = 1;
    ring->next = __atomic_load_n(&rings, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&rings, &ring->next, ring, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
    return ring;
}

static struct ring *find_my_ring(void)
{
    struct ring *ring = my_ring;

    if (ring)
        return ring;
    ring = take_left_ring();
    if (!ring)
        ring = map_ring();
    if (!ring)
        return NULL;
    my_ring = ring;
    my_thread = (uint32_t)gettid();
    if (ring_key_made)
        pthread_setspecific(ring_key, ring); /* on failure the ring is not reused; no further harm */
    return ring;
}

/* --- blocks; with file_lock held, by the owner -------------------------------------------------------------------- */

/* Drops the events of a ring; no reader has them. */
static void is_taken(const struct sc_trace_block *block)
{
    for (struct ring *ring = __atomic_load_n(&rings, __ATOMIC_ACQUIRE); ring; ring = ring->next)
        if (ring->former == block)
            ring->former = NULL;
}

static void next_of_file(struct ring *ring)
{
    sc_assert_held(SC_RANK_TRACE);
    if (ring->block)
        sc_trace_store_release(ring->block);
    ring->former = ring->block;
    ring->room = SC_TRACE_BLOCK_EVENTS;
    ring->block = sc_trace_store_block(is_taken);
}

/* Keeps the newer half. */
static void next_of_memory(struct ring *ring)
{
    struct sc_trace_block *block = ring->memory;
    uint32_t kept = 0;

    sc_assert_held(SC_RANK_TRACE);
    if (!block)
        block = ring->memory = map_pages(sizeof *block + MEMORY_EVENTS * sizeof block->events[0]);
    if (block && ring->block == block) {
        kept = block->head.count / 2;
        memmove(block->events, block->events + block->head.count - kept, kept * sizeof block->events[0]);
    }
    if (block)
        __atomic_store_n(&block->head.count, kept, __ATOMIC_RELEASE);
    ring->room = MEMORY_EVENTS;
    ring->block = block;
}

/* For a ring whose block is full, of an earlier session, or missing. */
static void next_block(struct ring *ring)
{
    sc_lock(&file_lock);
    if (ring->session != session)
        ring->block = ring->former = NULL;
    ring->session = session;
    if (sc_trace_store_is_open())
        next_of_file(ring);
    else if (keeping)
        next_of_memory(ring);
    else
        ring->block = NULL;
    sc_unlock(&file_lock);
}

static void put(struct ring *ring, struct sc_event *events, int count)
{
    uint64_t time;
    struct timespec t;
    uint32_t used;

    if (!ring->block || ring->block->head.count > ring->room - (uint32_t)count ||
        ring->session != __atomic_load_n(&session, __ATOMIC_ACQUIRE))
        next_block(ring);
    if (!ring->block) {
        sc_trace_store_lost((uint64_t)count);
        return;
    }
    clock_gettime(CLOCK_MONOTONIC, &t);
    time = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    used = ring->block->head.count;
    for (int i = 0; i < count; i++) {
        events[i].nanoseconds = time;
        events[i].thread = my_thread;
        events[i].routine = sc_trace_routine;
        ring->block->events[used + (uint32_t)i] = events[i];
    }
    __atomic_store_n(&ring->block->head.count, used + (uint32_t)count, __ATOMIC_RELEASE);
}

void sc_trace_emit_group(struct sc_event *events, int count)
{
    int saved = errno;
    struct ring *ring;

    if (!is_alive())
        return;
    sc_inside_enter();
    ring = find_my_ring();
    if (ring)
        put(ring, events, count);
    else
        sc_trace_store_lost((uint64_t)count);
    sc_inside_leave();
    errno = saved;
}

void sc_trace_emit(struct sc_event *event) { sc_trace_emit_group(event, 1); }

/* --- events in the rings ------------------------------------------------------------------------------------------ */

void sc_trace_keep(void)
{
    sc_lock(&file_lock);
    keeping = sc_trace_on = come_alive();
    sc_unlock(&file_lock);
}

/* Keeps out[] sorted by time and at most `most` long. */
static int insert(struct sc_event *out, int count, int most, const struct sc_event *event)
{
    int at = count;

    while (at > 0 && out[at - 1].nanoseconds > event->nanoseconds)
        at--;
    if (count == most) {
        if (at == 0)
            return count;
        memmove(out, out + 1, (size_t)--at * sizeof *out);
        count--;
    } else {
        memmove(out + at + 1, out + at, (size_t)(count - at) * sizeof *out);
    }
    out[at] = *event;
    return count + 1;
}

/* Other processes may write to the file, so its counts are not trusted. */
static int collect(const struct sc_trace_block *block, uint32_t room, uint32_t matrix, uint32_t tile,
                   struct sc_event *out, int found, int most)
{
    uint32_t count = block ? __atomic_load_n(&block->head.count, __ATOMIC_ACQUIRE) : 0;

    for (uint32_t i = 0; i < count && i < room; i++) {
        const struct sc_event *e = &block->events[i];

        if (e->matrix == matrix && e->tile == tile &&
            (e->kind == SC_EVENT_STATE || e->kind == SC_EVENT_TRANSFER || e->kind == SC_EVENT_EVICT))
            found = insert(out, found, most, e);
    }
    return found;
}

int sc_trace_collect(uint32_t matrix, uint32_t tile, struct sc_event *out, int most)
{
    int found = 0;

    sc_lock(&file_lock);
    for (const struct ring *ring = __atomic_load_n(&rings, __ATOMIC_ACQUIRE); ring; ring = ring->next)
        if (ring->session == session) {
            found = collect(ring->former, ring->room, matrix, tile, out, found, most);
            found = collect(ring->block, ring->room, matrix, tile, out, found, most);
        }
    sc_unlock(&file_lock);
    return found;
}

/* --- start and stop ----------------------------------------------------------------------------------------------- */

enum sc_status sc_trace_rings_start(const char *path, void (*forget)(void))
{
    enum sc_status status = SC_ERR_IO;

    pthread_once(&once, set_up_once);
    sc_lock(&file_lock);
    if (sc_trace_store_is_open()) {
        sc_log(SC_LOG_WARN, "tracing is on already; %s is not written", path);
        status = SC_ERR_INVALID;
    } else if (come_alive()) {
        status = sc_trace_store_open(path, sc_config.trace_limit);
        if (status == SC_OK) {
            forget();
            write_routines();
            sc_trace_store_modules(false);
        }
        __atomic_store_n(&session, session + 1, __ATOMIC_RELEASE);
        sc_trace_on = sc_trace_store_is_open() || keeping;
    }
    sc_unlock(&file_lock);
    return status;
}

/* Without the lock: the first mmap of a process may look up libc's. */
void sc_trace_rings_prepare(void) { come_alive(); }

bool sc_trace_is_alive(void) { return is_alive(); }
int sc_trace_process(void) { return alive ? *alive : 0; }

void sc_trace_lock(void) { sc_lock(&file_lock); }
void sc_trace_unlock(void) { sc_unlock(&file_lock); }

bool sc_trace_lock_file(void)
{
    sc_trace_lock();
    if (is_alive() && sc_trace_store_is_open())
        return true;
    sc_trace_unlock();
    return false;
}

void sc_trace_setting(const char *text)
{
    sc_lock(&file_lock);
    sc_inside_enter();
    if (is_alive())
        sc_trace_store_record(SC_RECORD_SETTING, "", 0, text, strlen(text));
    sc_inside_leave();
    sc_unlock(&file_lock);
}

void sc_trace_saw_code(uint64_t ip)
{
    static int in_vain; /* lookups without a file: code made at run time is in no file */

    if (!ip || !is_alive() || sc_trace_store_knows(ip) || __atomic_load_n(&in_vain, __ATOMIC_RELAXED) >= IN_VAIN)
        return;
    sc_lock(&file_lock);
    sc_inside_enter();
    if (sc_trace_store_is_open())
        sc_trace_store_modules(true);
    sc_inside_leave();
    sc_unlock(&file_lock);
    if (!sc_trace_store_knows(ip))
        __atomic_fetch_add(&in_vain, 1, __ATOMIC_RELAXED);
}

void sc_trace_stop(void)
{
    sc_lock(&file_lock);
    sc_inside_enter();
    keeping = sc_trace_on = false;
    if (is_alive() && sc_trace_store_is_open()) {
        sc_trace_store_modules(true);
        sc_trace_store_close();
    }
    __atomic_store_n(&session, session + 1, __ATOMIC_RELEASE); /* later events belong to no file */
    sc_inside_leave();
    sc_unlock(&file_lock);
}
/* SPDX-License-Identifier: BSD-2-Clause */
