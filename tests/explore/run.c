/* The scheduler: coroutines, decisions, depth-first search. */
#undef _FORTIFY_SOURCE /* its longjmp takes a jump to a second stack for an attack */
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "base/locks.h"
#include "coherence/faults.h"
#include "tests/explore/explore.h"
#include "tests/tap.h"

#define PAGER THREADS
#define STACK (256 << 10)

static const struct program *program;
static bool right; /* no wrong value in the run until now */

/* --- coroutines --------------------------------------------------------------------------------------------------- */

static struct routine {
    jmp_buf context; /* valid after the beginning: saves no signal mask, which would cost a system call */
    ucontext_t beginning;
    char *stack;
    int next;               /* step of the program; the pager: requests served */
    int stops;              /* number of stops in the current step */
    struct sc_fences waits; /* fences that the routine waits for */
    uintptr_t fault;        /* a thread's request to the pager; 0: no request */
    enum sc_access access;
    pthread_cond_t *asleep;          /* condition variable that the routine waits for */
    bool begun, over, fresh, locks; /* fresh: has not taken the lock since its last stop; locks: the next step takes the
                                     * lock */
} routines[THREADS + 1];
static jmp_buf scheduler;
static struct routine *now; /* NULL: the scheduler */

/* base/locks.h notes a thread's locks in a thread-local variable, which the coroutines share: exchanged at every
 * stop. */
#ifdef NDEBUG
static uint32_t exchange_locks(uint32_t held) { return held; }
#else
static uint32_t exchange_locks(uint32_t held)
{
    uint32_t before = sc_locks_held;

    sc_locks_held = held;
    return before;
}
#endif

static void stop(void)
{
    struct routine *self = now;
    const uint32_t held = exchange_locks(0);

    self->stops++;
    now = NULL;
    if (!_setjmp(self->context))
        _longjmp(scheduler, 1);
    exchange_locks(held);
}

/* The coroutine goes on when the fences are reached. Outside of coroutines, at a run's end: in any order. */
static void await(const struct sc_fences *fences)
{
    if (now) {
        now->waits = *fences;
        stop();
        return;
    }
    for (int i = 0; i < fences->count; i++)
        explore_device.sync(fences->f[i]);
}

void explore_await(struct sc_fence fence)
{
    int enabled[DEVICES * SC_STREAMS];

    if (now)
        await(&(struct sc_fences){.f = {fence}, .count = 1});
    else if (explore_streams_enabled(enabled))
        explore_stream_step(enabled[0]);
}


/* The protocol's lock. A coroutine keeps the lock while it waits for a stream, and from the preparation of a fork to
 * the fork's end: the lock keeps the other coroutines out. */
static pthread_mutex_t *lock;
static const struct routine *holder;
static bool looking_for_lock;

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __real_sc_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
int __real_pthread_cond_broadcast(pthread_cond_t *cond);
void __real_sc_fences_sync(const struct sc_fences *set);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_sc_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
int __wrap_pthread_cond_broadcast(pthread_cond_t *cond);
void __wrap_sc_fences_sync(const struct sc_fences *set);

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (now && mutex == lock) {
        while (!now->fresh || holder) {
            now->locks = true;
            stop();
        }
        now->fresh = now->locks = false;
        holder = now;
    }
    if (looking_for_lock)
        lock = mutex;
    return __real_pthread_mutex_lock(mutex);
}

static void find_lock(void)
{
    looking_for_lock = true;
    sc_protocol_lock();
    looking_for_lock = false;
    sc_protocol_unlock();
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    if (now && mutex == lock) {
        now->fresh = false;
        holder = NULL;
    }
    return __real_pthread_mutex_unlock(mutex);
}

int __wrap_sc_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    if (!now || mutex != lock)
        return __real_sc_cond_wait(cond, mutex);
    __wrap_pthread_mutex_unlock(mutex);
    now->asleep = cond;
    stop();
    return __wrap_pthread_mutex_lock(mutex);
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *cond)
{
    for (int i = 0; i <= THREADS; i++)
        if (routines[i].asleep == cond)
            routines[i].asleep = NULL;
    return __real_pthread_cond_broadcast(cond);
}

/* A waiting coroutine notices a failure. */
void __wrap_sc_fences_sync(const struct sc_fences *set)
{
    if (now)
        await(set);
    __real_sc_fences_sync(set);
}

void explore_pause(void) { stop(); }

/* A task that the protocol finishes on the host accesses the program's memory, with page faults. */
enum sc_status __wrap_sc_device_kernel_host(void *(*symbol)(const char *), const struct sc_kernel *kernel);
enum sc_status __wrap_sc_device_kernel_host(void *(*symbol)(const char *), const struct sc_kernel *kernel)
{
    (void)symbol;
    explore_kernel_on_host(kernel);
    return SC_OK;
}

static bool is_open(uintptr_t address, enum sc_access access)
{
    return sc_host_prot(address) <= (access & SC_WRITE ? SC_PROT_RW : SC_PROT_R);
}

void explore_touch(uintptr_t address, enum sc_access access)
{
    while (!is_open(address, access)) {
        now->fault = address;
        now->access = access;
        stop();
    }
}

static void thread(int number)
{
    struct routine *self = &routines[number];

    while (program->thread[number][self->next].action != END) {
        if (!explore_step(program, &program->thread[number][self->next]))
            right = false;
        self->next++;
        self->stops = 0;
        stop();
    }
    self->over = true;
    stop();
}

static void pager(void)
{
    for (;; routines[PAGER].stops = -1, stop()) /* idle: 0 stops */
        for (int i = 0; i < THREADS; i++) {
            uintptr_t page = sc_page_floor(routines[i].fault);

            if (!page)
                continue;
            if (!is_open(page, routines[i].access) &&
                sc_coherence_fault(page, routines[i].access, (struct sc_host_code){0},
                                   (size_t)program->window * SC_PAGE) != SC_FAULT_DONE)
                right = false;
            routines[i].fault = 0;
            if (program->ahead)
                sc_coherence_read_ahead(page + (uintptr_t)program->window * SC_PAGE, (size_t)program->ahead * SC_PAGE);
        }
}

static void body(int number)
{
    if (number == PAGER)
        pager();
    else
        thread(number);
}

static void start_routines(void)
{
    for (int i = 0; i <= THREADS; i++) {
        struct routine *r = &routines[i];
        char *stack = r->stack ? r->stack : malloc(STACK);

        *r = (struct routine){.stack = stack, .over = i < THREADS && program->thread[i][0].action == END};
        getcontext(&r->beginning);
        r->beginning.uc_stack.ss_sp = r->stack;
        r->beginning.uc_stack.ss_size = STACK;
        makecontext(&r->beginning, (void (*)(void))body, 1, i);
    }
}

static bool reached(const struct sc_fences *waits)
{
    for (int i = 0; i < waits->count; i++)
        if (!explore_device.done(waits->f[i]))
            return false;
    return true;
}

static bool any_fault(void)
{
    for (int i = 0; i < THREADS; i++)
        if (routines[i].fault)
            return true;
    return false;
}

static bool can_go(int i)
{
    const struct routine *r = &routines[i];

    if (i == PAGER && !any_fault() && !r->stops) /* nor in the midst of a request */
        return false;
    return !r->over && !r->fault && !r->asleep && !(r->locks && holder) && reached(&r->waits);
}

void explore_hash_threads(void)
{
    for (int i = 0; i <= THREADS; i++) {
        const struct routine *r = &routines[i];

        explore_hash((uint64_t)r->next << 32 | (uint64_t)(r->stops << 2) | (uint64_t)r->over);
        explore_hash(r->fault | r->access);
        explore_hash((uint64_t)(r->asleep != NULL) << 2 | (uint64_t)r->locks << 1 | (uint64_t)(r == holder));
        for (int k = 0; k < r->waits.count; k++)
            explore_hash_fence(r->waits.f[k]);
    }
}

/* --- devices that break ------------------------------------------------------------------------------------------- */

static bool broken;
bool explore_lost[ARRAYS][PAGES * 512];

static void break_device(void)
{
    broken = true;
    if (program->breaks == DIES)
        explore_device_kill(program->broken);
    else
        explore_device_refuse(program->broken, program->breaks);
}

static void mark_lost(uintptr_t lo, uintptr_t hi)
{
    for (int a = 0; a < ARRAYS; a++)
        for (int i = 0; i < PAGES * 512; i++)
            if ((uintptr_t)&explore_data[a][i] >= lo && (uintptr_t)&explore_data[a][i] < hi)
                explore_lost[a][i] = true;
}

/* Notes the sectors that the protocol declares lost (coherence/loss.c). */
uint64_t __real_sc_protocol_lost(struct sc_matrix *m, struct sc_tile *t, int device, uint64_t missing);
uint64_t __wrap_sc_protocol_lost(struct sc_matrix *m, struct sc_tile *t, int device, uint64_t missing);
uint64_t __wrap_sc_protocol_lost(struct sc_matrix *m, struct sc_tile *t, int device, uint64_t missing)
{
    int first = (int)(sc_matrix_tile_index(m, t) / (uint32_t)m->row_parts) * SC_SECTORS;
    uint64_t lost = __real_sc_protocol_lost(m, t, device, missing);
    uintptr_t lo, hi;

    right &= !lost || program->breaks == DIES;
    for (uint64_t rest = lost; rest; rest &= rest - 1)
        if (sc_matrix_sector_range(m, first + __builtin_ctzll(rest), &lo, &hi))
            mark_lost(lo, hi);
    return lost;
}

/* The log is silent, but for errors in programs without a failing device. */
void __wrap_sc_log(enum sc_log_level level, const char *format, ...);
void __wrap_sc_log(enum sc_log_level level, const char *format, ...)
{
    if (level == SC_LOG_ERROR && program && program->breaks == NEVER)
        tap_diag("%s", format);
}

/* --- decisions ---------------------------------------------------------------------------------------------------- */

#define BREAKS (THREADS + 1 + DEVICES * SC_STREAMS)

/* The candidates for the next step: coroutines, streams, and the failure of the device. */
static int choices(int *who)
{
    int n = 0, streams;

    for (int i = 0; i <= THREADS; i++)
        if (can_go(i))
            who[n++] = i;
    streams = explore_streams_enabled(who + n);
    for (int i = 0; i < streams; i++)
        who[n + i] += THREADS + 1;
    n += streams;
    if (program->breaks != NEVER && !broken)
        who[n++] = BREAKS;
    return n;
}

static void take(int who)
{
    if (who == BREAKS) {
        break_device();
        return;
    }
    if (who > THREADS) {
        explore_stream_step(who - THREADS - 1);
        return;
    }
    now = &routines[who];
    now->fresh = true;
    now->waits.count = 0;
    if (_setjmp(scheduler))
        return;
    if (now->begun)
        _longjmp(now->context, 1);
    now->begun = true;
    setcontext(&now->beginning);
}

static bool all_over(void)
{
    for (int i = 0; i < THREADS; i++)
        if (!routines[i].over)
            return false;
    return true;
}

/* --- states that were met ----------------------------------------------------------------------------------------- */

static uint64_t *met;
static uint64_t room, count;

static bool is_new(uint64_t state)
{
    uint64_t i;

    state += !state;
    if (2 * (count + 1) > room) {
        uint64_t *old = met, before = room;

        room = room ? 2 * room : 1 << 16;
        met = calloc(room, sizeof *met);
        count = 0;
        for (i = 0; i < before; i++)
            if (old[i])
                is_new(old[i]);
        free(old);
    }
    for (i = state % room; met[i]; i = (i + 1) % room)
        if (met[i] == state)
            return false;
    met[i] = state;
    count++;
    return true;
}

/* --- depth first -------------------------------------------------------------------------------------------------- */

#define DEPTH 4096

static struct decision {
    uint64_t state;
    int choice, choices;
} path[DEPTH];
static int depth; /* number of decisions to repeat; the last decision takes its next alternative */

static void begin_run(void)
{
    explore_programs_reset();
    explore_device_reset(program->room);
    broken = false;
    memset(explore_lost, 0, sizeof explore_lost);
    sc_protocol.bad = 0;
    for (int d = 0; d < sc_protocol.devices; d++)
        sc_protocol.failed[d] = sc_protocol.lost[d] = sc_protocol.round[d] = false;
    for (const struct step *s = program->prelude; s->action != END; s++)
        explore_step(program, s);
    start_routines();
    right = true;
}

static void tell(const char *what, int steps)
{
    char text[800];
    int n = 0;

    for (int i = 0; i < steps && n < (int)sizeof text - 16; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, " %d", path[i].choice);
    tap_diag("%s: %s after decisions%s", program->name, what, text);
}

/* Runs the program once; returns false if something was wrong. The first `depth` decisions are given. After them every
 * decision takes its first choice, and is noted while states are new; from the first known state on, the run only ends
 * in order. */
static bool run(struct explored *e)
{
    unsigned broken = sc_coherence_broken(), noted;
    int given = depth, step = 0, who[BREAKS + 1], n;
    bool ending = false;
    uint32_t held;

    begin_run();
    for (; (n = choices(who)) > 0 && step < DEPTH; step++) {
        int choice = 0;

        if (step < given) {
            uint64_t state = path[step].state;

            choice = path[step].choice;
            if (n != path[step].choices || (step == given - 1 && state != explore_state())) {
                tell("the same decisions led elsewhere", step);
                return false;
            }
        } else if (!ending) {
            uint64_t state = explore_state();

            ending = !is_new(state);
            if (!ending) {
                path[step] = (struct decision){state, 0, n};
                depth = step + 1;
                e->states++;
            }
        }
        take(who[choice]);
        e->steps++;
        held = exchange_locks(UINT32_C(1) << SC_RANK_PROTOCOL); /* nothing runs beside the scheduler */
        sc_check_changed("a step");
        noted = sc_coherence_broken();
        sc_check_all("a step");
        exchange_locks(held);
        if (right && sc_coherence_broken() != broken && noted == broken) {
            tell("an invariant is broken where no change was noted", step < depth ? step + 1 : depth);
            return false;
        }
        if (!right || sc_coherence_broken() != broken) {
            tell(right ? "an invariant is broken" : "a wrong number was read", step < depth ? step + 1 : depth);
            return false;
        }
    }
    if (!all_over() || !explore_streams_idle()) {
        tell("nobody can go on", depth);
        return false;
    }
    if (!explore_program_over()) {
        tell("a wrong number remains", depth);
        return false;
    }
    return true;
}

/* Moves the last decision with an alternative to its next choice. */
static bool go_back(void)
{
    while (depth > 0 && path[depth - 1].choice + 1 == path[depth - 1].choices)
        depth--;
    if (depth > 0)
        path[depth - 1].choice++;
    return depth > 0;
}

struct explored explore(const struct program *p, uint64_t states)
{
    struct explored e = {.good = true, .whole = true};

    program = p;
    find_lock();
    depth = 0;
    free(met);
    met = NULL;
    room = count = 0;
    do {
        e.good = run(&e);
        e.runs++;
        e.whole = !states || e.states < states;
    } while (e.good && e.whole && go_back());
    return e;
}
/* SPDX-License-Identifier: BSD-2-Clause */
