#define _GNU_SOURCE
#include "host/touch.h"

#include <aio.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "base/inside.h"
#include "base/own_proc.h"
#include "host/watch.h"

bool sc_host_anything_tracked(void)
{
    return __atomic_load_n(&sc_host_callbacks, __ATOMIC_RELAXED) != NULL && !sc_inside();
}

/* --- ranges ------------------------------------------------------------------------------------------------------- */

void sc_host_touch_arena(struct sc_host_use *use, uintptr_t addr, size_t bytes, enum sc_access access)
{
    const void *p = (const void *)addr;
    struct sc_host_block block;

    if (sc_inside())
        return;
    if (!sc_host_block_of(p, &block)) {
        sc_host_touch_watched(use, addr, bytes, access); /* a block that must not be tracked */
        return;
    }
    if (bytes > block.base + block.bytes - addr) /* the rest lies outside the block: the kernel reports the error */
        bytes = block.base + block.bytes - addr;
    if (!bytes)
        return;
    /* Noted even if untracked: the block may become tracked during the call. */
    sc_host_use(use, addr, addr + bytes, access);
    if (sc_host_arena_tracked(p))
        sc_host_acquire(addr, bytes, access);
}

/* The note is written before the pages are opened.  Closing the pages again looks for notes afterwards. */
void sc_host_touch_watched(struct sc_host_use *use, uintptr_t addr, size_t bytes, enum sc_access access)
{
    if (!(access & SC_WRITE) || sc_inside() || !bytes || bytes > UINTPTR_MAX - addr ||
        !sc_watch_meets(addr, addr + bytes))
        return;
    sc_host_use_surely(use, addr, addr + bytes, access);
    sc_host_watch_open(addr, addr + bytes);
}

void sc_host_touch_range(struct sc_host_use *use, uintptr_t lo, uintptr_t hi, enum sc_access access)
{
    uintptr_t first = sc_host_next_within(lo), last = sc_host_hull.base + sc_host_hull.bytes;
    struct sc_host_block block;

    if (lo < hi)
        sc_host_touch_watched(use, lo, hi - lo, access);
    if (!sc_inside() && first < hi) {
        lo = first;
        hi = hi > last ? last : hi;
        sc_host_use_surely(use, lo, hi, access);
        if (!sc_host_block_of((const void *)lo, &block) || hi > block.base + block.bytes ||
            sc_host_arena_tracked((const void *)lo))
            sc_host_acquire(lo, hi - lo, access);
    }
    sc_host_use_lasts(use);
}

/* --- strings and lists -------------------------------------------------------------------------------------------- */

/* The search for the string's end may fault, as intended. */
void sc_host_touch_string_arena(struct sc_host_use *use, const char *s)
{
    struct sc_host_block block;

    if (!sc_inside() && sc_host_block_of(s, &block))
        sc_host_touch_arena(use, (uintptr_t)s, strnlen(s, block.base + block.bytes - (uintptr_t)s) + 1, SC_READ);
}

void sc_host_touch_strings(struct sc_host_use *use, char *const *list)
{
    size_t count = 0;

    if (!list || !sc_host_anything_tracked())
        return;
    for (; list[count]; count++)
        sc_host_touch_string(use, list[count]);
    sc_host_touch(use, list, (count + 1) * sizeof *list, SC_READ);
}

void sc_host_touch_address(struct sc_host_use *use, void *at, socklen_t *length)
{
    if (!sc_host_anything_tracked() || !length)
        return;
    sc_host_touch(use, length, sizeof *length, SC_RDWR);
    if (sc_host_within(at) || sc_host_meets_watched(at, *length))
        sc_host_touch(use, at, *length, SC_RDWR);
}

void sc_host_touch_vector(struct sc_host_use *use, const struct iovec *v, size_t count, enum sc_access access)
{
    if (!sc_host_anything_tracked() || count > IOV_MAX)
        return;
    sc_host_touch(use, v, count * sizeof *v, SC_READ);
    for (size_t i = 0; i < count; i++)
        sc_host_touch(use, v[i].iov_base, v[i].iov_len, access);
}

void sc_host_touch_message(struct sc_host_use *use, const struct msghdr *m, enum sc_access access)
{
    if (!sc_host_anything_tracked() || !m)
        return;
    sc_host_touch(use, m, sizeof *m, access);
    sc_host_touch(use, m->msg_name, m->msg_namelen, access);
    sc_host_touch(use, m->msg_control, m->msg_controllen, access);
    sc_host_touch_vector(use, m->msg_iov, m->msg_iovlen, access);
}

/* The kernel writes a length into each message, also into sent messages. */
void sc_host_touch_messages(struct sc_host_use *use, const struct mmsghdr *m, size_t count, enum sc_access access)
{
    if (!sc_host_anything_tracked() || !m)
        return;
    for (size_t i = 0; i < count && i < IOV_MAX; i++) {
        sc_host_touch(use, &m[i], sizeof m[i], SC_RDWR);
        sc_host_touch_message(use, &m[i].msg_hdr, access);
    }
}

/* --- arguments whose use depends on a descriptor or process ------------------------------------------------------- */

/* On the read end of a pipe, vmsplice writes memory. */
void sc_host_touch_spliced(struct sc_host_use *use, int fd, const struct iovec *v, size_t count)
{
    int saved = errno;
    long flags;

    if (!sc_host_anything_tracked())
        return;
    flags = sc_host_sys(SYS_fcntl, fd, F_GETFL, 0, 0, 0);
    errno = saved;
    sc_host_touch_vector(use, v, count, flags >= 0 && (flags & O_ACCMODE) == O_RDONLY ? SC_RDWR : SC_READ);
}

static bool is_this_process(int pid)
{
    int saved = errno;
    bool own = pid == getpid() || sc_host_sys(SYS_tgkill, getpid(), pid, 0, 0, 0) == 0;

    errno = saved;
    return own;
}

void sc_host_touch_process(struct sc_host_use *use, int pid, const struct iovec *v, size_t count,
                           enum sc_access access)
{
    if (sc_host_anything_tracked() && is_this_process(pid))
        sc_host_touch_vector(use, v, count, access);
}

/* --- memory that is used after the call --------------------------------------------------------------------------- */

/* Outside the arena only ranges of an engine that closes pages are excluded, because the list of exclusions is
 * short. */
void sc_host_keep_arena(const void *p, size_t bytes)
{
    uintptr_t at = (uintptr_t)p;
    const struct sc_watch_range *watched;
    struct sc_host_block block;

    if (sc_inside() || !bytes)
        return;
    if (sc_host_within(p)) {
        if (sc_host_block_of(p, &block))
            sc_host_arena_abandon(at, 1, false);
    } else if (bytes <= UINTPTR_MAX - at && (watched = sc_watch_find(at, at + bytes)) && watched->engine->fault) {
        sc_watch_exclude(at, bytes);
    }
}

#define REQUESTS 64
static struct {
    const struct aiocb *request; /* NULL: free; 1: being filled */
    struct sc_host_use use;
} requests[REQUESTS];

static bool claim(const struct aiocb *request, struct sc_host_use *use)
{
    for (int i = 0; i < REQUESTS; i++) {
        const struct aiocb *none = NULL;

        if (__atomic_load_n(&requests[i].request, __ATOMIC_RELAXED) ||
            !__atomic_compare_exchange_n(&requests[i].request, &none, (const struct aiocb *)1, false, __ATOMIC_ACQUIRE,
                                         __ATOMIC_RELAXED))
            continue;
        requests[i].use = *use;
        __atomic_store_n(&requests[i].request, request, __ATOMIC_RELEASE);
        return true;
    }
    return false;
}

/* With more requests at once than the table holds, the block is not tracked any more. */
void sc_host_request(struct aiocb *request, bool reads)
{
    struct sc_host_use use = {0};
    uintptr_t lo;

    if (!request)
        return;
    lo = (uintptr_t)request->aio_buf;
    sc_host_keep(request, sizeof *request);
    if (!sc_host_within((void *)lo) && !sc_host_meets_watched((void *)lo, request->aio_nbytes))
        return;
    sc_host_request_over(request);
    sc_host_touch(&use, (void *)lo, request->aio_nbytes, reads ? SC_RDWR : SC_READ);
    sc_host_use_lasts(&use);
    if (use.note && !claim(request, &use)) {
        sc_host_keep((void *)lo, request->aio_nbytes);
        sc_host_use_end(&use);
    }
}

void sc_host_request_over(const struct aiocb *request)
{
    for (int i = 0; i < REQUESTS; i++) {
        const struct aiocb *this = request;

        if (__atomic_load_n(&requests[i].request, __ATOMIC_RELAXED) != request ||
            !__atomic_compare_exchange_n(&requests[i].request, &this, (const struct aiocb *)1, false, __ATOMIC_ACQUIRE,
                                         __ATOMIC_RELAXED))
            continue;
        sc_host_use_end(&requests[i].use);
        __atomic_store_n(&requests[i].request, NULL, __ATOMIC_RELEASE);
    }
}

/* --- the process's memory as a file ------------------------------------------------------------------------------- */

bool sc_host_memory_opened;

void sc_host_opened(const char *path)
{
    size_t length = strlen(path);

    if (length >= 3 && memcmp(path + length - 3, "mem", 3) == 0)
        __atomic_store_n(&sc_host_memory_opened, true, __ATOMIC_RELAXED);
}

/* The number after `word` at the front of *text, which moves behind the number; -1 for a different text. */
static int number_after(const char **text, const char *word)
{
    size_t length = strlen(word);
    int number = 0;

    if (strncmp(*text, word, length) != 0 || (*text)[length] < '0' || (*text)[length] > '9')
        return -1;
    for (*text += length; **text >= '0' && **text <= '9'; ++*text)
        number = 10 * number + (**text - '0');
    return number;
}

/* True when the descriptor is /proc/PID/mem or /proc/PID/task/TID/mem of this process. */
static bool is_own_memory(int fd)
{
    char link[40] = SC_OWN_PROC "fd/", path[64], digits[12];
    const char *at = path;
    int n = 0, pid;
    long got;

    if (fd < 0)
        return false;
    do
        digits[n++] = (char)('0' + fd % 10);
    while (fd /= 10);
    for (size_t i = strlen(link); n; i++)
        link[i] = digits[--n];
    got = sc_host_sys(SYS_readlink, (long)link, (long)path, sizeof path - 1, 0, 0);
    if (got < 0)
        return false;
    path[got] = 0;
    pid = number_after(&at, "/proc/");
    if (pid < 0 || !is_this_process(pid))
        return false;
    number_after(&at, "/task/");
    return strcmp(at, "/mem") == 0;
}

void sc_host_touch_memory_file(struct sc_host_use *use, int fd, off_t at, size_t bytes, enum sc_access access)
{
    int saved = errno;

    if (sc_host_anything_tracked() && is_own_memory(fd)) {
        if (at < 0)
            at = (off_t)sc_host_sys(SYS_lseek, fd, 0, SEEK_CUR, 0, 0);
        if (at > 0 && sc_host_within((void *)at))
            sc_host_touch_arena(use, (uintptr_t)at, bytes, access);
        else if (at > 0)
            sc_host_touch_watched(use, (uintptr_t)at, bytes, access);
    }
    errno = saved;
}
/* SPDX-License-Identifier: BSD-2-Clause */
