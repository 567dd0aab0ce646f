/* Copies between locations: sources, streams and fences, in chunks large enough for the link and small enough to
 * start kernels on the first chunks. */
#include "coherence/protocol.h"

#include <string.h>

#define CHUNK_BYTES (UINT64_C(16) << 20)
#define RELAY_CHUNK (UINT64_C(4) << 20) /* of copies that are sources of further copies */
#define LARGER 8 /* times a chunk, at most */
#define SMALL_TILE (UINT64_C(1) << 20)
#define NEAR 1.1 /* rates are measured: as near as another */

/* Bytes sent by each device since the start. */
static uint64_t served[SC_DEVICES_MAX];

void sc_transfer_reset(void) { memset(served, 0, sizeof served); }

/* One copy: rows [r0, r1) and columns [c0, c1) of the lattice, inside one tile. */
struct rect {
    struct sc_matrix *m;
    struct sc_tile *t;
    int64_t r0, r1, c0, c1;
    int from, to;
    enum sc_transfer_what what;
};

static void *at(const struct rect *r, int where)
{
    if (where == SC_HOST)
        return (void *)(r->m->base + (uintptr_t)(r->c0 * r->m->ld + r->r0) * r->m->elem);
    return (char *)r->t->copy[where].memory +
           ((r->c0 - r->t->col) * r->t->rows + (r->r0 - r->t->row)) * (int64_t)r->m->elem;
}

static size_t pitch(const struct rect *r, int where)
{
    return (size_t)(where == SC_HOST ? r->m->ld : r->t->rows) * r->m->elem;
}

/* Rows past the tile's last run on in the next column (one long column of a contiguous lattice). */
static uint64_t sectors_of(const struct rect *r)
{
    int64_t c0 = r->c0 + (r->r0 - r->t->row) / r->t->rows, c1 = r->c1 + (r->r1 - 1 - r->t->row) / r->t->rows;

    return sc_tile_sectors(r->m, r->t, c0, c1 - c0);
}

/* Memory contiguous on both sides goes in one piece; the last column of a folded vector ends with the vector. */
static struct sc_copy2d copy_of(const struct rect *r)
{
    struct sc_copy2d copy = {.dst = at(r, r->to), .src = at(r, r->from), .dst_pitch = pitch(r, r->to),
                             .src_pitch = pitch(r, r->from), .width = (size_t)(r->r1 - r->r0) * r->m->elem,
                             .height = (size_t)(r->c1 - r->c0), .dst_device = r->to, .src_device = r->from};
    size_t left = sc_matrix_end(r->m) - (uintptr_t)at(r, SC_HOST);

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert(r->r0 < r->r1 && r->c0 < r->c1 && r->from != r->to);
    sc_assert(copy.dst && (r->to == SC_HOST || !((uintptr_t)copy.dst % r->m->elem))); /* the program may align less */
    sc_assert(copy.src && (r->from == SC_HOST || !((uintptr_t)copy.src % r->m->elem)));
    if ((copy.width == copy.dst_pitch && copy.width == copy.src_pitch) || copy.height == 1) {
        copy.width *= copy.height;
        copy.height = 1;
        copy.width = copy.width < left ? copy.width : left;
        copy.dst_pitch = copy.src_pitch = copy.width;
    }
    if (r->from == SC_HOST)
        copy.src = sc_host_alias(copy.src);
    else
        served[r->from] += copy.width * copy.height;
    if (r->to == SC_HOST)
        copy.dst = sc_host_alias(copy.dst);
    return copy;
}

/* Enqueues it. */
static enum sc_status copy_rect(const struct rect *r, int on, enum sc_stream stream)
{
    struct sc_copy2d copy = copy_of(r);

    sc_transfer_count(r->m, r->t, sectors_of(r), r->from, r->to, copy.width * copy.height, r->what);
    return sc_protocol.ops->copy(on, stream, &copy);
}

/* --- to a device -------------------------------------------------------------------------------------------------- */

typedef double rate_function(int from, int to);

/* A copy in transit is a source like an arrived copy: the reader waits for its fence. */
static bool is_source(int device, const struct sc_tile *t, int s, int from)
{
    return from != device && t->copy[from].valid >> s & 1 &&
           !(sc_config.without & SC_WITHOUT_TRANSIT && t->host_valid >> s & 1 && !sc_reached(t->copy[from].ready[s]));
}

/* Whether d's copy is better than a copy at equal distance.  In this order: a device's copy rather than the host's,
 * whose links are shared; in a small tile (waiting takes longer than copying) a copy made by a kernel rather than by
 * a transfer; the home's copy; the copy of the device that has sent the fewest bytes. */
static bool is_better(const struct sc_tile *t, uint64_t bytes, int s, int d, int than)
{
    bool made, made_there;

    if (than == SC_HOST)
        return true;
    made = t->copy[d].ready[s].stream == SC_STREAM_COMPUTE;
    made_there = t->copy[than].ready[s].stream == SC_STREAM_COMPUTE;
    if (bytes < SMALL_TILE && made != made_there)
        return made;
    return d == t->home || (than != t->home && served[d] < served[than]);
}

/* The nearest copy of a sector. */
static int source_by(rate_function *rate_of, int device, const struct sc_matrix *m, const struct sc_tile *t, int s)
{
    uint64_t bytes = (uint64_t)(t->rows * t->cols) * m->elem;
    bool on_host = t->host_valid >> s & 1;
    double best = on_host ? rate_of(SC_HOST, device) : 0;
    int from = SC_HOST;

    for (int d = 0; d < sc_protocol.devices; d++) {
        double rate = is_source(device, t, s, d) ? rate_of(d, device) : 0;

        if (rate > 0 && (rate > best * NEAR || (rate * NEAR >= best && is_better(t, bytes, s, d, from)))) {
            best = rate;
            from = d;
        }
    }
    if (from != SC_HOST || on_host)
        return from;
    for (int d = 0; d < sc_protocol.devices; d++) /* through the host's memory, by the driver */
        if (d != device && t->copy[d].valid >> s & 1)
            return d;
    return SC_HOST;
}

static int source_for(int device, const struct sc_matrix *m, const struct sc_tile *t, int s)
{
    return source_by(sc_route_direct_rate, device, m, t, s);
}

static enum sc_status after_landed(int device, enum sc_stream stream, const struct sc_tile *t, int s, int e)
{
    enum sc_status status = SC_OK;

    for (int i = s; i < e && status == SC_OK; i++)
        status = sc_order(device, stream, t->landed[i]);
    return status;
}

/* Notes an upload.  Uploads to a device are in order, so the latest stands for all. */
static void note_read(struct sc_tile *t, int device, int s, int e, struct sc_fence f)
{
    for (int i = s; i < e; i++) {
        if (t->read[i].seq && t->read[i].device != device)
            t->read_apart[t->read[i].device] = t->host_read[t->read[i].device];
        t->read[i] = f;
    }
    t->host_read[device] = f;
}

/* From the host: sectors [s, e). */
static enum sc_status upload(const struct rect *r, int s, int e)
{
    struct sc_tile *t = r->t;
    int device = r->to;
    enum sc_status status = sc_order_overwriting(device, device, SC_STREAM_H2D, t, s, e);
    struct sc_fence f;

    if (status == SC_OK)
        status = after_landed(device, SC_STREAM_H2D, t, s, e);
    if (status == SC_OK)
        status = copy_rect(r, device, SC_STREAM_H2D);
    if (status == SC_OK)
        status = sc_mark(device, SC_STREAM_H2D, &f);
    if (status != SC_OK)
        return status;
    for (int i = s; i < e; i++)
        t->copy[device].ready[i] = f;
    t->copy[device].pending |= sc_sectors_range(s, e);
    note_read(t, device, s, e, f);
    return SC_OK;
}

/* Collects a copy from another device. */
static enum sc_status add_move(struct sc_moves *moves, const struct rect *r, int s, int e)
{
    sc_assert(!(r->t->copy[r->from].partial & sc_sectors_range(s, e)));
    struct sc_move v = {.copy = copy_of(r), .m = r->m, .t = r->t, .sectors = sectors_of(r), .s = s, .e = e,
                        .from = r->from, .to = r->to, .part = r->what == SC_TRANSFER_PART};

    return sc_moves_add(moves, &v);
}

/* Rows [r0, r1) of the lattice, of sectors [s, e). */
static enum sc_status fetch_rows(int device, int from, struct sc_matrix *m, struct sc_tile *t, int s, int e,
                                 int64_t r0, int64_t r1, struct sc_moves *moves)
{
    struct rect r = {m, t, r0, r1, sc_tile_sector_col(m, t, s), sc_tile_sector_end(m, t, e), from, device,
                     SC_TRANSFER_WHOLE};

    return from == SC_HOST ? upload(&r, s, e) : add_move(moves, &r, s, e);
}

static enum sc_status bring(int device, struct sc_matrix *m, struct sc_tile *t, uint64_t sectors, uint64_t chunk,
                            int hops);

/* Brings sectors to a device on the route.  False: the device has no spare memory, or fails. */
static bool relay(int via, struct sc_matrix *m, struct sc_tile *t, uint64_t sectors, int hops)
{
    enum sc_status status = sc_memory_spare(via, m, t);

    if (status == SC_OK)
        status = bring(via, m, t, sectors, RELAY_CHUNK, hops - 1);
    if (status == SC_ERR_DEVICE)
        sc_device_gave_up(via, "passing data on");
    return status == SC_OK;
}

/* A sector for all devices may come over the link of the tile's device first, and go from there to the other devices:
 * every link to the host then carries a part. */
static int first_holder(int device, const struct sc_matrix *m, const struct sc_tile *t)
{
    return m->passed_on && t->home != device && !sc_protocol.failed[t->home] &&
                   sc_route_direct_rate(t->home, device) > sc_route_direct_rate(SC_HOST, device)
               ? t->home
               : -1;
}

/* from[s]: source of sector s.  The best route may lead over another device.  The sectors are brought there first, and
 * this device is the source. */
static void find_sources(int device, struct sc_matrix *m, struct sc_tile *t, uint64_t sectors, int hops,
                         int from[SC_SECTORS])
{
    uint64_t over[SC_DEVICES_MAX] = {0};

    for (uint64_t rest = sectors; rest; rest &= rest - 1) {
        int s = __builtin_ctzll(rest), via;

        from[s] = source_by(hops > 0 ? sc_route_rate : sc_route_direct_rate, device, m, t, s);
        via = hops <= 0 ? -1 : from[s] == SC_HOST ? first_holder(device, m, t) : sc_route_via(from[s], device);
        if (via >= 0)
            over[via] |= UINT64_C(1) << s;
    }
    for (int via = 0; via < sc_protocol.devices; via++) {
        bool relayed = over[via] && relay(via, m, t, over[via], hops);

        for (uint64_t rest = over[via]; rest; rest &= rest - 1) {
            int s = __builtin_ctzll(rest);

            from[s] = relayed ? via : source_for(device, m, t, s);
        }
    }
}

/* Of a fast link in larger pieces, which take about as long and cost the calling thread less. */
static uint64_t chunk_from(int from, int device, uint64_t chunk)
{
    double ratio = sc_route_direct_rate(from, device) / sc_route_direct_rate(SC_HOST, device);

    if (from == SC_HOST || chunk < CHUNK_BYTES || !(ratio > 1))
        return chunk;
    return ratio < LARGER ? (uint64_t)(ratio * (double)chunk) : LARGER * chunk;
}

/* Uploads sectors from the host; collects sectors from other devices. */
static enum sc_status collect(int device, struct sc_matrix *m, struct sc_tile *t, uint64_t sectors, uint64_t chunk,
                              int hops, struct sc_moves *moves)
{
    uint64_t need = sectors & ~t->copy[device].valid, uploads = 0, todo;
    enum sc_status status = SC_OK;
    int from[SC_SECTORS];

    if (need && t->copy[device].lease) {
        sc_moves_issue(moves); /* they may read the memory that the tile leaves; their failures show in their states */
        status = sc_memory_part(device, m, t);
        if (status != SC_OK)
            return status;
    }
    find_sources(device, m, t, need, hops, from);
    for (uint64_t rest = need; rest; rest &= rest - 1) {
        int s = __builtin_ctzll(rest);

        if (from[s] != SC_HOST)
            sc_memory_touch(from[s], &t->copy[from[s]]);
        else
            uploads |= UINT64_C(1) << s;
    }
    sc_protocol_shared(m, t, device, uploads); /* before the first upload reads the host (C5) */
    for (todo = need; todo && status == SC_OK;) {
        int s = __builtin_ctzll(todo), e = s + 1;
        uint64_t most = chunk_from(from[s], device, chunk);

        while (e < t->sectors && todo >> e & 1 && from[e] == from[s] && sc_tile_sector_bytes(m, t, s, e) < most)
            e++;
        status = fetch_rows(device, from[s], m, t, s, e, t->row, t->row + t->rows, moves);
        if (status == SC_OK)
            todo &= ~sc_sectors_range(s, e);
    }
    if (todo)
        sc_protocol_dropped(m, t, device, todo & uploads);
    return status;
}

static enum sc_status bring(int device, struct sc_matrix *m, struct sc_tile *t, uint64_t sectors, uint64_t chunk,
                            int hops)
{
    struct sc_moves moves; /* large */
    enum sc_status status, issued;

    moves.count = 0;
    status = collect(device, m, t, sectors, chunk, hops, &moves);
    issued = sc_moves_issue(&moves);
    return status == SC_OK ? issued : status;
}

enum sc_status sc_transfer_collect(int device, struct sc_matrix *m, struct sc_tile *t, uint64_t sectors,
                                   struct sc_moves *moves)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    sc_assert_sectors(t, sectors);
    sc_assert(t->copy[device].memory);
    return collect(device, m, t, sectors, CHUNK_BYTES, sc_config.max_hops, moves);
}

enum sc_status sc_transfer_to_device(int device, struct sc_matrix *m, struct sc_tile *t, uint64_t sectors)
{
    enum sc_status status;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    sc_assert_sectors(t, sectors);
    sc_assert(t->copy[device].memory);
    status = bring(device, m, t, sectors, CHUNK_BYTES, sc_config.max_hops);
    sc_assert(status != SC_OK || !(sectors & ~t->copy[device].valid));
    return status;
}

int sc_transfer_source(int device, const struct sc_matrix *m, const struct sc_tile *t, int s)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    sc_assert_run(t, s, s + 1);
    return source_for(device, m, t, s);
}

enum sc_status sc_transfer_rows(int device, struct sc_matrix *m, struct sc_tile *t, int s, int e, struct sc_rows part,
                                struct sc_rows without)
{
    int from = source_for(device, m, t, s);
    uint64_t sectors = sc_sectors_range(s, e);
    enum sc_status status = SC_OK, issued;
    struct sc_moves moves; /* large */

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    sc_assert_run(t, s, e);
    sc_assert(!(t->copy[device].valid & sectors));
    sc_assert(without.from >= without.end || sc_rows_have(part, without));
    status = sc_memory_part(device, m, t);
    if (status != SC_OK)
        return status;
    if (from != SC_HOST)
        sc_memory_touch(from, &t->copy[from]);
    if (sc_protocol.check)
        sc_check_scribble(m, t, device, sectors); /* omitted rows must not be right by chance */
    sc_protocol_shared(m, t, device, sectors); /* before the host is read (C5) */
    sc_protocol_partial(t, device, sectors, part);
    if (without.from >= without.end)
        without.from = without.end = part.end;
    moves.count = 0;
    if (part.from < without.from)
        status = fetch_rows(device, from, m, t, s, e, part.from, without.from, &moves);
    if (status == SC_OK && without.end < part.end)
        status = fetch_rows(device, from, m, t, s, e, without.end, part.end, &moves);
    issued = sc_moves_issue(&moves);
    status = status == SC_OK ? issued : status;
    if (status != SC_OK)
        sc_protocol_dropped(m, t, device, sectors);
    return status;
}

/* Rows [r0, r1) of a sector, from the host. */
static enum sc_status upload_rows(int device, struct sc_matrix *m, struct sc_tile *t, int s, int64_t r0, int64_t r1)
{
    bool on_host = t->host_valid >> s & 1;
    struct rect r = {m, t, r0, r1, sc_tile_sector_col(m, t, s), sc_tile_sector_end(m, t, s + 1), SC_HOST, device,
                     on_host ? SC_TRANSFER_WHOLE : SC_TRANSFER_BACK};

    return r0 < r1 ? upload(&r, s, s + 1) : SC_OK;
}

enum sc_status sc_transfer_rest(int device, struct sc_matrix *m, struct sc_tile *t, uint64_t sectors)
{
    enum sc_status status = SC_OK;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    for (uint64_t rest = sectors & t->copy[device].partial; rest && status == SC_OK; rest &= rest - 1) {
        int s = __builtin_ctzll(rest);
        struct sc_rows all = sc_tile_rows(t), here = sc_copy_rows(&t->copy[device], s);

        status = sc_memory_part(device, m, t);
        if (status == SC_OK)
            status = upload_rows(device, m, t, s, all.from, here.from);
        if (status == SC_OK)
            status = upload_rows(device, m, t, s, here.end, all.end);
        if (status == SC_OK)
            sc_protocol_completed(t, device, rest & -rest);
    }
    return status;
}

enum sc_status sc_transfer_back(int device, struct sc_matrix *m, struct sc_tile *t, int64_t r0, int64_t r1, int64_t c0,
                                int64_t c1)
{
    struct rect r = {m, t, r0, r1, c0, c1, SC_HOST, device, SC_TRANSFER_BACK};
    uint64_t sectors = sectors_of(&r);

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    sc_assert(t->row <= r0 && r0 < r1 && r1 <= t->row + t->rows);
    sc_assert(t->col <= c0 && c0 < c1 && c1 <= t->col + t->cols);
    sc_assert(!(sectors & (t->host_valid | ~t->copy[device].valid)));
    if (sc_memory_part(device, m, t) != SC_OK)
        return SC_ERR_DEVICE;
    return upload(&r, __builtin_ctzll(sectors), 64 - __builtin_clzll(sectors));
}

/* The sector's memory on the device then has valid and old elements: the sector stays invalid there. */
enum sc_status sc_transfer_part(int device, struct sc_matrix *m, struct sc_tile *t, int s, int64_t first, int64_t last,
                                struct sc_moves *moves)
{
    int64_t origin = t->col * m->rows;
    int from = source_for(device, m, t, s);
    struct rect r = {m, t, first - origin, last - origin, t->col, t->col + 1, from, device, SC_TRANSFER_PART};
    enum sc_status status;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    sc_assert_run(t, s, s + 1);
    sc_assert(first < last && from != SC_HOST);
    status = sc_memory_part(device, m, t);
    if (status != SC_OK)
        return status;
    sc_memory_touch(from, &t->copy[from]);
    return add_move(moves, &r, s, s + 1);
}

/* --- to the host -------------------------------------------------------------------------------------------------- */

static int source_for_host(const struct sc_tile *t, int s)
{
    if (t->copy[t->home].valid >> s & 1)
        return t->home;
    for (int d = 0; d < sc_protocol.devices; d++)
        if (t->copy[d].valid >> s & 1)
            return d;
    return SC_HOST;
}

static enum sc_status try_land(const struct rect *r, int s, int e, struct sc_fence *f)
{
    struct sc_tile *t = r->t;
    int from = r->from;
    enum sc_status status = SC_OK;

    for (int i = s; i < e && status == SC_OK; i++)
        status = sc_order(from, SC_STREAM_D2H, t->copy[from].ready[i]);
    for (int i = s; i < e && status == SC_OK; i++)
        status = sc_order(from, SC_STREAM_D2H, t->read[i]);
    for (int d = 0; d < sc_protocol.devices && status == SC_OK; d++) {
        status = sc_order(from, SC_STREAM_D2H, t->read_apart[d]);
        if (d == from || sc_reached(t->host_write[d]))
            continue;
        for (int i = s; i < e && status == SC_OK; i++) /* the fences outlive the copy */
            status = sc_order(from, SC_STREAM_D2H, t->copy[d].sent[i]);
    }
    if (status == SC_OK)
        status = copy_rect(r, from, SC_STREAM_D2H);
    return status == SC_OK ? sc_mark(from, SC_STREAM_D2H, f) : status;
}

/* Enqueues a copy to the host of a rectangle whose sectors [s, e) are valid on device `from`; *f is reached when the
 * copy has landed.  Waits for uploads of the same sectors and for other devices' copies of them.  False: the
 * device is lost, or (SC_HOST) no device had the data; the sectors' states have changed. */
static bool land(const struct rect *r, int s, int e, struct sc_fence *f)
{
    int from = r->from;

    if (from == SC_HOST) { /* C1 is broken; no thread shall wait for ever */
        sc_log_once(SC_LOG_ERROR, "the data at %p is nowhere", at(r, SC_HOST));
        sc_protocol_home(r->m, r->t, sc_sectors_range(s, e));
        return false;
    }
    if (try_land(r, s, e, f) != SC_OK) { /* dirty data has no other copy: retry */
        sc_device_gave_up(from, "sending data home");
        if (try_land(r, s, e, f) != SC_OK) {
            sc_device_lost(from, "it does not send data home");
            return false;
        }
    }
    r->t->host_write[from] = *f;
    r->t->copy[from].reader[SC_DEVICES_MAX] = *f;
    for (int i = s; i < e; i++)
        r->t->copy[from].sent[i] = *f;
    return true;
}

/* Whether one device has the first and the last sector to bring home, and wrote the last sector first: copies in the
 * order of columns would then begin with the sector finished last. */
static bool from_the_end(const struct sc_tile *t, uint64_t todo)
{
    int first = __builtin_ctzll(todo), last = 63 - __builtin_clzll(todo), from = source_for_host(t, first);
    const struct sc_fence *ready;

    if (from == SC_HOST || source_for_host(t, last) != from)
        return false;
    ready = t->copy[from].ready;
    return ready[last].stream == ready[first].stream && ready[last].seq < ready[first].seq;
}

/* Current rows of a sector at its source. */
static struct sc_rows rows_at(const struct sc_tile *t, int from, int s)
{
    return from == SC_HOST ? sc_tile_rows(t) : sc_copy_rows(&t->copy[from], s);
}

/* Whether sectors s and `with`, which comes from `from`, have one source and the same rows. */
static bool joins(const struct sc_tile *t, int s, int with, int from)
{
    return source_for_host(t, s) == from && sc_rows_equal(rows_at(t, from, s), rows_at(t, from, with));
}

/* Sectors [*s, *e) for one transfer home, from an end of `todo`. */
static int next_home(const struct sc_matrix *m, const struct sc_tile *t, uint64_t todo, bool backwards, int *s, int *e)
{
    int from;

    *s = backwards ? 63 - __builtin_clzll(todo) : __builtin_ctzll(todo);
    *e = *s + 1;
    from = source_for_host(t, *s);
    while (!backwards && *e < t->sectors && todo >> *e & 1 && joins(t, *e, *s, from) &&
           sc_tile_sector_bytes(m, t, *s, *e) < CHUNK_BYTES)
        ++*e;
    while (backwards && *s > 0 && todo >> (*s - 1) & 1 && joins(t, *s - 1, *s, from) &&
           sc_tile_sector_bytes(m, t, *s, *e) < CHUNK_BYTES)
        --*s;
    return from;
}

static void bring_home(struct sc_matrix *m, struct sc_tile *t, uint64_t sectors, bool evicted)
{
    uint64_t todo = sectors & ~t->host_valid & sc_sectors_all(t->sectors);
    bool backwards = todo && from_the_end(t, todo);

    for (; todo; todo = sectors & ~t->host_valid & sc_sectors_all(t->sectors)) {
        int s, e, from = next_home(m, t, todo, backwards, &s, &e);
        struct sc_rows rows = rows_at(t, from, s);
        struct rect r = {m, t, rows.from, rows.end, sc_tile_sector_col(m, t, s), 0, from, SC_HOST,
                         evicted ? SC_TRANSFER_EVICTED : SC_TRANSFER_WHOLE};
        struct sc_fence f;

        r.c1 = sc_tile_sector_end(m, t, e);
        if (!land(&r, s, e, &f))
            continue;
        for (int i = s; i < e; i++)
            t->landed[i] = f;
        sc_protocol_home(m, t, sc_sectors_range(s, e));
    }
    sc_assert(!(sectors & ~t->host_valid & sc_sectors_all(t->sectors)));
}

void sc_transfer_to_host(struct sc_matrix *m, struct sc_tile *t, uint64_t sectors)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    bring_home(m, t, sectors, false);
}

void sc_transfer_evicted(struct sc_matrix *m, struct sc_tile *t, uint64_t sectors)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    bring_home(m, t, sectors, true);
}

bool sc_transfer_is_partial(const struct sc_matrix *m)
{
    uint64_t any = 0;

    sc_assert_held(SC_RANK_PROTOCOL);
    for (int i = 0; i < m->row_parts * m->col_parts; i++)
        for (int d = 0; d < sc_protocol.devices; d++)
            any |= m->tiles[i].copy[d].partial;
    return any;
}

/* A run of sectors [s, *e) with one source and the same rows.  SC_HOST: sector s is home, and its landing fence is
 * added. */
static int next_run(const struct sc_tile *t, int s, int end, int *e, struct sc_fences *fences)
{
    bool on_host = t->host_valid >> s & 1;
    int from = on_host ? SC_HOST : source_for_host(t, s);

    *e = s + 1;
    if (on_host)
        sc_fences_add(fences, t->landed[s]);
    while (!on_host && *e < end && !(t->host_valid >> *e & 1) && joins(t, *e, s, from))
        ++*e;
    return from;
}

static enum sc_status land_window(const struct rect *r, int s, int e, struct sc_fences *fences)
{
    struct sc_fence f;

    if (!land(r, s, e, &f))
        return SC_ERR_DEVICE;
    sc_fences_add(fences, f);
    return SC_OK;
}

enum sc_status sc_transfer_window(struct sc_matrix *m, struct sc_tile *t, int64_t r0, int64_t r1, int64_t c0,
                                  int64_t c1, struct sc_fences *fences)
{
    int end = (int)((c1 - 1 - t->col) / m->width) + 1;
    enum sc_status status = SC_OK;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert(t->row <= r0 && r0 < r1 && r1 <= t->row + t->rows);
    sc_assert(t->col <= c0 && c0 < c1 && c1 <= t->col + t->cols);
    for (int s = (int)((c0 - t->col) / m->width), e; s < end && status == SC_OK; s = e) {
        int from = next_run(t, s, end, &e, fences);
        struct sc_rows rows = sc_rows_common(rows_at(t, from, s), (struct sc_rows){r0, r1});
        struct rect r = {m, t, rows.from, rows.end, sc_tile_sector_col(m, t, s), sc_tile_sector_end(m, t, e), from,
                         SC_HOST, SC_TRANSFER_PART};

        r.c0 = r.c0 > c0 ? r.c0 : c0;
        r.c1 = r.c1 < c1 ? r.c1 : c1;
        if (!(t->host_valid >> s & 1) && r.r0 < r.r1)
            status = land_window(&r, s, e, fences);
    }
    return status;
}

enum sc_status sc_transfer_linear(struct sc_matrix *m, struct sc_tile *t, int64_t first, int64_t last,
                                  struct sc_fences *fences)
{
    int64_t origin = t->col * m->rows;
    int end = (int)(((last - 1) / m->rows - t->col) / m->width) + 1;
    enum sc_status status = SC_OK;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert(first < last && first >= origin && last <= origin + t->cols * m->rows);
    sc_assert(!sc_transfer_is_partial(m));
    for (int s = (int)((first / m->rows - t->col) / m->width), e; s < end && status == SC_OK; s = e) {
        int from = next_run(t, s, end, &e, fences);
        int64_t a = sc_tile_sector_col(m, t, s) * m->rows, b = sc_tile_sector_end(m, t, e) * m->rows;
        /* As one long column. */
        struct rect r = {m, t, (a > first ? a : first) - origin, (b < last ? b : last) - origin, t->col, t->col + 1,
                         from, SC_HOST, SC_TRANSFER_PART};

        if (!(t->host_valid >> s & 1))
            status = land_window(&r, s, e, fences);
    }
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
