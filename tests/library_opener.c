/* A call that waits a little for an opening in another thread (libsemcache/opener.h), with modules that open slowly
 * (0.3 s) or never (tests/fake_module.c). */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/config.h"
#include "blas/blas.h"
#include "libsemcache/opener.h"
#include "tests/tap.h"

static void *no_symbol(const char *name)
{
    (void)name;
    return NULL;
}

static const struct sc_device_host host = {.config = &sc_config, .blas_symbol = no_symbol, .log = sc_log,
                                           .thread_enter = sc_opener_thread_enter,
                                           .unwanted = sc_opener_is_unwanted};

/* Whether a call found the opening in progress before its wait, after it, and after a second wait. */
static int waits(const char *module, double seconds)
{
    int before, after;

    sc_opener_wait_seconds = seconds;
    setenv("FAKE_MODULE", module, 1);
    sc_opener_ready(&host);
    before = sc_opener_busy();
    after = sc_opener_busy_long();
    return before | after << 1 | sc_opener_busy_long() << 2;
}

/* Bits: the opening is in progress when the process ends; after the end's wait; after another call; after another call
 * if the process goes on. */
static int ends(void)
{
    int before;

    setenv("FAKE_MODULE", "patient", 1);
    sc_opener_ready(&host);
    before = sc_opener_busy();
    sc_opener_permit(false);
    sc_opener_wait();
    before |= sc_opener_busy() << 1;
    sc_opener_ready(&host);
    before |= sc_opener_busy() << 2;
    sc_opener_permit(true); /* only the main thread has ended */
    sc_opener_ready(&host);
    return before | sc_opener_busy() << 3;
}

/* module NULL: ends. */
static int in_child(const char *module, double seconds)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0)
        _exit(module ? waits(module, seconds) : ends());
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Threads of the host BLAS before, during and after an opening, as digits. `set`: the program's choice meanwhile. */
static int threads_in_child(const char *blas, const char *module, int chosen)
{
    int (*get)(void), before, during;
    void (*set)(int);

    if (sc_blas_host_open(blas) != SC_OK)
        return -1;
    *(void **)&get = sc_blas_host_symbol("openblas_get_num_threads");
    *(void **)&set = sc_blas_host_symbol("openblas_set_num_threads");
    before = get();
    setenv("FAKE_MODULE", module, 1);
    sc_opener_ready(&host);
    while (sc_opener_busy() && get() == before)
        usleep(1000);
    during = get();
    if (chosen)
        set(chosen);
    sc_opener_wait();
    return 100 * before + 10 * during + get();
}

static int threads(const char *blas, const char *module, int chosen)
{
    int digits = -1, ends[2];
    pid_t child;

    if (pipe(ends) || (child = fork()) < 0)
        return -1;
    if (child == 0) {
        digits = threads_in_child(blas, module, chosen);
        _exit(write(ends[1], &digits, sizeof digits) != sizeof digits);
    }
    close(ends[1]);
    if (read(ends[0], &digits, sizeof digits) != sizeof digits)
        digits = -1;
    close(ends[0]);
    waitpid(child, NULL, 0);
    return digits;
}

int main(void)
{
    const char *top = getenv("top_builddir");
    char fakes[4096], module[4200], blas[4200];

    snprintf(fakes, sizeof fakes, "%s/tests/.libs", top ? top : ".");
    snprintf(module, sizeof module, "%s/semcache-cuda.so", fakes);
    if (access(module, R_OK))
        tap_skip_all("no module of the tests");
    sc_config.device = "cuda";
    sc_config.module_path = fakes;
    tap_ok((in_child("slow", 1000) & 6) == 0, "a call waits for an opening that ends soon");
    tap_ok(in_child("hangs", 0.5) == 7, "but not for ever, and another call does not wait again");
    tap_ok(in_child(NULL, 0) == 9, "an opening that nobody wants ends at its next step, and may be tried again");
    snprintf(blas, sizeof blas, "%s/threads_blas.so", fakes);
    unsetenv("THREADS");
    tap_ok(threads(blas, "slow", 0) == 878, "an opening has a processor of the host BLAS to itself");
    tap_ok(threads(blas, "slow", 3) == 873, "a number of threads that the program sets meanwhile stays");
    setenv("THREADS", "4", 1);
    tap_ok(threads(blas, "slow", 0) == 444, "so does one that it has set before");
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
