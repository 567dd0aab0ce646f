/* A program changes the mapping or the protection of watched memory, while a call of another thread would watch the
 * memory again. The preloaded tests/changes.c is between the library and the kernel, and tries to watch there. Asserts
 * that the memory is not watched before the kernel has changed it, and can be watched afterwards: for each function,
 * and for the same call through syscall(). Asserts what readers without a lock see of the watched ranges. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/fault_int.h"
#include "host/host_int.h"
#include "host/touch.h"
#include "host/watch.h"
#include "tests/host_fake.h"
#include "tests/tap.h"

#define BYTES ((size_t)1 << 20)

static char *memory, *elsewhere;
static int looks, watched;

static bool can_watch(const void *p, size_t bytes)
{
    uintptr_t lo = (uintptr_t)p, hi = lo + bytes;

    if (sc_host_watch(lo, &hi, hi) != SC_OK)
        return false;
    sc_host_unwatch(lo);
    return true;
}

static void look(void)
{
    if (sc_inside()) /* not a call of the program */
        return;
    looks++;
    watched += can_watch(memory, BYTES);
}

static void *anew(void)
{
    return mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* --- the calls ---------------------------------------------------------------------------------------------------- */

enum { RW = PROT_READ | PROT_WRITE, FIXED = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED };

static void by_munmap(void) { munmap(memory + BYTES / 2, BYTES / 2); }
static void by_mmap(void) { mmap(memory, BYTES, RW, FIXED, -1, 0); }
static void by_mmap64(void) { mmap64(memory, BYTES, RW, FIXED, -1, 0); }
static void by_mprotect(void) { mprotect(memory, BYTES, RW); }
static void by_pkey_mprotect(void) { pkey_mprotect(memory, BYTES, RW, -1); }
static void by_madvise(void) { madvise(memory, BYTES, MADV_DONTNEED); }
static void by_mremap(void) { mremap(memory, BYTES, BYTES / 2, 0); }
static void by_mremap_onto(void) { mremap(elsewhere, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, memory); }
static void by_raw_munmap(void) { syscall(SYS_munmap, memory + BYTES / 2, BYTES / 2, 0L, 0L, 0L, 0L); }
static void by_raw_mmap(void) { syscall(SYS_mmap, memory, BYTES, (long)RW, (long)FIXED, -1L, 0L); }
static void by_raw_mprotect(void) { syscall(SYS_mprotect, memory, BYTES, (long)RW, 0L, 0L, 0L); }
static void by_raw_pkey_mprotect(void) { syscall(SYS_pkey_mprotect, memory, BYTES, (long)RW, -1L, 0L, 0L); }
static void by_raw_madvise(void) { syscall(SYS_madvise, memory, BYTES, (long)MADV_DONTNEED, 0L, 0L, 0L); }
static void by_raw_mremap(void) { syscall(SYS_mremap, memory, BYTES, BYTES / 2, 0L, 0L, 0L); }

static int segment;
static void by_shmat(void) { shmat(segment, memory, SHM_REMAP); }
static void by_raw_shmat(void) { syscall(SYS_shmat, (long)segment, memory, (long)SHM_REMAP, 0L, 0L, 0L); }

static const struct {
    const char *name;
    void (*call)(void);
    bool shared; /* shared memory is not watched */
} calls[] = {{"munmap", by_munmap, false},
             {"mmap with MAP_FIXED", by_mmap, false},
             {"mmap64 with MAP_FIXED", by_mmap64, false},
             {"mprotect", by_mprotect, false},
             {"pkey_mprotect", by_pkey_mprotect, false},
             {"madvise", by_madvise, false},
             {"mremap", by_mremap, false},
             {"mremap onto the memory", by_mremap_onto, false},
             {"shmat with SHM_REMAP", by_shmat, true},
             {"SYS_munmap", by_raw_munmap, false},
             {"SYS_mmap", by_raw_mmap, false},
             {"SYS_mprotect", by_raw_mprotect, false},
             {"SYS_pkey_mprotect", by_raw_pkey_mprotect, false},
             {"SYS_madvise", by_raw_madvise, false},
             {"SYS_mremap", by_raw_mremap, false},
             {"SYS_shmat", by_raw_shmat, true}};

static void test_calls(void (**before)(void))
{
    segment = shmget(IPC_PRIVATE, BYTES, IPC_CREAT | 0600);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        bool good;

        memory = anew();
        elsewhere = anew();
        memory[0] = 1;
        looks = watched = 0;
        good = can_watch(memory, BYTES);
        *before = look;
        calls[i].call();
        *before = NULL;
        tap_ok(good && looks == 1 && !watched, "%s: not watched before the kernel has changed it (%d of %d)",
               calls[i].name, watched, looks);
        /* munmap and mremap leave a half */
        tap_ok(can_watch(memory, BYTES / 2) == !calls[i].shared, "%s: %s afterwards", calls[i].name,
               calls[i].shared ? "never watched" : "watched");
        munmap(memory, BYTES);
    }
    shmctl(segment, IPC_RMID, NULL);
}

/* --- readers without a lock --------------------------------------------------------------------------------------- */

static int over;
static long missed;

static void *reads(void *p)
{
    while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE))
        missed += !sc_host_meets_watched(p, 1);
    return NULL;
}

static void test_hull(void)
{
    char *p = anew(), *below = anew(), *q;
    uintptr_t hi = (uintptr_t)p + BYTES;
    pthread_t thread;

    q = below < p ? below : p; /* watched in turn: widens the range of addresses at both ends */
    p = below < p ? p : below;
    hi = (uintptr_t)p + BYTES;
    p[0] = q[0] = 1;
    if (sc_host_watch((uintptr_t)p, &hi, hi) != SC_OK)
        return;
    pthread_create(&thread, NULL, reads, p);
    for (int i = 0; i < 2000; i++)
        can_watch(i % 2 ? q : elsewhere, BYTES);
    __atomic_store_n(&over, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    tap_ok(!missed, "a reader always finds a watched range while others come and go (%ld times not)", missed);
    sc_host_unwatch((uintptr_t)p);
    tap_ok(!sc_host_meets_watched(p, 1), "the last range is gone");
    tap_ok(sc_host_watch_fault((uintptr_t)p), "a fault from before the end of the watching is repeated");
    tap_ok(!sc_host_watch_fault((uintptr_t)calls), "another fault is the program's");
}

/* --- memory that a system call is writing ------------------------------------------------------------------------- */

static void test_in_use(void)
{
    char *p = anew();
    uintptr_t lo = (uintptr_t)p, hi = lo + BYTES, from = lo;
    struct sc_host_use use = {0};
    struct sc_watch_run run;
    uint32_t before;
    int count;

    p[0] = 1;
    if (sc_host_watch(lo, &hi, hi) != SC_OK)
        return;
    before = sc_host_prot_changes;
    sc_host_touch(&use, p - BYTES, 2 * BYTES, SC_RDWR); /* a part of the system call's memory is watched */
    count = sc_host_watch_written(&from, hi, true, &run, 1);
    tap_ok(count == 1 && sc_watch_prot(lo) == SC_PROT_RW && sc_host_prot_changes == before,
           "pages are never closed while a system call writes them");
    sc_host_use_end(&use);
    from = lo;
    count = sc_host_watch_written(&from, hi, true, &run, 1);
    tap_ok(count == 1 && run.hi - run.lo == BYTES, "and count as written afterwards");
    sc_host_unwatch(lo);
}

int main(int argc, char **argv)
{
    void (**before)(void) = dlsym(RTLD_DEFAULT, "sc_test_before_change");
    char preloaded[4096];

    if (!before && argc == 1) {
        snprintf(preloaded, sizeof preloaded, "%s/tests/.libs/changes.so", getenv("top_builddir"));
        setenv("LD_PRELOAD", preloaded, 1);
        execl(argv[0], argv[0], "preloaded", NULL);
    }
    if (!tap_ok(before != NULL, "tests/changes.c is preloaded"))
        return tap_done();
    sc_host_callbacks_set(&fake_callbacks);
    memory = anew();
    memory[0] = 1;
    if (!tap_ok(can_watch(memory, BYTES), "memory can be watched"))
        return tap_done();
    test_calls(before);
    test_hull();
    test_in_use();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
