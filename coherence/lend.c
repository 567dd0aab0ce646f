/* Lending memory of one address to work of the program (lend.h).  Matrices of whole columns, in one row of tiles,
 * cover a lent block: an image on a device has the layout of the host.  Every tile is valid at its own address on one
 * device and on no other place. */
#include "coherence/lend.h"
#include "coherence/protocol.h"

#include <time.h>

#define COLUMN SC_PAGE                     /* bytes of a column of a new matrix */
#define SPARE 64                           /* part of a block that gives way for blocks to come */
#define LEAST_PART 16                      /* smaller parts of a block are not worth a copy on a device */
#define PAUSES 1000                        /* a tenth of a second in all */
#define TILE_COLUMNS ((64 << 20) / COLUMN) /* its sectors then have at most 1 MiB */

/* Where blocks are lent to. */
struct aim {
    int device;     /* the working one */
    int target;     /* for a block without memory on a device */
    uint64_t begun; /* tick at the beginning; > 0 */
};

static int device_of(int ordinal)
{
    for (int d = 0; d < sc_protocol.devices; d++)
        if (sc_protocol.properties[d].ordinal == ordinal)
            return d;
    return -1;
}

/* --- whether a block is lent -------------------------------------------------------------------------------------- */

static uintptr_t host_of(const struct sc_matrix *m, const struct sc_tile *t)
{
    return m->base + (uintptr_t)(t->col * m->ld) * m->elem;
}

/* The device with the tile's memory at the host's address, or -1. */
static int place_of(const struct sc_matrix *m, const struct sc_tile *t)
{
    for (int d = 0; d < sc_protocol.devices; d++)
        if ((uintptr_t)t->copy[d].memory == host_of(m, t))
            return d;
    return -1;
}

static bool reaches(int device, int memory_of)
{
    return device == memory_of || sc_protocol.properties[device].reach[memory_of];
}

static bool is_tile_lent(const struct sc_matrix *m, const struct sc_tile *t, int device)
{
    int d = place_of(m, t);
    uint64_t all = sc_sectors_all(t->sectors), others = t->host_valid;

    for (int i = 0; i < sc_protocol.devices; i++)
        others |= i != d ? t->copy[i].valid : 0;
    return d >= 0 && reaches(device, d) && !sc_protocol.failed[d] && t->copy[d].valid == all && !t->linked &&
           !t->copy[d].partial && !t->copy[d].pending && !others && sc_lent_is_behind(t->copy[d].last_used);
}

static bool has_form(const struct sc_matrix *m) { return m->row_parts == 1 && m->rows == m->ld; }

static bool are_tiles_lent(struct sc_matrix *m, int device)
{
    if (!has_form(m) || m->home_count)
        return false;
    for (int j = 0; j < m->col_parts; j++)
        if (!is_tile_lent(m, sc_matrix_tile(m, 0, j), device))
            return false;
    return true;
}

/* 1 + the device with the memory of all tiles.  0: several devices, a call in progress, or memory with a lease: the end
 * of a lease changes no state. */
static int note_of(struct sc_matrix *m)
{
    int home = place_of(m, sc_matrix_tile(m, 0, 0));

    for (int j = 0; j < m->col_parts; j++)
        if (place_of(m, sc_matrix_tile(m, 0, j)) != home || sc_matrix_tile(m, 0, j)->copy[home].lease)
            return 0;
    return m->users ? 0 : 1 + home;
}

/* Looks at the tiles of a matrix only after a change of the matrix: a launch costs no more with large blocks. */
static bool is_matrix_lent(struct sc_matrix *m, int device)
{
    bool lent;

    if (m->lent && reaches(device, m->lent - 1) && !sc_protocol.failed[m->lent - 1]) {
        sc_assert(are_tiles_lent(m, device));
        return true;
    }
    lent = are_tiles_lent(m, device);
    m->lent = lent ? note_of(m) : 0;
    return lent;
}

/* The first bytes of [*lo, hi) that are not lent: a matrix, or NULL and the gap [*lo, *end) before the next one.
 * False: all are lent. */
static bool next_missing(uintptr_t *lo, uintptr_t hi, int device, struct sc_matrix **m, uintptr_t *end)
{
    while (*lo < hi) {
        *m = sc_directory_next(*lo, hi);
        *end = *m ? (*m)->base : hi;
        if (*m && (*m)->base <= *lo)
            *end = sc_matrix_end(*m);
        else
            *m = NULL;
        if (!*m || !is_matrix_lent(*m, device))
            return true;
        *lo = *end;
    }
    return false;
}

/* --- lending one matrix ------------------------------------------------------------------------------------------- */

static enum sc_type type_of(size_t elem) { return elem == 4 ? SC_S : elem == 8 ? SC_D : SC_Z; }

static struct sc_view view_of(const struct sc_matrix *m)
{
    return (struct sc_view){.ptr = (void *)m->base, .type = type_of(m->elem), .vector = m->folded,
                            .rows = m->folded ? (int64_t)(m->bytes / m->elem) : m->rows,
                            .cols = m->folded ? 1 : m->cols, .ld = m->folded ? 1 : m->ld, .access = SC_RDWR};
}

/* Bytes without a matrix: whole pages are the columns of one; the rest is a vector. */
static struct sc_view view_of_gap(uintptr_t lo, uintptr_t hi)
{
    struct sc_view v = {.ptr = (void *)lo, .type = SC_D, .rows = COLUMN / 8, .cols = (int64_t)((hi - lo) / COLUMN),
                        .ld = COLUMN / 8, .access = SC_RDWR, .spread = 1, .block = TILE_COLUMNS};

    if (lo % COLUMN == 0 && v.cols > 1)
        return v;
    hi = lo % COLUMN && sc_page_ceil(lo) < hi ? sc_page_ceil(lo) : hi;
    return (struct sc_view){.ptr = (void *)lo, .type = SC_S, .vector = true, .rows = (int64_t)((hi - lo) / 4),
                            .cols = 1, .ld = 1, .access = SC_RDWR, .spread = 1};
}

/* Where the block's memory on devices is, or is to be. */
static int home_for(const struct sc_matrix *m, int device)
{
    int d = -1;

    for (int j = 0; j < m->col_parts && d < 0; j++)
        d = place_of(m, sc_matrix_tile((struct sc_matrix *)m, 0, j));
    return d < 0 ? device : d;
}

static void target_of(struct sc_matrix *m, int j, struct sc_piece *p, struct sc_target *x)
{
    struct sc_tile *t = sc_matrix_tile(m, 0, j);

    *p = (struct sc_piece){.rows = t->rows, .cols = t->cols, .access = SC_RDWR};
    *x = (struct sc_target){.m = m, .t = t, .sectors = sc_sectors_all(t->sectors), .full = sc_sectors_all(t->sectors),
                            .ld = t->rows, .host = host_of(m, t), .host_ld = m->ld};
}

static void pin(struct sc_matrix *m, int device, int tiles, int by)
{
    for (int j = 0; j < tiles; j++)
        sc_matrix_tile(m, 0, j)->copy[device].lru.pins += (uint32_t)by;
}

static enum sc_status acquire_tiles(struct sc_matrix *m, int device, struct sc_fence *f)
{
    enum sc_status status = SC_OK;
    struct sc_piece p;
    struct sc_target x;

    for (int j = 0; j < m->col_parts && status == SC_OK; j++) {
        target_of(m, j, &p, &x);
        if (x.t->copy[device].memory && (uintptr_t)x.t->copy[device].memory != x.host) {
            sc_transfer_to_host(m, x.t, x.sectors); /* its memory lies elsewhere, from before */
            sc_memory_release(device, m, x.t);
        }
        status = sc_task_acquire(device, &p, &x);
        if (status == SC_OK && (uintptr_t)x.t->copy[device].memory != x.host)
            status = SC_ERR_UNSUPPORTED;
    }
    if (status == SC_OK && sc_mark(device, SC_STREAM_COMPUTE, f) != SC_OK)
        status = SC_ERR_DEVICE;
    for (int j = 0; j < m->col_parts && status == SC_OK; j++) {
        target_of(m, j, &p, &x);
        sc_task_release(device, &p, &x, *f);
    }
    return status;
}

/* *f: reached when all tiles are valid on the device.  The pages close once, not for writing before the upload and for
 * reading behind it: each change of protection interrupts the process's other processors. */
static enum sc_status lend_tiles(struct sc_matrix *m, int device, uint64_t begun, struct sc_fence *f)
{
    enum sc_status status;

    m->lending = begun;
    status = acquire_tiles(m, device, f);
    m->lending = 0;
    if (status != SC_OK)
        sc_protocol_paint(m->base, sc_matrix_end(m));
    return status;
}

/* The working device does not reach the memory, which is given up there. */
static void leave(struct sc_matrix *m, int home)
{
    for (int j = 0; j < m->col_parts; j++) {
        struct sc_tile *t = sc_matrix_tile(m, 0, j);

        sc_transfer_to_host(m, t, sc_sectors_all(t->sectors));
        sc_memory_release(home, m, t);
    }
}

static enum sc_status lend_matrix(struct sc_matrix *m, const struct aim *a, struct sc_fence *f)
{
    int home = home_for(m, a->target);
    enum sc_status status;

    if (sc_protocol.failed[home])
        return SC_ERR_DEVICE;
    if (!reaches(a->device, home)) {
        leave(m, home);
        home = a->target;
    }
    pin(m, home, m->col_parts, 1);
    status = lend_tiles(m, home, a->begun, f);
    pin(m, home, m->col_parts, -1);
    return status;
}

/* Lock held before and after, dropped meanwhile. */
static enum sc_status lend_view(const struct sc_view *view, const struct aim *a)
{
    struct sc_fence f = SC_FENCE_NONE;
    struct sc_operand operand;
    enum sc_status status;

    sc_protocol_unlock();
    status = sc_coherence_begin_lending(view, &operand);
    if (status == SC_OK) {
        status = has_form(operand.matrix) ? lend_matrix(operand.matrix, a, &f) : SC_ERR_UNSUPPORTED;
        if (status == SC_OK)
            sc_lent_behind(f);
        sc_coherence_end(&operand, 1);
    }
    sc_protocol_lock();
    return status;
}

/* Tiles in several rows, columns with gaps, bytes behind an array that are no element, or a matrix that goes on behind
 * the lent bytes: brought home, and covered by a new matrix. */
static void release(uintptr_t lo, uintptr_t hi)
{
    sc_protocol_unlock();
    sc_coherence_release_range(lo, hi - lo);
    sc_protocol_lock();
}

/* Lends what is missing of a block, once from its beginning to its end.  Lock held before and after. */
static enum sc_status lend_block(const struct sc_lending *b, const struct aim *a)
{
    uintptr_t lo = b->base, hi = b->base + b->bytes, end, none;
    enum sc_status status = SC_OK;
    struct sc_matrix *m;
    struct sc_view view;

    while (status == SC_OK && next_missing(&lo, hi, a->device, &m, &end)) {
        if (m && (!has_form(m) || end > hi)) {
            release(m->base, end);
            return SC_OK;
        }
        view = m ? view_of(m) : view_of_gap(lo, end);
        if (sc_view_empty(&view) || lo % 4) {
            release(b->base, hi);
            return SC_OK;
        }
        status = lend_view(&view, a);
        sc_view_extent(&view, &none, &lo);
    }
    return status;
}

/* --- lending ------------------------------------------------------------------------------------------------------ */

static void touch_tile(int device, struct sc_copy *c, uint64_t begun)
{
    if (c->lru.last_use < begun)
        c->interval = begun - c->lru.last_use;
    sc_memory_touch(device, c);
}

/* Where blocks compete for memory, the uses of the blocks of this launch are noted. */
static void touch(const struct sc_lending *blocks, int count, uint64_t begun)
{
    if (!sc_protocol.loans_compete)
        return;
    for (int i = 0; i < count; i++) {
        uintptr_t lo = blocks[i].base, hi = blocks[i].base + blocks[i].bytes;
        struct sc_matrix *m;

        while (lo < hi && (m = sc_directory_next(lo, hi))) {
            for (int j = 0; m->lent && j < m->col_parts; j++)
                touch_tile(m->lent - 1, &sc_matrix_tile(m, 0, j)->copy[m->lent - 1], begun);
            lo = sc_matrix_end(m);
        }
    }
}

static int first_missing(const struct sc_lending *blocks, int count, int device)
{
    for (int i = 0; i < count; i++) {
        uintptr_t lo = blocks[i].base, end;
        struct sc_matrix *m;

        if (next_missing(&lo, blocks[i].base + blocks[i].bytes, device, &m, &end))
            return i;
    }
    return -1;
}

/* A system call of another thread needs open pages for a while. */
static void pause_lending(void)
{
    sc_protocol_unlock();
    nanosleep(&(struct timespec){0, 100000}, NULL);
    sc_protocol_lock();
}

/* Bytes of device memory of a block. */
static uint64_t place_bytes(const struct sc_lending *b)
{
    return (b->bytes + SC_PLACE_UNIT - 1) / SC_PLACE_UNIT * SC_PLACE_UNIT;
}

/* The device with memory of a block at its address, or -1. */
static int memory_of(const struct sc_lending *b)
{
    uintptr_t lo = b->base, hi = b->base + b->bytes;
    struct sc_matrix *m;
    int d = -1;

    while (d < 0 && lo < hi && (m = sc_directory_next(lo, hi))) {
        d = home_for(m, -1);
        lo = sc_matrix_end(m);
    }
    return d;
}

/* The same, or -1: none that `device` reaches. */
static int home_of(const struct sc_lending *b, int device)
{
    int d = memory_of(b);

    return d >= 0 && reaches(device, d) ? d : -1;
}

/* Work of the program may use memory that has to go: memory of the block on a device out of reach, or memory that an
 * eviction was refused (evict.c).  True after a wait for the work; then the block is looked at again. */
static bool await_work(const struct sc_lending *b, int device, enum sc_status refused)
{
    if (!sc_lent_any() || (refused != SC_ERR_DEVICE_MEMORY && (memory_of(b) < 0 || home_of(b, device) >= 0)))
        return false;
    sc_lent_await();
    return true;
}

/* Where new blocks find room: the working device, or the devices that it reaches. */
struct room {
    int device;
    uint64_t left[SC_DEVICES_MAX];
};

static void room_start(struct room *r, int device, const struct sc_lending *blocks, int count)
{
    *r = (struct room){.device = device};
    for (int d = 0; d < sc_protocol.devices; d++)
        if (!reaches(device, d) || sc_protocol.failed[d] || sc_protocol.ops->room(d, &r->left[d]) != SC_OK)
            r->left[d] = 0;
    for (int i = 0; i < count; i++) {
        int home = home_of(&blocks[i], device);

        if (home >= 0)
            r->left[home] -= place_bytes(&blocks[i]) < r->left[home] ? place_bytes(&blocks[i]) : r->left[home];
    }
}

/* Takes room for a block; -1: nowhere. */
static int room_take(struct room *r, uint64_t bytes)
{
    int target = r->left[r->device] >= bytes ? r->device : -1;

    for (int d = 0; d < sc_protocol.devices && target < 0; d++)
        target = r->left[d] >= bytes ? d : -1;
    if (target >= 0)
        r->left[target] -= bytes;
    return target;
}

/* The bytes of new blocks for which there is no room. */
static uint64_t missing_bytes(struct room r, const struct sc_lending *blocks, int count)
{
    uint64_t missing = 0;

    for (int i = 0; i < count; i++)
        if (home_of(&blocks[i], r.device) < 0 && room_take(&r, place_bytes(&blocks[i])) < 0)
            missing += place_bytes(&blocks[i]);
    if (missing > r.left[r.device])
        return missing - r.left[r.device];
    return missing ? SC_PLACE_UNIT : 0;
}

/* If the blocks do not fit together, the largest gives way, with some bytes more for blocks to come. */
static int too_much(const struct room *r, const struct sc_lending *blocks, int count, size_t *keep)
{
    uint64_t missing = missing_bytes(*r, blocks, count), left;
    int largest = 0;

    if (!missing)
        return -1;
    for (int i = 1; i < count; i++)
        largest = blocks[i].bytes > blocks[largest].bytes ? i : largest;
    left = place_bytes(&blocks[largest]);
    missing += left / SPARE;
    *keep = left > missing ? (left - missing) / SC_PLACE_UNIT * SC_PLACE_UNIT : 0;
    if (*keep < left / LEAST_PART)
        *keep = 0;
    return largest;
}

/* Changes with every state and every call.  A call on lent memory may change no state, and still be at work.  With or
 * without the lock: both numbers only grow. */
static uint64_t progress(void)
{
    return __atomic_load_n(&sc_protocol.moves, __ATOMIC_RELAXED) +
           __atomic_load_n(&sc_protocol.calls, __ATOMIC_RELAXED);
}

/* The program is about to start work.  Drops the lock. */
static void start_work(int device, void *const *stream, struct sc_loan *loan)
{
    struct sc_fences wait;

    sc_lent_begins(device);
    sc_lent_order(device, stream, &wait);
    *loan = (struct sc_loan){.since = progress(), .looks = sc_lent_looks(), .device = device};
    sc_protocol_unlock();
    if (wait.count)
        sc_fences_sync(&wait);
}

int sc_coherence_lend(int ordinal, const struct sc_lending *blocks, int count, void *const *stream,
                      struct sc_loan *loan, size_t *keep)
{
    enum sc_status status = SC_OK;
    int device, i = 0, tries = 2 * count + 8, pauses = PAUSES;
    struct aim aim;
    struct room room = {.device = -1};

    *keep = 0;
    sc_protocol_lock();
    sc_devices_look();
    device = sc_protocol.ops && !sc_protocol.stopping ? device_of(ordinal) : -1;
    aim = (struct aim){.device = device, .begun = sc_protocol.tick + 1};
    if (device >= 0)
        touch(blocks, count, aim.begun);
    /* Threads may take a block away or use it in a system call, and blocks may evict each other. */
    while (device >= 0 && (i = first_missing(blocks, count, device)) >= 0 && tries > 0 && pauses > 0) {
        if (await_work(&blocks[i], device, SC_OK))
            continue;
        aim.target = home_of(&blocks[i], device);
        if (aim.target < 0 && room.device < 0) {
            int refused;

            room_start(&room, device, blocks, count);
            refused = too_much(&room, blocks, count, keep);
            if (refused >= 0) {
                i = refused;
                break;
            }
        }
        if (aim.target < 0)
            aim.target = room_take(&room, place_bytes(&blocks[i]));
        if (aim.target < 0)
            aim.target = device;
        status = lend_block(&blocks[i], &aim);
        if (await_work(&blocks[i], device, status)) {
            room.device = -1;
            continue;
        }
        if (status != SC_OK && status != SC_ERR_CONFLICT)
            break;
        tries -= status == SC_OK;
        if (status == SC_ERR_CONFLICT) {
            pause_lending();
            pauses--;
        }
    }
    if (device >= 0 && i < 0)
        start_work(device, stream, loan);
    else
        sc_protocol_unlock();
    return i;
}

bool sc_coherence_lends(int ordinal, uint64_t bytes)
{
    uint64_t room = 0;
    bool has;
    int device;

    sc_protocol_lock();
    sc_devices_look();
    device = sc_protocol.ops && sc_protocol.ops->room && !sc_protocol.stopping ? device_of(ordinal) : -1;
    has = device >= 0 && !sc_protocol.failed[device] && sc_protocol.ops->room(device, &room) == SC_OK;
    sc_protocol_unlock();
    return has && room >= bytes;
}

/* The loan comes before the changes of a thread that has the lock and has not looked for work of the program yet. */
static bool again_without_lock(const struct sc_loan *loan)
{
    return loan->looks && progress() == loan->since && sc_lent_begins_again(loan->device, loan->looks);
}

bool sc_coherence_lend_again(int ordinal, void *const *stream, struct sc_loan *loan)
{
    bool lent;

    if (again_without_lock(loan))
        return true;
    sc_protocol_lock();
    lent = sc_protocol.ops && progress() == loan->since && device_of(ordinal) >= 0;
    if (lent)
        start_work(device_of(ordinal), stream, loan);
    else
        sc_protocol_unlock();
    return lent;
}

bool sc_coherence_spare(int ordinal, uint64_t bytes)
{
    const struct sc_device_ops *ops;
    bool any = false;
    uint64_t had;
    int device;

    sc_lent_lock();
    sc_devices_look();
    ops = sc_protocol.ops && sc_protocol.ops->spare && !sc_protocol.stopping ? sc_protocol.ops : NULL;
    device = ops ? device_of(ordinal) : -1;
    if (device >= 0) {
        had = sc_levels.resident[device];
        while (had - sc_levels.resident[device] < bytes && sc_memory_evict(device) == SC_OK)
            any = true;
        sc_protocol_mend();
        ops->spare(device, bytes);
    }
    sc_protocol_unlock();
    return any;
}

/* --- one address -------------------------------------------------------------------------------------------------- */

/* Whether the devices have memory of one address; they then stay open until the call is over. */
static bool begin_placing(struct sc_host_placing *placing)
{
    const struct sc_device_ops *ops;
    bool begins;

    sc_protocol_lock();
    sc_protocol_await_admission();
    ops = sc_protocol.ops;
    begins = ops && ops->reserve && !sc_protocol.stopping;
    if (begins) {
        *placing = (struct sc_host_placing){ops->zone, ops->reserve, ops->unreserve, ops->pin, ops->unpin};
        sc_protocol_call_begins();
    }
    sc_protocol_unlock();
    return begins;
}

/* Memory is allocated without the protocol's lock (host/README.md, rule M13). */
void *sc_coherence_united_alloc(size_t bytes)
{
    static struct sc_host_placing placing;
    void *memory = NULL;

    sc_quiet_enter();
    if (begin_placing(&placing)) {
        memory = sc_host_united_alloc(bytes, &placing);
        sc_protocol_lock();
        sc_protocol_call_over();
        sc_protocol_unlock();
    }
    sc_quiet_leave();
    return memory;
}

void sc_coherence_separate(void *memory, size_t keep)
{
    struct sc_host_block block;

    if (!sc_host_is_united(memory) || !sc_host_block_of(memory, &block))
        return;
    sc_coherence_release_range(block.base, block.bytes);
    sc_host_span_separate(&block, keep);
}
/* SPDX-License-Identifier: BSD-2-Clause */
