/* Each violation of the library's own rules dies with one line that names the rule and the function.  The child of a
 * fork makes the violation.  Only in builds that are configured with --enable-assertions. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "coherence/protocol.h"
#include "tests/coherence_env.h"
#include "tests/heard.h"

#ifdef SC_ASSERTIONS
static struct sc_matrix *matrix;
static int devices; /* fork handlers set the child's number to 0 */

static void with_lock(void) { sc_protocol_lock(); }
static void without_lock(void) {}

static void paint(void) { sc_protocol_paint(matrix->base, sc_matrix_end(matrix)); }
static void paint_nothing(void) { sc_protocol_paint(matrix->base, matrix->base); }
static void written(void) { sc_protocol_written(matrix, matrix->tiles, 0, 1); }
static void shared_nowhere(void)
{
    matrix->tiles->host_valid = 0;
    matrix->tiles->copy[0].memory = matrix;
    sc_protocol_shared(matrix, matrix->tiles, 0, 1);
}
static void no_sector(void) { sc_protocol_home(matrix, matrix->tiles, UINT64_C(1) << 63); }
static void open_dirty(void)
{
    matrix->tiles->host_valid = 0;
    sc_protocol_open(matrix, 0);
}
static void lose_present(void) { sc_protocol_lost(matrix, matrix->tiles, 0, 0); }
static void mark_nowhere(void)
{
    struct sc_fence f;

    sc_mark(SC_DEVICES_MAX, SC_STREAM_COMPUTE, &f);
}
static void evict(void) { sc_memory_evict(0); }
static void fetch(void) { sc_transfer_to_device(0, matrix, matrix->tiles, 1); }
static void release_pinned(void)
{
    struct sc_copy *c = matrix->tiles->copy;

    c->memory = matrix;
    c->lru.pins = 1;
    sc_memory_release(0, matrix, matrix->tiles);
}
static void resume_nobody(void) { sc_protocol_resume_calls(); }
static void unlock(void) { sc_protocol_unlock(); }
static void no_tile(void) { sc_matrix_tile(matrix, 0, matrix->col_parts); }
static void empty_range(void)
{
    volatile int at = 5;

    sc_sectors_range(at, at);
}

static const struct violation {
    const char *what;
    void (*before)(void), (*make)(void);
    const char *says, *where; /* the failed condition, the function */
} violations[] = {
    {"pages painted without the lock", without_lock, paint, "the lock SC_RANK_PROTOCOL is held", "sc_protocol_paint"},
    {"a write without the lock", without_lock, written, "the lock SC_RANK_PROTOCOL is held", "sc_protocol_written"},
    {"an eviction without the lock", without_lock, evict, "the lock SC_RANK_PROTOCOL is held", "sc_memory_evict"},
    {"unlocked twice", without_lock, unlock, "the lock SC_RANK_PROTOCOL is held", "sc_protocol_unlock"},
    {"no pages", with_lock, paint_nothing, "lo < hi", "sc_protocol_paint"},
    {"written without memory", with_lock, written, "t->copy[device].memory", "sc_protocol_written"},
    {"shared from nowhere", with_lock, shared_nowhere, "is_somewhere(t, sectors)", "sc_protocol_shared"},
    {"a sector past the tile's last", with_lock, no_sector, "sc_sectors_all", "sc_protocol_home"},
    {"opened without being home", with_lock, open_dirty, "is_home(m, g)", "sc_protocol_open"},
    {"lost with the device in service", with_lock, lose_present, "sc_protocol.lost[device]", "sc_protocol_lost"},
    {"a mark on no device", with_lock, mark_nowhere, "sc_protocol.devices", "sc_mark"},
    {"a transfer into no memory", with_lock, fetch, "t->copy[device].memory", "sc_transfer_to_device"},
    {"pinned memory released", with_lock, release_pinned, "!c->lru.pins", "sc_memory_release"},
    {"calls resumed that nobody holds", with_lock, resume_nobody, "holding > 0", "sc_protocol_resume_calls"},
    {"a tile past the last", with_lock, no_tile, "j < m->col_parts", "sc_matrix_tile"},
    {"no sectors", with_lock, empty_range, "s < e", "sc_sectors_range"},
};

static void try(const struct violation *v)
{
    char where[64];
    int status = 0, lines;
    pid_t child;

    heard_listen();
    fflush(stdout);
    child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        sc_protocol.devices = devices; /* the violations die before they use a device */
        v->before();
        v->make();
        _exit(0);
    }
    waitpid(child, &status, 0);
    lines = heard();
    snprintf(where, sizeof where, " in %s (", v->where);
    tap_ok(WIFSIGNALED(status) && lines == 1 && strstr(said, "assertion failed: ") && strstr(said, v->says) &&
           strstr(said, where), "%s: %s", v->what, *said ? strtok(said, "\n") : "nothing is said");
}

int main(void)
{
    struct sc_lattice lattice;
    double *x;

    env_init();
    env_start("emu:h200x8:2", 0);
    devices = sc_protocol.devices;
    x = sc_coherence_host_alloc(1 << 20);
    sc_lattice_fold(&lattice, (uintptr_t)x, sizeof *x, 5120); /* 10 sectors of a page */
    matrix = sc_matrix_new(&lattice, (struct sc_spread){.devices = 1});
    for (size_t i = 0; i < sizeof violations / sizeof *violations; i++)
        try(&violations[i]);
    sc_matrix_free(matrix);
    sc_coherence_stop();
    return tap_done();
}
#else
int main(void) { tap_skip_all("built without --enable-assertions"); }
#endif
/* SPDX-License-Identifier: BSD-2-Clause */
