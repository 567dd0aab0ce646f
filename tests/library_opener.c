/* A call that waits a little for an opening in another thread (libsemcache/opener.h), with modules that open slowly
 * (0.3 s) or never (tests/fake_module.c). */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/config.h"
#include "libsemcache/opener.h"
#include "tests/tap.h"

static void *no_symbol(const char *name)
{
    (void)name;
    return NULL;
}

static const struct sc_device_host host = {.config = &sc_config, .blas_symbol = no_symbol, .log = sc_log,
                                           .thread_enter = sc_opener_thread_enter};

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

static int in_child(const char *module, double seconds)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0)
        _exit(waits(module, seconds));
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(void)
{
    const char *top = getenv("top_builddir");
    char fakes[4096], module[4200];

    snprintf(fakes, sizeof fakes, "%s/tests/.libs", top ? top : ".");
    snprintf(module, sizeof module, "%s/semcache-cuda.so", fakes);
    if (access(module, R_OK))
        tap_skip_all("no module of the tests");
    sc_config.device = "cuda";
    sc_config.module_path = fakes;
    tap_ok((in_child("slow", 1000) & 6) == 0, "a call waits for an opening that ends soon");
    tap_ok(in_child("hangs", 0.5) == 7, "but not for ever, and another call does not wait again");
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
