/* A separate instance of the host BLAS for the emulated devices.
 *
 * A BLAS with threads has one pool of threads and one lock around the pool.  Suppose a program inside the BLAS touches
 * a result still under computation: the program waits for the emulated device, and the device would wait for the pool,
 * forever.  Real hardware computes without the host's processors.  Therefore the library's file is loaded a second
 * time, under another inode: separate code, data and threads. */
#include <config.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/loader.h"
#include "base/log.h"
#include "base/quiet.h"
#include "base/write.h"
#include "device/emu/emu_int.h"

typedef void *(*resolver)(const char *name);

static resolver shared;
static void *own; /* the second instance, never unloaded; NULL: the first instance serves */

static int copy_of(const char *path)
{
    int from = open(path, O_RDONLY | O_CLOEXEC), to = -1;
    struct sc_write_quiet quiet; /* a limit on the size of files must not end the program */
    struct stat file;
    off_t done = 0;

    sc_write_quiet_begin(&quiet);
    if (from >= 0 && fstat(from, &file) == 0)
        to = memfd_create("semcache-emu-blas", MFD_CLOEXEC);
    while (to >= 0 && done < file.st_size)
        if (sendfile(to, from, &done, (size_t)(file.st_size - done)) <= 0) {
            close(to);
            to = -1;
        }
    sc_write_quiet_end(&quiet);
    if (from >= 0)
        close(from);
    return to;
}

static void load(void)
{
    void *known = shared("dgemm_");
    struct sc_loader_object object;
    char path[64], name[16] = "";
    sigset_t before;
    int file;

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    return; /* sanitizers refuse RTLD_DEEPBIND */
#endif
    if (!known || !sc_loader_object(known, &object) || (file = copy_of(object.path)) < 0)
        return;
    /* By the thread's number: a debugger opens the name, too, and the main thread may have ended (base/own_proc.h). */
    snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)gettid(), file);
    sc_emu_block_signals(&before); /* for the threads of the BLAS, which also inherit the name */
    prctl(PR_GET_NAME, name);
    prctl(PR_SET_NAME, SC_QUIET_NAME "-blas");
    own = sc_loader_open(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    prctl(PR_SET_NAME, name);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(file);
    if (!own || sc_loader_symbol(own, "dgemm_") == known)
        sc_log(SC_LOG_INFO, "emulated devices share the program's BLAS and its threads");
}

void sc_emu_blas_start(resolver host_blas, bool computing)
{
    static bool loaded;

    shared = host_blas;
    if (computing && !loaded)
        load();
    loaded = loaded || computing;
    sc_device_kernel_prepare(sc_emu_blas_symbol);
}

void *sc_emu_blas_symbol(const char *name)
{
    void *symbol = own ? sc_loader_symbol(own, name) : NULL;

    return symbol ? symbol : shared(name);
}
/* SPDX-License-Identifier: BSD-2-Clause */
