/* Event rings and the file they are flushed to.  Rules T2 to T5 of README; the file's form is in format.h. */
#include <config.h>

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/inside.h"
#include "base/log.h"
#include "base/write.h"
#include "trace/file.h"
#include "trace/read.h"
#include "trace/trace.h"

#define RING_EVENTS 4096u

struct ring {
    struct ring *next;    /* set before the ring is published, constant then */
    int owned;            /* 1 while a thread has it; taken by compare-and-swap */
    uint64_t session;     /* of the events in it; written by the owner under file_lock */
    uint32_t count;       /* events in it (rule T3) */
    struct sc_event events[RING_EVENTS];
};

bool sc_trace_on;
__thread uint16_t sc_trace_routine __attribute__((tls_model("initial-exec")));

static struct ring *rings; /* push only */
static __thread struct ring *my_ring __attribute__((tls_model("initial-exec")));
static __thread uint32_t my_thread __attribute__((tls_model("initial-exec")));
static pthread_key_t ring_key; /* its destructor gives the ring back */
static bool ring_key_made;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Protects everything below, and the rings' session and flushing.  Innermost: nothing is locked after it. */
static pthread_mutex_t file_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    int fd; /* -1: no file */
    dev_t device;
    ino_t inode;
    pid_t pid;
    uint64_t events;
} file = {.fd = -1};
static uint64_t session; /* counts starts; read without the lock by owners of rings */
static bool keeping;     /* events stay in the rings when there is no file */
static uint64_t dropped; /* atomic: events lost for want of memory */

static uint64_t now(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* --- the file; all with file_lock held ---------------------------------------------------------------------------- */

static void close_file(void)
{
    sc_trace_on = keeping;
    if (file.fd >= 0)
        close(file.fd);
    file.fd = -1;
}

/* Is the descriptor still our file?  A program may have closed all it did not know and opened others (rule T5). */
static bool file_is_ours(void)
{
    struct stat about;

    return fstat(file.fd, &about) == 0 && about.st_dev == file.device && about.st_ino == file.inode;
}

static void write_chunk(enum sc_trace_chunk_kind kind, const void *head, size_t head_bytes, const void *body,
                        size_t body_bytes)
{
    static const char zeros[8];
    struct sc_trace_chunk chunk = {.kind = kind, .bytes = head_bytes + body_bytes};
    size_t padding = (8 - chunk.bytes % 8) % 8;

    /* A child of vfork shares this with its parent, and one of fork may come here before its handler: neither writes
     * nor changes anything. */
    if (file.fd < 0 || file.pid != getpid())
        return;
    if (!file_is_ours()) {
        sc_log(SC_LOG_WARN, "the program closed the trace file; tracing ends");
        file.fd = -1; /* not ours to close */
        sc_trace_on = keeping;
        return;
    }
    if (!sc_write_all(file.fd, &chunk, sizeof chunk) || !sc_write_all(file.fd, head, head_bytes) ||
        !sc_write_all(file.fd, body, body_bytes) || !sc_write_all(file.fd, zeros, padding)) {
        sc_log(SC_LOG_WARN, "writing the trace file failed (%s); tracing ends", strerror(errno));
        close_file();
    }
}

static void write_ring(const struct ring *ring)
{
    uint32_t count = __atomic_load_n(&ring->count, __ATOMIC_ACQUIRE);

    if (ring->session != session || count == 0)
        return;
    write_chunk(SC_CHUNK_EVENTS, NULL, 0, ring->events, count * sizeof ring->events[0]);
    file.events += count;
}

static void write_routines(void)
{
    for (int i = 0; i < SC_TRACE_ROUTINES_MAX; i++) {
        struct sc_trace_name_head head = {.routine = (uint32_t)i};
        const char *name = sc_trace_routine_name(i);

        if (name)
            write_chunk(SC_CHUNK_ROUTINE, &head, sizeof head, name, strlen(name));
    }
}

static void program_path(char *path, size_t bytes)
{
    ssize_t n = readlink("/proc/self/exe", path, bytes - 1);

    path[n > 0 ? n : 0] = '\0';
}

static int write_module(struct dl_phdr_info *info, size_t bytes, void *context)
{
    char program[256];
    const char *path = info->dlpi_name;

    (void)bytes;
    (void)context;
    if (!path || !*path) { /* the program itself comes without a name */
        program_path(program, sizeof program);
        path = program;
    }
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        struct sc_trace_module_head head = {.start = info->dlpi_addr + segment->p_vaddr, .bias = info->dlpi_addr};

        head.end = head.start + segment->p_memsz;
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X))
            write_chunk(SC_CHUNK_MODULE, &head, sizeof head, path, strlen(path));
    }
    return 0;
}

/* Both at start, for programs that are killed, and at stop, when all is loaded; the reader takes the later ones. */
static void write_tables(void)
{
    write_routines();
    dl_iterate_phdr(write_module, NULL);
}

/* --- rings -------------------------------------------------------------------------------------------------------- */

static void give_ring_back(void *ring)
{
    my_ring = NULL;
    __atomic_store_n(&((struct ring *)ring)->owned, 0, __ATOMIC_RELEASE);
}

/* The file is the parent's (rule T5).  Whoever held the lock stayed there; what it was about to write is of no interest
 * here. */
static void fork_child(void)
{
    file_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    keeping = false;
    close_file();
}

static void set_up_once(void)
{
    ring_key_made = pthread_key_create(&ring_key, give_ring_back) == 0;
    sc_trace_site_prepare();
    pthread_atfork(NULL, NULL, fork_child);
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
    struct ring *ring = mmap(NULL, sizeof *ring, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (ring == MAP_FAILED)
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
        pthread_setspecific(ring_key, ring); /* on failure the ring is not used again, no more */
    return ring;
}

/* Owner only: the ring is full, or has events of an earlier session.  Without a file the newer half stays. */
static void empty_ring(struct ring *ring)
{
    uint32_t kept = 0;

    pthread_mutex_lock(&file_lock);
    write_ring(ring);
    if (keeping && ring->session == session) {
        kept = ring->count / 2;
        memmove(ring->events, ring->events + ring->count - kept, kept * sizeof ring->events[0]);
    }
    __atomic_store_n(&ring->count, kept, __ATOMIC_RELEASE);
    ring->session = session;
    pthread_mutex_unlock(&file_lock);
}

void sc_trace_emit_group(struct sc_event *events, int count)
{
    int saved = errno;
    struct ring *ring;

    sc_inside_enter();
    ring = find_my_ring();
    if (!ring) {
        __atomic_fetch_add(&dropped, (uint64_t)count, __ATOMIC_RELAXED);
    } else {
        uint64_t time = now(CLOCK_MONOTONIC);

        if (ring->count + (uint32_t)count > RING_EVENTS || ring->session != __atomic_load_n(&session, __ATOMIC_ACQUIRE))
            empty_ring(ring);
        for (int i = 0; i < count; i++) {
            events[i].nanoseconds = time;
            events[i].thread = my_thread;
            events[i].routine = sc_trace_routine;
            ring->events[ring->count + (uint32_t)i] = events[i];
        }
        __atomic_store_n(&ring->count, ring->count + (uint32_t)count, __ATOMIC_RELEASE);
    }
    sc_inside_leave();
    errno = saved;
}

void sc_trace_emit(struct sc_event *event) { sc_trace_emit_group(event, 1); }

/* --- events in the rings ------------------------------------------------------------------------------------------ */

void sc_trace_keep(void)
{
    pthread_mutex_lock(&file_lock);
    keeping = sc_trace_on = true;
    pthread_mutex_unlock(&file_lock);
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

int sc_trace_collect(uint32_t matrix, uint32_t tile, struct sc_event *out, int most)
{
    int found = 0;

    pthread_mutex_lock(&file_lock);
    for (const struct ring *ring = __atomic_load_n(&rings, __ATOMIC_ACQUIRE); ring; ring = ring->next) {
        uint32_t count = __atomic_load_n(&ring->count, __ATOMIC_ACQUIRE);

        for (uint32_t i = 0; ring->session == session && i < count; i++) {
            const struct sc_event *e = &ring->events[i];

            if (e->matrix == matrix && e->tile == tile && (e->kind == SC_EVENT_STATE || e->kind == SC_EVENT_TRANSFER ||
                                                           e->kind == SC_EVENT_EVICT))
                found = insert(out, found, most, e);
        }
    }
    pthread_mutex_unlock(&file_lock);
    return found;
}

/* --- start and stop ----------------------------------------------------------------------------------------------- */

static bool write_header(void)
{
    struct sc_trace_header header = {
        .magic = SC_TRACE_MAGIC,
        .version = SC_TRACE_VERSION,
        .header_bytes = sizeof header,
        .event_bytes = sizeof(struct sc_event),
        .byte_order = SC_TRACE_BYTE_ORDER,
        .start_monotonic = now(CLOCK_MONOTONIC),
        .start_realtime = now(CLOCK_REALTIME),
        .pid = (uint32_t)file.pid,
    };

    program_path(header.program, sizeof header.program);
    return sc_write_all(file.fd, &header, sizeof header);
}

enum sc_status sc_trace_start(const char *path)
{
    struct stat about;
    enum sc_status status = SC_ERR_IO;

    sc_inside_enter();
    pthread_once(&once, set_up_once);
    pthread_mutex_lock(&file_lock);
    if (file.fd >= 0) {
        sc_log(SC_LOG_WARN, "tracing is on already; %s is not written", path);
        status = SC_ERR_INVALID;
    } else if ((file.fd = sc_trace_create_file(path, 0600, SC_FILE_TRACE)) >= 0) {
        file.pid = getpid();
        file.events = 0;
        __atomic_store_n(&dropped, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&session, session + 1, __ATOMIC_RELEASE);
        if (fstat(file.fd, &about) == 0 && write_header()) {
            file.device = about.st_dev;
            file.inode = about.st_ino;
            write_tables();
            status = file.fd >= 0 ? SC_OK : SC_ERR_IO;
        } else {
            sc_log(SC_LOG_WARN, "writing the trace file %s failed (%s)", path, strerror(errno));
            close_file();
        }
        sc_trace_on = file.fd >= 0 || keeping;
    }
    pthread_mutex_unlock(&file_lock);
    sc_inside_leave();
    return status;
}

void sc_trace_setting(const char *text)
{
    sc_inside_enter();
    pthread_mutex_lock(&file_lock);
    if (sc_trace_on)
        write_chunk(SC_CHUNK_SETTING, NULL, 0, text, strlen(text));
    pthread_mutex_unlock(&file_lock);
    sc_inside_leave();
}

void sc_trace_stop(void)
{
    struct sc_trace_end end;

    sc_inside_enter();
    pthread_mutex_lock(&file_lock);
    keeping = sc_trace_on = false;
    if (file.fd >= 0) {
        for (struct ring *ring = __atomic_load_n(&rings, __ATOMIC_ACQUIRE); ring; ring = ring->next)
            write_ring(ring);
        write_tables();
        end = (struct sc_trace_end){file.events, __atomic_load_n(&dropped, __ATOMIC_RELAXED)};
        write_chunk(SC_CHUNK_END, &end, sizeof end, NULL, 0);
        close_file();
    }
    __atomic_store_n(&session, session + 1, __ATOMIC_RELEASE); /* what comes too late belongs to no file */
    pthread_mutex_unlock(&file_lock);
    sc_inside_leave();
}
