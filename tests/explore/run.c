/* The scheduler: coroutines, decisions, the search through all orders. */
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

static struct program program_now; /* the program of the run, with the steps that the run has chosen for ANY */
static const struct program *const program = &program_now;
static const struct step (*any_step)[KINDS]; /* of explore() */
static bool right; /* no wrong value in the run until now */

/* --- coroutines --------------------------------------------------------------------------------------------------- */

static struct routine {
    jmp_buf context; /* valid after the beginning: saves no signal mask, which would cost a system call */
    ucontext_t beginning;
    char *stack;
    int next;               /* step of the program; the pager: the thread whose request it serves */
    int stops;              /* number of stops in the current step */
    uint64_t way;           /* hash of the places where the current step has stopped: stands for local variables */
    struct sc_fences waits; /* fences that the routine waits for */
    uintptr_t fault;        /* a thread's request to the pager; 0: no request */
    enum sc_access access;
    uintptr_t serves;       /* the pager: the page of the request; + 1: reads ahead behind the page */
    pthread_cond_t *asleep; /* condition variable that the routine waits for */
    bool begun, within, over; /* within: in a step of the program */
    bool fresh, locks; /* fresh: has not taken the lock since its last stop; locks: the next step takes the lock */
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

/* Notes a place where the current step stops: an address, and the depth of the stack for its callers. */
static void pass(uint64_t place)
{
    place += (uint64_t)((uintptr_t)__builtin_frame_address(0) - (uintptr_t)now->stack) << 48;
    now->way = (now->way ^ place) * UINT64_C(0x9e3779b97f4a7c15);
    now->way ^= now->way >> 29;
}

#define HERE ((uint64_t)(uintptr_t)__builtin_return_address(0))

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
        for (int i = 0; i < fences->count; i++)
            pass((uint64_t)fences->f[i].device << 8 | (uint64_t)fences->f[i].stream);
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
            pass(HERE);
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
    pass(HERE);
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
    if (now) {
        pass(HERE);
        await(set);
    }
    __real_sc_fences_sync(set);
}

void explore_pause(void)
{
    pass(HERE);
    stop();
}

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
        pass(address);
        now->access = access;
        stop();
    }
}

static void thread(int number)
{
    struct routine *self = &routines[number];

    while (program->thread[number][self->next].action != END) {
        self->within = true;
        if (!explore_step(program, &program->thread[number][self->next]))
            right = false;
        self->next++;
        self->over = program->thread[number][self->next].action == END; /* at once: ending is no event */
        self->within = false;
        self->way = 0;
        self->stops = 0;
        stop();
    }
}

static void pager(void)
{
    struct routine *self = &routines[PAGER];

    for (;; stop()) {
        for (int i = 0; i < THREADS; i++) {
            uintptr_t page = sc_page_floor(routines[i].fault);

            if (!page)
                continue;
            self->next = i;
            self->serves = page;
            if (!is_open(page, routines[i].access) &&
                sc_coherence_fault(page, routines[i].access, (struct sc_host_code){0},
                                   (size_t)program->window * SC_PAGE) != SC_FAULT_DONE)
                right = false;
            routines[i].fault = 0;
            self->serves = page + 1;
            if (program->ahead)
                sc_coherence_read_ahead(page + (uintptr_t)program->window * SC_PAGE, (size_t)program->ahead * SC_PAGE);
        }
        self->stops = -1; /* idle: 0 stops */
        self->next = 0;
        self->serves = self->way = 0;
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

static void hash_step(const struct step *s)
{
    explore_hash((uint64_t)s->action << 48 | (uint64_t)s->array << 40 | (uint64_t)s->device << 32 |
                 (uint64_t)s->first << 16 | (uint64_t)s->count);
}

static bool broken; /* the device has been chosen to break */

void explore_hash_threads(void)
{
    explore_hash(broken);
    for (int i = 0; i <= THREADS; i++) {
        const struct routine *r = &routines[i];

        explore_hash((uint64_t)r->next << 32 | (uint64_t)(r->stops << 2) | (uint64_t)r->over);
        if (r->within)
            hash_step(&program->thread[i][r->next]);
        explore_hash(r->fault | r->access);
        explore_hash(r->serves);
        explore_hash(r->way);
        explore_hash((uint64_t)(r->asleep != NULL) << 2 | (uint64_t)r->locks << 1 | (uint64_t)(r == holder));
        for (int k = 0; k < r->waits.count; k++)
            explore_hash_fence(r->waits.f[k]);
    }
}

/* --- devices that break ------------------------------------------------------------------------------------------- */

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
    if (level == SC_LOG_ERROR && program->breaks == NEVER)
        tap_diag("%s", format);
}

/* --- decisions ---------------------------------------------------------------------------------------------------- */

#define BREAKS  (THREADS + 1 + DEVICES * SC_STREAMS)
#define CHOSEN  (BREAKS + 1)                /* + KINDS * thread + kind: the thread begins a step of this kind */
#define CHOICES (CHOSEN + KINDS * THREADS)

/* The candidates of a coroutine for the next step. */
static int choices_of(int i, int *who)
{
    const struct step *next = i == PAGER ? NULL : &program->thread[i][routines[i].next];
    int n = 0;

    if (!can_go(i))
        return 0;
    if (!next || next->action != ANY)
        who[n++] = i;
    else
        for (int kind = 0; kind < KINDS; kind++)
            if (any_step[i][kind].action != END && next->count >> kind & 1)
                who[n++] = CHOSEN + KINDS * i + kind;
    return n;
}

/* The candidates for the next step: coroutines, streams, and the failure of the device. */
static int choices(int *who)
{
    int n = 0, streams;

    for (int i = 0; i <= THREADS; i++)
        n += choices_of(i, who + n);
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
    if (who >= CHOSEN) {
        int i = (who - CHOSEN) / KINDS;

        program_now.thread[i][routines[i].next] = any_step[i][(who - CHOSEN) % KINDS];
        who = i;
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

#define DEPTH 4096
#define NOWHERE UINT32_MAX

/* In the order of their discovery. The way to a state is the way to the state `parent`, and then `choice` there. */
static struct state {
    uint64_t hash;
    uint32_t parent, next; /* next: index of the first of `choices` entries of `leads` */
    uint8_t choice, choices;
    bool over; /* no state is ahead at which a choice is left */
} *met;
static uint32_t count, room;
static uint32_t *table; /* 2 * room places by hash: number of a state + 1; 0: none */
static uint32_t *leads; /* the state after a choice; NOWHERE: the choice is left */
static uint32_t leads_count, leads_room;

/* Where the state is, or would be. */
static uint32_t *place_of(uint64_t hash)
{
    uint64_t i = hash % (2 * (uint64_t)room);

    while (table[i] && met[table[i] - 1].hash != hash)
        i = i + 1 < 2 * (uint64_t)room ? i + 1 : 0;
    return &table[i];
}

static void make_room(void)
{
    room = room ? 2 * room : 1 << 10;
    met = realloc(met, room * sizeof *met);
    free(table);
    table = calloc(2 * (size_t)room, sizeof *table);
    for (uint32_t i = 0; i < count; i++)
        *place_of(met[i].hash) = i + 1;
}

static uint32_t new_leads(int n)
{
    while (leads_count + (uint32_t)n > leads_room) {
        leads_room = leads_room ? 2 * leads_room : 1 << 12;
        leads = realloc(leads, leads_room * sizeof *leads);
    }
    for (int i = 0; i < n; i++)
        leads[leads_count++] = NOWHERE;
    return leads_count - (uint32_t)n;
}

static void forget_states(void)
{
    free(met);
    free(table);
    free(leads);
    met = NULL;
    table = leads = NULL;
    count = room = leads_count = leads_room = 0;
}

/* Returns the state's number. A new state gets the given parent and choices. */
static uint32_t meet(uint64_t hash, uint32_t parent, int choice, int choices)
{
    uint32_t *place;

    if (count == room)
        make_room();
    place = place_of(hash);
    if (!*place) {
        met[count] = (struct state){.hash = hash, .parent = parent, .next = new_leads(choices),
                                    .choice = (uint8_t)choice, .choices = (uint8_t)choices};
        *place = ++count;
    }
    return *place - 1;
}

/* The first choice that no run has taken; or one behind which such a choice may be; or the first. Threads come before
 * streams: a thread that never ends its step makes a run without end. */
static int best_choice(const struct state *s)
{
    const uint32_t *lead = &leads[s->next];
    int best = 0;

    for (int i = 0; i < s->choices; i++)
        if (lead[i] == NOWHERE)
            return i;
        else if (!met[lead[i]].over)
            best = i;
    return best;
}

/* A state that can be met again on the way from itself is never over. */
static bool is_over(const struct state *s)
{
    for (int i = 0; i < s->choices; i++)
        if (leads[s->next + (uint32_t)i] == NOWHERE || !met[leads[s->next + (uint32_t)i]].over)
            return false;
    return true;
}

static bool best_is_taken(uint32_t state)
{
    const struct state *s = &met[state];

    return s->choices == 0 || leads[s->next + (uint32_t)best_choice(s)] != NOWHERE;
}

/* --- runs --------------------------------------------------------------------------------------------------------- */

static struct decision {
    uint32_t state;
    int choice;
} path[DEPTH]; /* of the run */

static void begin_run(const struct program *p)
{
    program_now = *p;
    explore_programs_reset();
    explore_device_reset(program->room);
    sc_habit_reset(); /* a run repeats an earlier one up to its last decision */
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

/* Notes the way to a state; returns its length. */
static int way_to(uint32_t state)
{
    int length = 0;

    for (uint32_t s = state; s; s = met[s].parent)
        length++;
    for (int i = length; i-- > 0; state = met[state].parent)
        path[i] = (struct decision){met[state].parent, met[state].choice};
    return length;
}

/* After the run's first `steps` decisions: the state is the one that the same decision has led to before. */
static bool arrive(int steps, int choices)
{
    const struct decision *last = &path[steps ? steps - 1 : 0];
    uint32_t *lead, state = meet(explore_state(), steps ? last->state : 0, steps ? last->choice : 0, choices);

    path[steps].state = state;
    if (steps) {
        lead = &leads[met[last->state].next + (uint32_t)last->choice];
        if (*lead == NOWHERE)
            *lead = state;
        if (*lead != state) {
            tell("the same decision led elsewhere", steps);
            return false;
        }
    }
    if (met[state].choices != choices)
        tell("the same state had other choices", steps);
    return met[state].choices == choices;
}

/* Whether everything is in order after a step. */
static bool check(unsigned broken_before, int steps)
{
    const uint32_t held = exchange_locks(UINT32_C(1) << SC_RANK_PROTOCOL); /* nothing runs beside the scheduler */
    unsigned noted;

    sc_check_changed("a step");
    noted = sc_coherence_broken();
    sc_check_all("a step");
    exchange_locks(held);
    if (!right)
        tell("a wrong number was read", steps);
    else if (noted != broken_before)
        tell("an invariant is broken", steps);
    else if (sc_coherence_broken() != broken_before)
        tell("an invariant is broken where no change was noted", steps);
    return right && sc_coherence_broken() == broken_before;
}

/* Runs the program once; returns false if something was wrong. The decisions on the way to `from` are given. */
static bool run(const struct program *p, uint32_t from, struct explored *e)
{
    const unsigned broken_before = sc_coherence_broken();
    const int given = count ? way_to(from) : 0;
    int steps = 0, who[CHOICES], n;

    begin_run(p);
    for (; (n = choices(who)) > 0 && steps < DEPTH; steps++) {
        if (steps >= given) {
            if (!arrive(steps, n))
                return false;
            path[steps].choice = best_choice(&met[path[steps].state]);
        }
        take(who[path[steps].choice]);
        e->steps++;
        if (!check(broken_before, steps + 1))
            return false;
    }
    if (!all_over() || !explore_streams_idle()) {
        tell("nobody can go on", steps);
        return false;
    }
    if (!arrive(steps, 0))
        return false;
    if (!explore_program_over()) {
        tell("a wrong number remains", steps);
        return false;
    }
    for (int i = steps; i >= given; i--)
        met[path[i].state].over = is_over(&met[path[i].state]);
    return true;
}

/* Takes every choice at every state, from the first state that has one left. Later in a run choices that are left are
 * taken as well. */
struct explored explore(const struct program *p, const struct step (*any)[KINDS], uint64_t states)
{
    struct explored e = {.good = true, .whole = true};
    const uint64_t shortages = explore_device_shortages();
    uint32_t from = 0;

    any_step = any;
    find_lock();
    forget_states();
    do {
        e.good = run(p, from, &e);
        e.runs++;
        while (from < count && best_is_taken(from))
            from++;
    } while (e.good && from < count && (!states || count < states));
    e.states = count;
    e.whole = from == count;
    e.shortages = explore_device_shortages() - shortages;
    return e;
}
/* SPDX-License-Identifier: BSD-2-Clause */
