/* The rings of the trace. Asserts that the events of many threads arrive in the file complete and in each thread's
 * order, and that dumps survive damaged files. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/config.h"
#include "tests/tap.h"
#include "trace/format.h"
#include "trace/read.h"
#include "trace/trace.h"

#define THREADS 6
#define EACH 10000 /* more than twelve blocks full */
#define FIRST_BLOCK sysconf(_SC_PAGESIZE)
#define BLOCK_HEAD ((long)sizeof(struct sc_trace_block_head))

static char folder[] = "/tmp/semcache-test-XXXXXX";
static const char *const names[] = {NULL, "dgemm", "dgemv"};

static const char *in_folder(const char *name)
{
    static char path[4][64];
    static int turn;
    char *at = path[turn++ & 3];

    snprintf(at, sizeof path[0], "%s/%s", folder, name);
    return at;
}

static void *emit_many(void *number)
{
    int thread = *(int *)number;

    sc_trace_routine = 1 + thread % 2;
    for (int i = 0; i < EACH; i++)
        sc_trace(.kind = SC_EVENT_STATE, .matrix = (uint32_t)thread + 1, .tile = (uint32_t)i, .sectors = 0x8001,
                 .device = -1, .old_state = SC_MSI_S, .new_state = SC_MSI_G, .bytes = 64);
    return NULL;
}

static void run_threads(void)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];

    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, emit_many, &numbers[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* Counts the events of a dump; checks that the tiles of each matrix come as 0, 1, 2... */
static int count_events(const char *path, int *in_order, char *last, size_t last_bytes)
{
    char text[512], state[8], routine[64], device[8];
    FILE *out = tmpfile();
    unsigned next[THREADS + 1] = {0}, matrix, tile;
    unsigned long long sectors, bytes;
    int events = 0;

    *in_order = 1;
    if (sc_trace_dump(path, out) != SC_OK)
        events = -1;
    rewind(out);
    while (fgets(text, sizeof text, out)) {
        snprintf(last, last_bytes, "%s", text);
        if (*text == '#')
            continue;
        events++;
        if (sscanf(text, "%*f %*u state %u %u %llx %7s %7s %llu %63s", &matrix, &tile, &sectors, state, device, &bytes,
                   routine) != 7 ||
            matrix < 1 || matrix > THREADS || tile != next[matrix]++ || sectors != 0x8001 || strcmp(state, "S>G") ||
            strcmp(device, "host") || bytes != 64 || strcmp(routine, names[1 + (matrix - 1) % 2]))
            *in_order = 0;
    }
    fclose(out);
    return events;
}

static void test_threads(void)
{
    const char *path = in_folder("many");
    struct stat about;
    char last[512];
    int in_order;

    sc_trace_name_routines(names, 3);
    tap_ok(sc_trace_start(path) == SC_OK && sc_trace_on, "tracing starts");
    tap_ok(stat(path, &about) == 0 && (about.st_mode & 0777) == 0600, "the trace is private");
    run_threads();
    sc_trace_stop();
    tap_ok(!sc_trace_on, "tracing stops");
    tap_ok(count_events(path, &in_order, last, sizeof last) == THREADS * EACH, "every event of every thread is there");
    tap_ok(in_order, "with all its fields, each thread's in order");
    tap_ok(*last != '#', "nothing is reported missing");
}

/* Ended threads leave their rings behind: a second session reuses the rings, emptied. */
static void test_second_session(void)
{
    const char *path = in_folder("second");
    char last[512];
    int in_order, number = 2;

    sc_trace_start(path);
    emit_many(&number);
    sc_trace_stop();
    tap_ok(count_events(path, &in_order, last, sizeof last) == EACH && in_order,
           "a second session has its own events only");
}

static long file_size(const char *path)
{
    struct stat about;

    return stat(path, &about) == 0 ? (long)about.st_size : -1;
}

/* A fork handler of the child that runs before the trace's own, as coherence/ does to forget its matrices. */
static int early_number = -1;
static void emit_early(void)
{
    if (early_number >= 0)
        emit_many(&early_number);
}

static void test_fork(void)
{
    const char *path = in_folder("fork"), *said = in_folder("said");
    int old_stderr = dup(STDERR_FILENO), quiet = open(said, O_WRONLY | O_CREAT, 0600);
    char last[512];
    int in_order, number = 0;
    pid_t child;

    sc_trace_start(path);
    emit_many(&number);
    early_number = 0;
    dup2(quiet, STDERR_FILENO);
    child = fork();
    if (child == 0) {
        emit_many(&number);
        sc_trace_stop();
        _exit(0);
    }
    waitpid(child, NULL, 0);
    dup2(old_stderr, STDERR_FILENO);
    early_number = -1;
    close(old_stderr);
    close(quiet);
    tap_ok(file_size(said) == 0, "and says nothing of it");
    sc_trace_stop();
    tap_ok(count_events(path, &in_order, last, sizeof last) == EACH && in_order,
           "a forked child adds nothing to the file");
}

/* Groups of a call with its operands, often across the end of a ring. */
static void test_groups(void)
{
    struct sc_trace_reading trace;
    bool whole = true;
    int calls = 0;

    sc_trace_start(in_folder("groups"));
    for (uint32_t i = 0; i < EACH; i++) {
        struct sc_event group[] = {{.kind = SC_EVENT_CALL, .following = i % 5},
                                   {.kind = SC_EVENT_SCALARS, .word = {i}},
                                   {.kind = SC_EVENT_OPERAND, .word = {i}},
                                   {.kind = SC_EVENT_OPERAND, .word = {i}},
                                   {.kind = SC_EVENT_OPERAND, .word = {i}}};

        sc_trace_emit_group(group, 1 + (int)(i % 5));
    }
    sc_trace_setting("NAME=value");
    sc_trace_stop();
    tap_ok(sc_trace_read(in_folder("groups"), &trace) == SC_OK, "groups of events are read");
    for (size_t i = 0; i < trace.event_count; i++) {
        const struct sc_event *call = &trace.events[i];

        if (call->kind != SC_EVENT_CALL)
            continue;
        whole = whole && sc_trace_group(&trace, call) == calls % 5;
        for (uint32_t j = 1; whole && j <= call->following; j++)
            whole = call[j].word[0] == (uint64_t)calls && call[j].nanoseconds == call->nanoseconds;
        calls++;
    }
    tap_ok(calls == EACH && whole, "each follows its call, with the same time");
    tap_ok(trace.setting_count == 1 && trace.settings[0].bytes == 10, "a setting arrives");
    trace.events[trace.event_count - 1] = (struct sc_event){.kind = SC_EVENT_CALL, .following = 3};
    tap_ok(sc_trace_group(&trace, &trace.events[trace.event_count - 1]) == -1, "a group that is cut off is noticed");
    sc_trace_read_end(&trace);
}

static void emit_state(uint32_t tile, uint64_t sectors, int old, int new)
{
    sc_trace(.kind = SC_EVENT_STATE, .matrix = 1, .tile = tile, .sectors = sectors, .old_state = (uint8_t)old,
             .new_state = (uint8_t)new);
}

/* --- how a process ends, and what is then in the file --------------------------------------------------------- */

static void die_by_signal(void) { raise(SIGKILL); }
static void die_aborting(void) { abort(); }
static void die_crashing(void)
{
    volatile int *nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    *nowhere = 0;
}
static void die_exiting(void) { _exit(3); }

static void quiet_child(const char *path, int events, void (*die)(void))
{
    const struct rlimit no_core = {0, 0};
    int number = 0;

    setrlimit(RLIMIT_CORE, &no_core);
    early_number = -1;
    sc_trace_start(path);
    for (int i = 0; i < events; i++)
        sc_trace(.kind = SC_EVENT_STATE, .matrix = (uint32_t)number + 1, .tile = (uint32_t)i, .sectors = 0x8001,
                 .device = -1, .old_state = SC_MSI_S, .new_state = SC_MSI_G, .bytes = 64);
    die();
}

static void test_deaths(void)
{
    static const struct {
        const char *how;
        void (*die)(void);
    } deaths[] = {{"killed", die_by_signal}, {"aborting", die_aborting}, {"crashing", die_crashing},
                  {"exiting without handlers", die_exiting}};
    static const int counts[] = {1, 817, 818, 819, 5000}; /* around the end of a block */
    char last[512];

    for (size_t i = 0; i < sizeof deaths / sizeof *deaths; i++)
        for (size_t j = 0; j < sizeof counts / sizeof *counts; j++) {
            int in_order, events;
            pid_t child;

            sc_trace_routine = 1;
            child = fork();
            if (child == 0)
                quiet_child(in_folder("dead"), counts[j], deaths[i].die);
            waitpid(child, NULL, 0);
            events = count_events(in_folder("dead"), &in_order, last, sizeof last);
            tap_ok(events == counts[j] && in_order && strstr(last, "without closing"),
                   "%s: %d events of %d are in the file, which says how it ended", deaths[i].how, events, counts[j]);
            unlink(in_folder("dead"));
        }
}

/* A fork past libc, which runs no fork handlers. */
static void test_raw_fork(void)
{
    char last[512];
    int in_order, number = 0;
    pid_t child;

    sc_trace_start(in_folder("raw"));
    emit_many(&number);
    child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
        emit_many(&number);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    sc_trace_stop();
    tap_ok(count_events(in_folder("raw"), &in_order, last, sizeof last) == EACH && in_order,
           "a child by a raw system call adds nothing to the file");
}

/* --- limits --------------------------------------------------------------------------------------------------- */

#define LIMIT (1 << 20)

static void test_limit(void)
{
    struct sc_trace_reading trace;
    uint32_t next = 0;
    bool in_order = true;
    int number = 0;

    sc_config.trace_limit = LIMIT;
    sc_trace_start(in_folder("limit"));
    for (int i = 0; i < 20; i++)
        emit_many(&number);
    sc_trace_stop();
    sc_config.trace_limit = 0;
    tap_ok(file_size(in_folder("limit")) <= LIMIT + FIRST_BLOCK && file_size(in_folder("limit")) > LIMIT / 2,
           "a limit holds: %ld bytes", file_size(in_folder("limit")));
    tap_ok(sc_trace_read(in_folder("limit"), &trace) == SC_OK, "and the rest is read");
    next = trace.event_count ? trace.events[0].tile : 0;
    for (size_t i = 0; i < trace.event_count; i++, next = (next + 1) % EACH)
        in_order = in_order && trace.events[i].tile == next;
    tap_ok(in_order && next == 0, "which are the newest events, without a gap");
    tap_ok(trace.event_count + trace.header.dropped == 20 * EACH, "the others are counted: %llu",
           (unsigned long long)trace.header.dropped);
    sc_trace_read_end(&trace);
}

/* More threads than blocks: a thread without a block loses its events; the losses are counted. */
static pthread_barrier_t barrier;
static void *emit_and_wait(void *unused)
{
    (void)unused;
    emit_state(0, 1, SC_MSI_S, SC_MSI_G);
    pthread_barrier_wait(&barrier);
    return NULL;
}

static void test_crowd(void)
{
    enum { CROWD = 40 };
    struct sc_trace_reading trace;
    pthread_t threads[CROWD];

    sc_config.trace_limit = LIMIT;
    pthread_barrier_init(&barrier, NULL, CROWD);
    sc_trace_start(in_folder("crowd"));
    for (int i = 0; i < CROWD; i++)
        pthread_create(&threads[i], NULL, emit_and_wait, NULL);
    for (int i = 0; i < CROWD; i++)
        pthread_join(threads[i], NULL);
    sc_trace_stop();
    sc_config.trace_limit = 0;
    sc_trace_read(in_folder("crowd"), &trace);
    tap_ok(trace.header.lost > 0 && trace.event_count + trace.header.lost == CROWD,
           "%llu of %d threads found no block; their events are counted", (unsigned long long)trace.header.lost, CROWD);
    sc_trace_read_end(&trace);
}

/* A limit: doc/limits.md. */
static void cut_and_emit(void)
{
    if (truncate(in_folder("cut short"), 0) == 0)
        emit_state(0, 1, SC_MSI_S, SC_MSI_G);
    emit_state(0, 1, SC_MSI_S, SC_MSI_G);
}

static void test_truncated(void)
{
    const struct rlimit no_core = {0, 0};
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        setrlimit(RLIMIT_CORE, &no_core);
        sc_trace_start(in_folder("cut short"));
        emit_state(0, 1, SC_MSI_S, SC_MSI_G);
        cut_and_emit();
        _exit(0);
    }
    waitpid(child, &status, 0);
    tap_ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS, "who cuts the file of a program ends the program");
}

static void test_full_disk(void)
{
    struct rlimit old, small;
    struct sc_trace_reading trace;
    int number = 0, old_stderr = dup(STDERR_FILENO), quiet = open(in_folder("said"), O_WRONLY | O_CREAT, 0600);

    getrlimit(RLIMIT_FSIZE, &old);
    small = (struct rlimit){LIMIT, old.rlim_max};
    dup2(quiet, STDERR_FILENO);
    setrlimit(RLIMIT_FSIZE, &small);
    sc_trace_start(in_folder("full"));
    for (int i = 0; i < 3; i++)
        emit_many(&number);
    sc_trace_stop();
    setrlimit(RLIMIT_FSIZE, &old);
    dup2(old_stderr, STDERR_FILENO);
    close(old_stderr);
    close(quiet);
    sc_trace_read(in_folder("full"), &trace);
    tap_ok(trace.event_count && trace.event_count + trace.header.dropped == 3 * EACH &&
               trace.events[trace.event_count - 1].tile == EACH - 1,
           "where the file cannot grow, the newest %zu events are kept and the others counted", trace.event_count);
    tap_ok(file_size(in_folder("said")) > 0, "one line says so");
    sc_trace_read_end(&trace);
}

/* The sectors column of the state lines of a dump. */
static void dump_states(const char *path, char *text, size_t bytes)
{
    FILE *out = tmpfile();
    char line[512], sectors[32];

    *text = 0;
    sc_trace_dump(path, out);
    rewind(out);
    while (fgets(line, sizeof line, out))
        if (sscanf(line, "%*f %*u state %*u %*u %31s", sectors) == 1)
            snprintf(text + strlen(text), bytes - strlen(text), "%s ", sectors);
    fclose(out);
}

static void test_merging(void)
{
    char text[512];

    sc_trace_start(in_folder("merge"));
    for (int s = 0; s < 64; s++) /* a sweep over two tiles */
        for (uint32_t tile = 0; tile < 2; tile++)
            emit_state(tile, UINT64_C(1) << s, SC_MSI_S, SC_MSI_G);
    emit_state(0, 2, SC_MSI_G, SC_MSI_C);
    emit_state(0, 4, SC_MSI_S, SC_MSI_G);
    sc_trace(.kind = SC_EVENT_FAULT);
    emit_state(0, 8, SC_MSI_S, SC_MSI_G);
    sc_trace_stop();
    dump_states(in_folder("merge"), text, sizeof text);
    tap_ok(strcmp(text, "0xffffffffffffffff 0xffffffffffffffff 0x2 0x4 0x8 ") == 0,
           "a sweep is a line a tile; another change, or another event, begins a new one");
}

static void copy_part(const char *from, const char *to, long bytes)
{
    char *all = malloc((size_t)bytes + 1);
    FILE *in = fopen(from, "r"), *out = fopen(to, "w");
    size_t n = fread(all, 1, (size_t)bytes, in);

    fwrite(all, 1, n, out);
    fclose(in);
    fclose(out);
    free(all);
}

static void damage(const char *path, long offset, int byte)
{
    FILE *file = fopen(path, "r+");

    fseek(file, offset, SEEK_SET);
    putc(byte, file);
    fclose(file);
}

static void test_damaged(void)
{
    const char *whole = in_folder("second"), *cut = in_folder("cut");
    char last[512];
    int in_order, events;

    copy_part(whole, cut, file_size(whole) / 2);
    events = count_events(cut, &in_order, last, sizeof last);
    tap_ok(events > 0 && events < EACH && in_order, "a trace cut off in the middle gives the events before");
    copy_part(whole, cut, file_size(whole));
    for (int i = 0; i < 4; i++)
        damage(cut, FIRST_BLOCK + 16 + i, 0xff); /* how much is in the first block */
    tap_ok(count_events(cut, &in_order, last, sizeof last) == EACH, "an absurd length is survived");
    for (int i = 0; i < 4; i++)
        damage(cut, FIRST_BLOCK + BLOCK_HEAD + 4 + i, 0xff); /* how long the first record is */
    tap_ok(count_events(cut, &in_order, last, sizeof last) >= 0, "that of a record, too");
    damage(cut, 12, 0xff);
    tap_ok(count_events(cut, &in_order, last, sizeof last) == -1, "a header that cannot be is refused");
    damage(cut, 8, 99);
    tap_ok(count_events(cut, &in_order, last, sizeof last) == -1, "another version is refused");
    damage(cut, 0, 'X');
    tap_ok(count_events(cut, &in_order, last, sizeof last) == -1, "another kind of file is refused");
    copy_part(whole, cut, 0);
    tap_ok(count_events(cut, &in_order, last, sizeof last) == -1, "an empty file is refused");
    tap_ok(count_events(in_folder("none"), &in_order, last, sizeof last) == -1, "a missing file is refused");
}

static void test_file_names(void)
{
    const char *target = in_folder("target"), *link_name = in_folder("link"), *numbered = in_folder("t.%p");
    const char *another = in_folder("another name");
    char expected[64];
    FILE *file = fopen(target, "w");

    fputs("mine", file);
    fclose(file);
    tap_ok(symlink(target, link_name) == 0, "made a link");
    tap_ok(sc_trace_start(link_name) == SC_ERR_IO && !sc_trace_on && file_size(target) == 4, "a link is not followed");
    tap_ok(link(target, another) == 0 && sc_trace_start(another) == SC_ERR_IO && file_size(target) == 4,
           "nor a second name of a file used");
    unlink(another);
    if (geteuid() == 0 && chown(target, 65534, (gid_t)-1) == 0)
        tap_ok(sc_trace_start(target) == SC_ERR_IO && file_size(target) == 4, "nor another user's file");
    else
        tap_ok(1, "nor another user's file # SKIP only root can give one away");
    tap_ok(sc_trace_start(folder) == SC_ERR_IO, "a folder is refused");
    snprintf(expected, sizeof expected, "%s/t.%ld", folder, (long)getpid());
    tap_ok(sc_trace_start(numbered) == SC_OK && file_size(expected) > 0, "%%p is the process id");
    sc_trace_stop();
    sc_trace_emit(&(struct sc_event){.kind = SC_EVENT_CALL});
    tap_ok(file_size(expected) > 0, "an event after the end is dropped");
}

int main(void)
{
    char command[64];

    if (!mkdtemp(folder))
        return 1;
    pthread_atfork(NULL, NULL, emit_early);
    test_threads();
    test_second_session();
    test_fork();
    test_groups();
    test_deaths();
    test_raw_fork();
    test_limit();
    test_crowd();
    test_full_disk();
    test_truncated();
    test_merging();
    test_damaged();
    test_file_names();
    snprintf(command, sizeof command, "rm -r %s", folder);
    tap_ok(system(command) == 0, "clean up");
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
