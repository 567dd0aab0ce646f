#include "autotuner/schedule.h"

#include <math.h>
#include <stddef.h>

#include "autotuner/load.h"

/* Tile sizes for strategies with square tiles. Kernels of SMALL_TILE are efficient; beyond PARTS tiles per device and
 * row, more tiles mean more transfers only. */
#define SMALL_TILE 1024
#define LARGE_TILE 2048
#define PARTS 4
#define TILES_MAX 32 /* in a direction */
#define STATIONS 4      /* blocks that wait for each device (BLASX section IV-C) */
#define LONG_SUM 4      /* times the larger side of the result: then partial sums are fewer bytes than inputs */
#define MOVING_PAYS 1.3 /* auto moves blocks if staying takes so many times as long */
#define NEW_PAYS 1.05   /* the same for a new result, which nothing has to move to its home */

#define SAME_SPEED 0.05 /* of devices, as a part of their speed */
#define EVEN 1.1        /* most work of a device over the mean */

static double larger(double a, double b) { return a > b ? a : b; }

static int blocks_of(const struct sc_schedule *s) { return s->rows * s->cols; }

static double total_work(const struct sc_schedule *s)
{
    double sum = 0;

    for (int b = 0; b < blocks_of(s); b++)
        sum += s->work[b];
    return sum;
}

/* Share of a device; equal shares if no share is given. */
static double share_of(const struct sc_schedule *s, int device)
{
    double sum = 0;

    for (int d = 0; d < s->devices; d++)
        sum += s->share[d];
    return sum > 0 ? s->share[device] / sum : 1.0 / s->devices;
}

static double rate_of(const struct sc_schedule *s, int device) { return s->rate[device] > 0 ? s->rate[device] : 1; }

bool sc_schedule_is_even(const double *work, const double *rate, int devices)
{
    double all = 0, most = 0;

    for (int d = 0; d < devices; d++) {
        if (fabs(rate[d] / rate[0] - 1) > SAME_SPEED)
            return false;
        all += work ? work[d] : 0;
        most = work ? larger(work[d], most) : 0;
    }
    return most * devices <= EVEN * all;
}

/* --- static strategies -------------------------------------------------------------------------------------------- */

/* Device of position `at` (0 to 1, of the work) if the devices take their shares in order. */
static int device_at(const struct sc_schedule *s, double at)
{
    double end = 0;

    for (int d = 0; d < s->devices; d++) {
        end += share_of(s, d);
        if (at < end)
            return d;
    }
    return s->devices - 1;
}

/* SemCache++: a device has neighbouring rows, or columns. Half of a row's own work counts as before the row. */
static void split(const struct sc_schedule *s, bool by_rows)
{
    double total = total_work(s), before = 0;

    for (int line = 0; line < (by_rows ? s->rows : s->cols); line++) {
        int step = by_rows ? s->rows : 1, first = by_rows ? line : line * s->rows, device;
        int count = by_rows ? s->cols : s->rows;
        double work = 0;

        for (int e = 0; e < count; e++)
            work += s->work[first + e * step];
        device = device_at(s, total > 0 ? (before + work / 2) / total : 0);
        for (int e = 0; e < count; e++)
            s->device[first + e * step] = device;
        before += work;
    }
}

static void by_rows(const struct sc_schedule *s) { split(s, true); }
static void by_columns(const struct sc_schedule *s) { split(s, false); }

/* The preferred device, unless it is ahead of its share by a block; otherwise the device that is farthest behind its
 * share. */
static int behind(const struct sc_schedule *s, const double *done, double total, double work, int preferred)
{
    double most = 0;
    int best = preferred;

    if (done[preferred] + work <= share_of(s, preferred) * total + work / 2)
        return preferred;
    for (int d = 0; d < s->devices; d++) {
        double open = share_of(s, d) * total - done[d];

        if (open > most) {
            most = open;
            best = d;
        }
    }
    return best;
}

/* Devices with a share. */
static int active(const struct sc_schedule *s, int device[SC_DEVICES_MAX])
{
    int count = 0;

    for (int d = 0; d < s->devices; d++)
        if (share_of(s, d) > 0)
            device[count++] = d;
    return count;
}

/* PARALiA: two-dimensional block-cyclic; a device with its full share passes its turn on. */
static void cyclic(const struct sc_schedule *s)
{
    double total = total_work(s), done[SC_DEVICES_MAX] = {0};
    int down, across, device[SC_DEVICES_MAX];

    sc_device_grid(active(s, device), &down, &across);
    for (int j = 0; j < s->cols; j++)
        for (int i = 0; i < s->rows; i++) {
            int b = i + j * s->rows, turn = device[i % down * across + j % across];

            s->device[b] = behind(s, done, total, s->work[b], turn);
            done[s->device[b]] += s->work[b];
        }
}

/* cuBLASXt: blocks in order, dealt out in turn. */
static void round_robin(const struct sc_schedule *s)
{
    int turn = 0;

    for (int b = 0; b < blocks_of(s); b++)
        if (s->work[b] > 0)
            s->device[b] = turn++ % s->devices;
}

static void owner(const struct sc_schedule *s)
{
    for (int b = 0; b < blocks_of(s); b++)
        s->device[b] = s->owner[b];
}

/* --- dynamic: BLASX ----------------------------------------------------------------------------------------------- */

/* BLASX: the schedule by predicted times; the first idle device demands a block. */
struct demand {
    const struct sc_schedule *s;
    int next;                                 /* first block outside of the stations */
    int station[SC_DEVICES_MAX][STATIONS];    /* blocks */
    int waiting[SC_DEVICES_MAX];              /* number of blocks in the station */
    double idle_at[SC_DEVICES_MAX];
};

/* True if a device has the inputs of a row or column, after the blocks assigned so far. */
static bool has(const struct sc_schedule *s, int device, bool row, int line)
{
    const uint32_t *at = row ? s->row_at : s->col_at;
    int step = row ? s->rows : 1, first = row ? line : line * s->rows, count = row ? s->cols : s->rows;

    if (at && at[line] >> device & 1)
        return true;
    for (int e = 0; e < count; e++)
        if (s->device[first + e * step] == device)
            return true;
    return false;
}

static double missing(const struct sc_schedule *s, int device, int block)
{
    int i = block % s->rows, j = block / s->rows;
    double bytes = s->block_bytes && s->owner[block] != device ? s->block_bytes[block] : 0;

    if (s->row_bytes && !has(s, device, true, i))
        bytes += s->row_bytes[i];
    if (s->col_bytes && !has(s, device, false, j))
        bytes += s->col_bytes[j];
    return bytes;
}

static void fill_station(struct demand *q, int device)
{
    while (q->waiting[device] < STATIONS && q->next < blocks_of(q->s)) {
        if (q->s->work[q->next] > 0)
            q->station[device][q->waiting[device]++] = q->next;
        q->next++;
    }
}

/* Block of a station with the fewest missing bytes on the device; -1: the station is empty. */
static int nearest(const struct demand *q, int station, int device)
{
    int best = -1;
    double least = 0;

    for (int e = 0; e < q->waiting[station]; e++) {
        double bytes = missing(q->s, device, q->station[station][e]);

        if (best < 0 || bytes < least) {
            best = e;
            least = bytes;
        }
    }
    return best;
}

/* Takes a block from the device's own station, which the queue refills; if both are empty, from the fullest station. */
static int demanded(struct demand *q, int device)
{
    int from = device, at, block;

    fill_station(q, device);
    if (!q->waiting[device])
        for (int d = 0; d < q->s->devices; d++)
            if (q->waiting[d] > q->waiting[from])
                from = d;
    at = nearest(q, from, device);
    if (at < 0)
        return -1;
    block = q->station[from][at];
    q->station[from][at] = q->station[from][--q->waiting[from]];
    return block;
}

static int first_idle(const struct demand *q)
{
    int first = 0;

    for (int d = 1; d < q->s->devices; d++)
        if (q->idle_at[d] < q->idle_at[first])
            first = d;
    return first;
}

static void dynamic(const struct sc_schedule *s)
{
    struct demand q = {.s = s};

    for (int b = 0; b < blocks_of(s); b++)
        s->device[b] = -1;
    for (int d = 0; d < s->devices; d++)
        fill_station(&q, d);
    for (;;) {
        int device = first_idle(&q), block = demanded(&q, device);
        double bytes;

        if (block < 0)
            return;
        bytes = missing(s, device, block);
        s->device[block] = device;
        q.idle_at[device] += sc_load_seconds(&(struct sc_load){.run = s->work[block] / rate_of(s, device),
                                                               .in = s->link > 0 ? bytes / s->link : 0});
    }
}

/* --- auto --------------------------------------------------------------------------------------------------------- */

/* Devices with blocks in a row or column. */
static uint32_t users_of(const struct sc_schedule *s, const int *device, bool row, int line)
{
    int step = row ? s->rows : 1, first = row ? line : line * s->rows, count = row ? s->cols : s->rows;
    uint32_t users = 0;

    for (int e = 0; e < count; e++)
        if (s->work[first + e * step] > 0)
            users |= UINT32_C(1) << device[first + e * step];
    return users;
}

static double seconds_over(const struct sc_schedule *s, int from, int to, double bytes)
{
    double rate = s->map ? s->map->shared.rate[from][to] : s->link;

    if (rate <= 0) /* no direct link: up to the host and down again */
        rate = s->link / 2;
    return rate > 0 ? bytes / rate : 0;
}

/* Seconds from the nearest of the devices. */
static double seconds_from(const struct sc_schedule *s, uint32_t devices, int to, double bytes)
{
    double least = -1;

    for (int d = 0; d < s->devices; d++)
        if (d != to && devices >> d & 1) {
            double seconds = seconds_over(s, d, to, bytes);

            least = least < 0 || seconds < least ? seconds : least;
        }
    return larger(least, 0);
}

/* Adds the seconds of a row's or column's inputs to its users. */
static void add_inputs(const struct sc_schedule *s, const int *device, bool row, struct sc_load *load)
{
    const double *bytes = row ? s->row_bytes : s->col_bytes;
    const uint32_t *where = row ? s->row_at : s->col_at;

    for (int line = 0; bytes && line < (row ? s->rows : s->cols); line++) {
        uint32_t users = users_of(s, device, row, line), at = where ? where[line] : 0;
        double parts = __builtin_popcount(users);

        for (int d = 0; d < s->devices; d++)
            if (!(users >> d & 1) || at >> d & 1)
                continue;
            else if (at)
                load[d].in += seconds_from(s, at, d, bytes[line]);
            else
                load[d].in += seconds_over(s, SC_PLACE_HOST, d, bytes[line] / parts) +
                              seconds_from(s, users, d, bytes[line] * (parts - 1) / parts);
    }
}

static double seconds_of(const struct sc_schedule *s, const int *device)
{
    struct sc_load load[SC_DEVICES_MAX] = {{0}};

    add_inputs(s, device, true, load);
    add_inputs(s, device, false, load);
    for (int b = 0; b < blocks_of(s); b++) {
        int d = device[b], owner = s->owner[b];

        if (s->work[b] <= 0)
            continue;
        load[d].run += s->work[b] / rate_of(s, d);
        load[d].in += s->host_bytes ? seconds_over(s, SC_PLACE_HOST, d, s->host_bytes[b]) : 0;
        load[d].in += d != owner && s->block_bytes ? seconds_over(s, owner, d, s->block_bytes[b]) : 0;
        load[d].out += d != owner && s->result_bytes ? seconds_over(s, d, owner, s->result_bytes[b]) : 0;
    }
    return sc_loads_seconds(load, s->devices);
}

static void copy_blocks(const struct sc_schedule *s, const int *from)
{
    for (int b = 0; b < blocks_of(s); b++)
        s->device[b] = from[b];
}

/* Deals the blocks to a set of devices by their speeds. */
static double deal_to(const struct sc_schedule *s, uint32_t set)
{
    struct sc_schedule some = *s;

    for (int d = 0; d < s->devices; d++)
        some.share[d] = set >> d & 1 ? rate_of(s, d) : 0;
    cyclic(&some);
    return seconds_of(s, s->device);
}

/* Grows a set of devices by the most helpful device, from the holder of most of the result. Returns the best set on the
 * way. */
static uint32_t best_set(const struct sc_schedule *s, double *seconds)
{
    uint32_t set = 0, best = 0;

    for (int n = 0; n < s->devices; n++) {
        int add = -1;
        double least = 0;

        for (int d = 0; d < s->devices; d++) {
            double t = set >> d & 1 ? -1 : deal_to(s, set | UINT32_C(1) << d);

            if (t >= 0 && (add < 0 || t < least)) {
                add = d;
                least = t;
            }
        }
        set |= UINT32_C(1) << add;
        if (!best || least < *seconds) {
            best = set;
            *seconds = least;
        }
    }
    return best;
}

/* True if a device has a part of the result, or if the residency is unknown. */
static bool is_anywhere(const struct sc_schedule *s)
{
    for (int b = 0; b < blocks_of(s) && s->result_bytes; b++)
        if (s->result_bytes[b] > 0)
            return true;
    return !s->result_bytes;
}

/* Blocks stay in place unless the model predicts a much shorter time for their home or for a new deal. So a result on
 * one device leaves no device idle, and devices of different speeds do not wait for the slowest device. */
static void automatic(const struct sc_schedule *s)
{
    double stay = seconds_of(s, s->owner), home = seconds_of(s, s->home), dealt = 0;
    double pays = is_anywhere(s) ? MOVING_PAYS : NEW_PAYS;
    uint32_t set = best_set(s, &dealt);

    if (stay <= pays * home && stay <= pays * dealt)
        copy_blocks(s, s->owner);
    else if (home <= dealt)
        copy_blocks(s, s->home);
    else
        deal_to(s, set);
}

/* --- the table ---------------------------------------------------------------------------------------------------- */

enum tiles { STRIPS, LARGE_SQUARES, ROWS, COLUMNS, SQUARES };

static const struct {
    void (*assign)(const struct sc_schedule *);
    enum tiles tiles;
    bool owns;
} strategies[SC_STRATEGIES] = {
    [SC_STRATEGY_AUTO] = {automatic, LARGE_SQUARES, false}, [SC_STRATEGY_OWNER] = {owner, LARGE_SQUARES, true},
    [SC_STRATEGY_CYCLIC] = {cyclic, SQUARES, false},      [SC_STRATEGY_ROUND_ROBIN] = {round_robin, SQUARES, false},
    [SC_STRATEGY_ROWS] = {by_rows, ROWS, false},          [SC_STRATEGY_COLUMNS] = {by_columns, COLUMNS, false},
    [SC_STRATEGY_DYNAMIC] = {dynamic, SQUARES, false},
};

bool sc_schedule_owns(enum sc_strategy strategy) { return strategies[strategy].owns; }

bool sc_schedule_steals(enum sc_strategy strategy) { return strategy == SC_STRATEGY_DYNAMIC; }

void sc_schedule_assign(const struct sc_schedule *s)
{
    strategies[s->strategy].assign(s);
    for (int b = 0; b < blocks_of(s); b++)
        if (s->work[b] <= 0)
            s->device[b] = -1;
}

bool sc_schedule_sums(enum sc_strategy strategy, int devices, int64_t m, int64_t n, int64_t k, bool any_size)
{
    return strategy == SC_STRATEGY_AUTO && devices > 1 && k / LONG_SUM >= (m > n ? m : n) &&
           k / devices >= (any_size ? 1 : SMALL_TILE);
}

/* Number of tiles in one direction: a multiple of the devices in a row of the grid, so that the numbers per device are
 * equal. Tiles are tiny if any size is offloaded. */
static int tiles_along(int64_t extent, int across, bool any_size)
{
    int64_t tiles = extent / SMALL_TILE < PARTS * across ? extent / SMALL_TILE : PARTS * across;

    if (extent / LARGE_TILE > tiles)
        tiles = extent / LARGE_TILE;
    if (tiles > TILES_MAX)
        tiles = TILES_MAX;
    if (tiles > across)
        tiles -= tiles % across;
    if (tiles < across && any_size)
        tiles = 2 * across - 1;
    return tiles < 1 ? 1 : (int)tiles;
}

/* True if links between devices are fast enough for strips. With strips a device fetches (devices - 1) / devices of A
 * from its neighbours, while the host's link brings 2 / devices of a matrix. Strips are contiguous in the host's
 * memory, and links carry them a quarter faster than columns of tiles (measured). */
static bool near(int devices, double peers) { return peers >= devices - 1; }

void sc_schedule_grid(enum sc_strategy strategy, int devices, double peers, int64_t rows, int64_t cols, bool any_size,
                      int *tile_rows, int *tile_cols)
{
    enum tiles tiles = strategies[strategy].tiles;
    int down, across;

    *tile_rows = *tile_cols = 0;
    sc_device_grid(devices, &down, &across);
    if (tiles == LARGE_SQUARES && devices > 1 && !near(devices, peers) &&
        (rows < cols ? rows : cols) >= PARTS * SMALL_TILE)
        tiles = SQUARES;
    if (tiles == STRIPS || tiles == LARGE_SQUARES)
        return;
    *tile_rows = tiles == SQUARES ? tiles_along(rows, across, any_size) : tiles == ROWS ? devices : 1;
    *tile_cols = tiles == SQUARES ? tiles_along(cols, across, any_size) : tiles == COLUMNS ? devices : 1;
}

/* --- blocks for idle devices -------------------------------------------------------------------------------------- */

/* A device computes one block while the operands of the other block travel. */
#define BLOCKS_AT_A_TIME 2
#define CERTAIN 3  /* one block of so many stays at its place: a device may take so many times its predicted time */
#define BEHIND 1.2 /* times the wait on the best device: then a block leaves its place */

int sc_schedule_certain(int blocks) { return blocks / CERTAIN; }

static bool has_room(const struct sc_schedule_progress *p, int d)
{
    return p->waiting[d] < BLOCKS_AT_A_TIME && !p->failed[d];
}

/* When the device would finish one more block, in units that all devices share: all have begun together. */
static double wait_of(const struct sc_schedule_progress *p, int d)
{
    return (p->waiting[d] + 1.0) / (p->finished[d] + 1.0);
}

int sc_schedule_take(const struct sc_schedule_progress *p, int planned)
{
    int best = -1;

    for (int d = 0; d < p->devices; d++)
        if (!p->failed[d] && (best < 0 || wait_of(p, d) < wait_of(p, best)))
            best = d;
    if (best < 0 || (has_room(p, planned) && wait_of(p, planned) <= BEHIND * wait_of(p, best)))
        best = planned;
    return best >= 0 && p->waiting[best] < BLOCKS_AT_A_TIME ? best : -1;
}
/* SPDX-License-Identifier: BSD-2-Clause */
