/* The invariants of the protocol (coherence/protocol.c), replayed over a trace.  The check follows the states and, in
 * addition, the places of the newest data: a transfer copies newest data, and a kernel's write makes newest data.  The
 * check therefore also finds a permitted change of state without a transfer.
 *
 * Conditions, by the invariant's name:
 *   C1  Every sector is valid at some place.  Exceptions: its matrix is being forgotten, or lost with a failing device.
 *       The only copy is not evicted.
 *   C2  Data that a kernel has written is valid there and nowhere else.
 *   C3  Pages are opened only for data valid on the host, and for writing only without a copy on a device.  Pages of
 *       data that a kernel has written are closed.  Not while calls leave the pages of the matrix open.
 *   C4  A state changes from the recorded state to a permitted state.
 *   C5  Data that a kernel needs or a transfer reads is valid there, and was brought there.  Uploaded pages are closed
 *       for writing.
 *   C8  A matrix goes before its memory does, and no event concerns a matrix that is gone.
 *   D1  Matrices do not overlap.
 * The invariants of locks and fences (C6, C7) leave no events. */
#include "trace/check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "trace/list.h"

#define PAGE UINT64_C(4096)
#define ADDRESSES (UINT64_C(1) << 48)
#define HOST 0 /* index of a location */

struct thread {
    uint32_t number;
    const struct sc_event *call; /* the call that the thread is in, or NULL */
    const struct sc_event *gives; /* memory that the thread is freeing, or NULL */
};

struct check {
    const struct sc_trace_reading *trace;
    FILE *out;
    struct sc_check_state state;
    struct thread *threads;
    size_t thread_count, thread_room;
    const struct sc_event *writes[SC_TRACE_GROUP_MAX]; /* operands that the next kernel writes */
    int write_count;
    uint64_t kernels, transfers, changes, lost;
    bool no_memory;
};

/* --- what is said ------------------------------------------------------------------------------------------------- */

static struct thread *thread_of(struct check *check, uint32_t number)
{
    for (size_t i = 0; i < check->thread_count; i++)
        if (check->threads[i].number == number)
            return &check->threads[i];
    if (!sc_trace_list_reserve(&check->threads, &check->thread_room, check->thread_count, 1, sizeof *check->threads)) {
        check->no_memory = true;
        return NULL;
    }
    check->threads[check->thread_count] = (struct thread){.number = number};
    return &check->threads[check->thread_count++];
}

static void put_matrix(struct check *check, const struct sc_event *event)
{
    const struct sc_check_matrix *matrix = sc_check_matrix_numbered(&check->state, event->matrix);

    if (!matrix)
        return;
    fprintf(check->out, "matrix %" PRIu32 ": %" PRId64 " x %" PRId64 " at 0x%" PRIx64 ", first used by ", event->matrix,
            matrix->made->made.rows, matrix->made->made.cols, matrix->made->made.base);
    sc_trace_put_text(check->out,
                      matrix->made->routine < SC_TRACE_ROUTINES_MAX ? check->trace->routines[matrix->made->routine]
                                                                  : (struct sc_trace_text){0}, "-");
    putc('\n', check->out);
}

/* Prints the broken rule, the event and the place. Returns false. */
static bool __attribute__((format(printf, 4, 5)))
broken(struct check *check, const struct sc_event *event, const char *rule, const char *format, ...)
{
    const struct thread *thread = thread_of(check, event->thread);
    va_list list;

    fprintf(check->out, "%s is broken: ", rule);
    va_start(list, format);
    vfprintf(check->out, format, list);
    va_end(list);
    fputs("\nevent:  ", check->out);
    sc_trace_put_event(check->out, check->trace, event);
    if (event->matrix)
        put_matrix(check, event);
    if (thread && thread->call) {
        fputs("during: ", check->out);
        sc_trace_put_event(check->out, check->trace, thread->call);
    }
    if (!check->trace->header.ended)
        fputs("the trace was not closed: what is missing of other threads may be the reason\n", check->out);
    return false;
}

static bool damaged(struct check *check, const struct sc_event *event)
{
    return broken(check, event, "the file", "no program writes this event");
}

static const char *name_of(int location, char text[24])
{
    if (location == HOST)
        return "the host";
    snprintf(text, 24, "device %d", location - 1);
    return text;
}

/* --- finding ------------------------------------------------------------------------------------------------------ */

static bool is_location(int device) { return device >= -1 && device < SC_DEVICES_MAX; }

static struct sc_check_matrix *matrix_of(struct check *check, const struct sc_event *event)
{
    struct sc_check_matrix *matrix = sc_check_matrix_numbered(&check->state, event->matrix);

    if (!matrix || !matrix->live) {
        broken(check, event, "C8", matrix ? "the matrix was forgotten before" : "there is no such matrix");
        return NULL;
    }
    return matrix;
}

/* The given sectors with a page below `prot`; none while calls leave the pages of the event's matrix open. */
static uint64_t too_open(struct check *check, const struct sc_event *event, const struct sc_check_tile *tile,
                         uint64_t sectors, uint8_t prot)
{
    const struct sc_check_matrix *matrix = sc_check_matrix_numbered(&check->state, event->matrix);

    return matrix && matrix->kept ? 0 : sc_check_sectors_below(&check->state, tile, sectors, prot);
}

/* The tile of an event, if the tile has the event's sectors and the device exists; otherwise NULL. */
static struct sc_check_tile *tile_of(struct check *check, const struct sc_event *event)
{
    struct sc_check_matrix *matrix = matrix_of(check, event);
    struct sc_check_tile *tile;

    if (!matrix)
        return NULL;
    if (event->tile >= matrix->count || !is_location(event->device)) {
        damaged(check, event);
        return NULL;
    }
    tile = &matrix->tiles[event->tile];
    if (event->sectors & ~tile->sectors) {
        broken(check, event, "C4", "the tile has no sectors %#" PRIx64, event->sectors & ~tile->sectors);
        return NULL;
    }
    return tile;
}

static bool is_lost(struct check *check, const struct sc_check_matrix *matrix)
{
    return broken(check, matrix->lost, "C1", "these sectors are valid nowhere from here on");
}

/* Open conditions of a tile must be settled before the next event of the tile. */
static bool is_settled(struct check *check, const struct sc_event *event, const struct sc_check_tile *tile)
{
    const struct sc_check_matrix *matrix = sc_check_matrix_numbered(&check->state, event->matrix);

    if (tile->owed)
        return broken(check, tile->owes, "C5",
                      "sectors %#" PRIx64 " become valid on the host and nothing has brought them", tile->owed);
    return !matrix->lost || is_lost(check, matrix);
}

/* --- states ------------------------------------------------------------------------------------------------------- */

static uint64_t in_state(const struct sc_check_tile *tile, uint8_t state)
{
    uint64_t any = sc_check_on_devices(tile);

    if (state == SC_MSI_G)
        return ~tile->valid[HOST];
    return tile->valid[HOST] & (state == SC_MSI_C ? ~any : any);
}

/* A location has lost sectors. */
static void lose(struct check *check, const struct sc_event *event, struct sc_check_tile *tile, int location)
{
    uint64_t any = sc_check_on_devices(tile);
    struct sc_check_matrix *matrix = sc_check_matrix_numbered(&check->state, event->matrix);

    any |= tile->given_up;
    tile->has[location] &= ~event->sectors;
    tile->has[HOST] |= tile->owed & ~any; /* the writer invalidates every other copy before it overwrites the sectors */
    tile->owed &= any;
    if (event->sectors & ~any & ~tile->valid[HOST] && !matrix->lost)
        matrix->lost = event;
}

static bool state(struct check *check, const struct sc_event *event)
{
    struct sc_check_tile *tile = tile_of(check, event);
    int location = sc_check_at(event->device);
    bool gains = event->peer != 0;

    check->changes++;
    if (!tile || event->old_state > SC_MSI_G || event->new_state > SC_MSI_G)
        return tile ? damaged(check, event) : false;
    if ((gains || location == HOST) && !is_settled(check, event, tile))
        return false;
    if (event->sectors & ~in_state(tile, event->old_state))
        return broken(check, event, "C4", "sectors %#" PRIx64 " were in another state",
                      event->sectors & ~in_state(tile, event->old_state));
    if (event->sectors & (gains ? tile->valid[location] : ~tile->valid[location]))
        return broken(check, event, "C4", gains ? "they were valid there already" : "they were not valid there");
    tile->valid[location] ^= event->sectors;
    if (event->sectors & ~in_state(tile, event->new_state))
        return broken(check, event, "C4", "sectors %#" PRIx64 " are in another state now",
                      event->sectors & ~in_state(tile, event->new_state));
    if (!gains)
        lose(check, event, tile, location);
    else if (location == HOST && (tile->owed = event->sectors & ~(tile->has[HOST] | tile->given_up)))
        tile->owes = event;
    if (gains && location == HOST) { /* the host's older data of lost sectors counts as newest from now on */
        tile->has[HOST] |= event->sectors & tile->given_up;
        tile->given_up &= ~event->sectors;
    }
    return true;
}

/* A failing device loses the sectors that no other place has; the loss is reported. */
static bool lost(struct check *check, const struct sc_event *event)
{
    struct sc_check_tile *tile = tile_of(check, event);

    if (tile)
        tile->given_up |= event->sectors;
    check->lost++;
    return tile != NULL;
}

/* --- transfers and kernels ---------------------------------------------------------------------------------------- */

/* The host's older bytes go to a device that alone has the sectors. */
static bool restored(struct check *check, const struct sc_event *event, const struct sc_check_tile *tile, int to)
{
    uint64_t wrong = event->sectors & (~tile->has[to] | ~tile->valid[to] | tile->valid[HOST]);
    char text[24];

    return !wrong ||
           broken(check, event, "C2", "older bytes of sectors %#" PRIx64 " go to %s, which is not their only holder",
                  wrong, name_of(to, text));
}

static bool transfer(struct check *check, const struct sc_event *event)
{
    struct sc_check_tile *tile = tile_of(check, event);
    int from = sc_check_at(event->peer), to = sc_check_at(event->device);
    uint64_t wrong;
    char text[24];

    check->transfers++;
    if (!tile || !is_location(event->peer) || from == to)
        return tile ? damaged(check, event) : false;
    if (!is_settled(check, event, tile))
        return false;
    if (event->is_part == 2 && from == HOST)
        return restored(check, event, tile, to);
    if ((wrong = event->sectors & ~tile->valid[from]))
        return broken(check, event, "C5", "sectors %#" PRIx64 " are not valid on %s, from where they are copied", wrong,
                      name_of(from, text));
    if ((wrong = event->sectors & ~tile->has[from]))
        return broken(check, event, "C5",
                      "sectors %#" PRIx64 " are copied from %s before anything has brought them there", wrong,
                      name_of(from, text));
    if (to != HOST && event->is_part) {
        tile->part[to] |= event->sectors;
        return true;
    }
    if (to != HOST && (wrong = event->sectors & ~tile->valid[to]))
        return broken(check, event, "C4", "sectors %#" PRIx64 " are copied to %s, which is not said to have them",
                      wrong, name_of(to, text));
    if (from == HOST && (wrong = too_open(check, event, tile, event->sectors, 1)))
        return broken(check, event, "C5",
                      "the pages of sectors %#" PRIx64 " are open for writing while they are uploaded", wrong);
    tile->has[to] |= event->sectors;
    return true;
}

static bool evict(struct check *check, const struct sc_event *event)
{
    struct sc_check_tile *tile = event->matrix ? tile_of(check, event) : NULL;
    int location = sc_check_at(event->device);
    uint64_t others;

    if (!event->matrix)
        return true;
    if (!tile || location == HOST)
        return tile ? damaged(check, event) : false;
    others = tile->valid[HOST];
    for (int i = sc_check_at(0); i < SC_CHECK_LOCATIONS; i++)
        others |= i != location ? tile->valid[i] : 0;
    if (tile->valid[location] & ~others)
        return broken(check, event, "C1", "sectors %#" PRIx64 " are evicted and valid nowhere else",
                      tile->valid[location] & ~others);
    tile->part[location] = 0;
    return is_settled(check, event, tile);
}

static bool use(struct check *check, const struct sc_event *event)
{
    struct sc_check_tile *tile = tile_of(check, event);
    int location = sc_check_at(event->device);
    uint64_t wrong, needed = event->use.needed;
    char text[24];

    if (!tile || location == HOST || check->write_count == SC_TRACE_GROUP_MAX || needed & ~event->sectors)
        return tile ? damaged(check, event) : false;
    if (!is_settled(check, event, tile))
        return false;
    if ((wrong = needed & ~tile->valid[location]))
        return broken(check, event, "C5", "a kernel needs sectors %#" PRIx64 ", which %s does not have", wrong,
                      name_of(location, text));
    if ((wrong = (needed & ~tile->has[location]) | (event->use.parts & ~(tile->has[location] | tile->part[location]))))
        return broken(check, event, "C5", "a kernel needs sectors %#" PRIx64 ", which nothing has brought to %s", wrong,
                      name_of(location, text));
    if (event->access & SC_WRITE)
        check->writes[check->write_count++] = event;
    return true;
}

/* After a kernel has written: the kernel's data is the newest, and every other copy is invalid. */
static bool written(struct check *check, const struct sc_event *used)
{
    struct sc_check_tile *tile = tile_of(check, used);
    int location = sc_check_at(used->device);
    uint64_t wrong;
    char text[24];

    if (!tile)
        return false;
    if ((wrong = used->sectors & ~tile->valid[location]))
        return broken(check, used, "C2", "%s has written sectors %#" PRIx64 " and is not said to have them",
                      name_of(location, text), wrong);
    for (int i = 0; i < SC_CHECK_LOCATIONS; i++) {
        if (i != location && (wrong = used->sectors & tile->valid[i]))
            return broken(check, used, "C2", "a kernel has written sectors %#" PRIx64 ", and %s still has the old ones",
                          wrong, name_of(i, text));
        tile->has[i] &= ~used->sectors;
        tile->part[i] &= ~used->sectors;
    }
    tile->has[location] |= used->sectors;
    if ((wrong = too_open(check, used, tile, used->sectors, 2)))
        return broken(check, used, "C3", "a kernel has written sectors %#" PRIx64 ", whose pages are open", wrong);
    return true;
}

static bool kernel(struct check *check, const struct sc_event *event)
{
    int count = check->write_count;

    check->kernels++;
    check->write_count = 0;
    for (int i = 0; i < count; i++) {
        const struct sc_event *used = check->writes[i];

        if (used->thread != event->thread || used->device != event->device)
            return damaged(check, event);
        if (!written(check, used))
            return false;
    }
    return true;
}

/* --- memory ------------------------------------------------------------------------------------------------------- */

static bool is_range(uint64_t address, uint64_t bytes) { return address <= ADDRESSES && bytes <= ADDRESSES; }

static bool opened(struct check *check, const struct sc_event *event, const struct sc_check_matrix *matrix,
                   uint32_t number)
{
    const struct sc_check_tile *tile = &matrix->tiles[number];
    uint64_t end = event->range.address + event->range.bytes, wrong;
    uint64_t sectors = sc_check_sectors_at(tile, tile->sectors, event->range.address, end);

    if (matrix->kept)
        return true;
    if (event->protection == 0 && (wrong = sectors & sc_check_on_devices(tile)))
        return broken(check, event, "C3", "pages of sectors %#" PRIx64 " of tile %" PRIu32 " of matrix %" PRIu32
                      " are open for writing, and devices have copies", wrong, number, matrix->made->matrix);
    wrong = sectors & ~(event->protection == 0 ? tile->valid[HOST] : tile->valid[HOST] | tile->has[HOST]);
    if (wrong && matrix->lost)
        return is_lost(check, matrix);
    if (wrong)
        return broken(check, event, "C3", "pages of sectors %#" PRIx64 " of tile %" PRIu32 " of matrix %" PRIu32
                      " are open, which are not on the host", wrong, number, matrix->made->matrix);
    return true;
}

static bool protect(struct check *check, const struct sc_event *event)
{
    const struct sc_event_range *range = &event->range;
    uint64_t end = range->address + range->bytes;
    size_t first, count;

    if (!is_range(range->address, range->bytes) || !range->bytes || (range->address | range->bytes) % PAGE ||
        event->protection > 2)
        return damaged(check, event);
    if (!sc_check_protect(&check->state, range->address, end, event->protection)) {
        check->no_memory = true;
        return false;
    }
    count = event->protection < 2 ? sc_check_matrices_at(&check->state, range->address, end, &first) : 0;
    for (size_t i = 0; i < count; i++) {
        const struct sc_check_matrix *matrix = sc_check_live(&check->state, first + i);

        for (uint32_t t = 0; t < matrix->count; t++)
            if (!opened(check, event, matrix, t))
                return false;
    }
    return true;
}

static bool matrix(struct check *check, const struct sc_event *event)
{
    const struct sc_check_state *state = &check->state;
    const struct sc_event_matrix *made = &event->made;
    size_t first;

    if (!event->matrix || !made->bytes || !is_range(made->base, made->bytes) ||
        (state->count && state->matrices[state->count - 1].made->matrix >= event->matrix))
        return damaged(check, event);
    if (sc_check_matrices_at(state, made->base, made->base + made->bytes, &first))
        return broken(check, event, "D1", "it overlaps matrix %" PRIu32, sc_check_live(state, first)->made->matrix);
    check->no_memory = !sc_check_matrix_add(&check->state, event);
    return !check->no_memory;
}

/* Whether the numbers of a tile are possible. Computations with a possible tile do not overflow. */
static bool is_possible(const struct sc_check_matrix *matrix, const struct sc_event *event)
{
    const struct sc_event_matrix *made = &matrix->made->made;
    const struct sc_event_tile *laid = &event->laid;
    uint64_t count;

    if (event->tile != matrix->count || !laid->column_bytes || laid->column_bytes > laid->step || !laid->columns ||
        !laid->width || !is_range(laid->step, laid->columns) || laid->width > laid->columns ||
        laid->step > ADDRESSES / laid->columns || laid->base < made->base || laid->base - made->base >= made->bytes)
        return false;
    count = (laid->columns - 1) / laid->width + 1;
    return count <= 64 && laid->sectors == ~UINT64_C(0) >> (64 - count);
}

static bool tile(struct check *check, const struct sc_event *event)
{
    struct sc_check_matrix *matrix = matrix_of(check, event);

    if (!matrix)
        return false;
    if (!is_possible(matrix, event))
        return damaged(check, event);
    check->no_memory = !sc_check_tile_add(matrix, event);
    return !check->no_memory;
}

/* Afterwards the pages follow the states again: C3. */
static bool keep(struct check *check, const struct sc_event *event)
{
    struct sc_check_matrix *matrix = matrix_of(check, event);

    if (!matrix)
        return false;
    matrix->kept = event->peer != 0;
    for (uint32_t t = 0; t < matrix->count && !matrix->kept; t++) {
        const struct sc_check_tile *tile = &matrix->tiles[t];
        uint64_t wrong = sc_check_on_devices(tile);

        if ((wrong = sc_check_sectors_below(&check->state, tile, wrong, 1)))
            return broken(check, event, "C3", "pages of sectors %#" PRIx64 " of tile %" PRIu32
                          " stay open for writing, and devices have copies", wrong, t);
    }
    return true;
}

static bool forget(struct check *check, const struct sc_event *event)
{
    struct sc_check_matrix *matrix = matrix_of(check, event);

    if (!matrix)
        return false;
    for (uint32_t i = 0; i < matrix->count; i++)
        if (matrix->tiles[i].owed)
            return is_settled(check, event, &matrix->tiles[i]);
    sc_check_matrix_forget(&check->state, matrix);
    return true;
}

/* The next event of a thread after a FREE: the memory is gone, and its matrices are forgotten. */
static bool has_given_up(struct check *check, struct thread *thread, const struct sc_event *event)
{
    const struct sc_event *gives = thread->gives;
    size_t first, count;

    if (!gives || event->kind == SC_EVENT_STATE || event->kind == SC_EVENT_FORGET || event->kind == SC_EVENT_PROTECT ||
        (event->kind == SC_EVENT_TRANSFER && event->is_part == 2))
        return true;
    thread->gives = NULL;
    if (!is_range(gives->range.address, gives->range.bytes))
        return damaged(check, gives);
    count = sc_check_matrices_at(&check->state, gives->range.address, gives->range.address + gives->range.bytes,
                                 &first);
    for (size_t i = 0; i < count; i++)
        if (sc_check_live(&check->state, first + i)->made->nanoseconds < gives->nanoseconds)
            return broken(check, gives, "C8", "matrix %" PRIu32 " lies in this memory and was not forgotten",
                          sc_check_live(&check->state, first + i)->made->matrix);
    return true;
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

static bool follow(struct check *check, const struct sc_event *event)
{
    struct thread *thread = thread_of(check, event->thread);

    if (!thread || !has_given_up(check, thread, event))
        return false;
    switch (event->kind) {
    case SC_EVENT_CALL: thread->call = event; return true;
    case SC_EVENT_DONE: thread->call = NULL; return true;
    case SC_EVENT_FREE: thread->gives = event; return true;
    case SC_EVENT_STATE: return state(check, event);
    case SC_EVENT_TRANSFER: return transfer(check, event);
    case SC_EVENT_LOST: return lost(check, event);
    case SC_EVENT_EVICT: return evict(check, event);
    case SC_EVENT_USE: return use(check, event);
    case SC_EVENT_KERNEL: return kernel(check, event);
    case SC_EVENT_MATRIX: return matrix(check, event);
    case SC_EVENT_TILE: return tile(check, event);
    case SC_EVENT_FORGET: return forget(check, event);
    case SC_EVENT_PROTECT: return protect(check, event);
    case SC_EVENT_KEEP: return keep(check, event);
    }
    return true;
}

/* At the end no matrix has lost sectors. */
static bool nothing_lost(struct check *check)
{
    for (size_t i = 0; i < check->state.count; i++)
        if (check->state.matrices[i].lost)
            return is_lost(check, &check->state.matrices[i]);
    return true;
}

static bool follow_all(struct check *check)
{
    const struct sc_trace_reading *trace = check->trace;

    for (size_t i = 0; i < trace->event_count; i++)
        if (!follow(check, &trace->events[i]))
            return false;
    if (trace->header.ended && !nothing_lost(check))
        return false;
    fprintf(check->out, "every invariant held: %zu events, %zu matrices, %" PRIu64 " changes of states, %" PRIu64
            " transfers, %" PRIu64 " kernels\n", trace->event_count, check->state.count, check->changes,
            check->transfers, check->kernels);
    if (check->lost)
        fprintf(check->out, "gone with a device that failed: parts of %" PRIu64 " tiles\n", check->lost);
    return true;
}

enum sc_status sc_trace_check(const char *path, FILE *out)
{
    struct sc_trace_reading trace;
    struct check check = {.trace = &trace, .out = out};
    enum sc_status status = sc_trace_read(path, &trace);

    if (status != SC_OK)
        return status;
    if (trace.header.lost || trace.header.dropped) {
        sc_log(SC_LOG_ERROR,
               "cannot check %s: %" PRIu64 " events are missing; a higher SEMCACHE_TRACE_LIMIT keeps them", path,
               trace.header.lost + trace.header.dropped);
        status = SC_ERR_INVALID;
    } else if (!follow_all(&check)) {
        status = SC_ERR_CONFLICT;
    }
    if (check.no_memory)
        sc_log(SC_LOG_ERROR, "no memory to check %s", path);
    if (fflush(out) != 0 || ferror(out)) /* the caller that opened the stream reports the cause */
        status = SC_ERR_IO;
    sc_check_state_end(&check.state);
    free(check.threads);
    sc_trace_read_end(&trace);
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
