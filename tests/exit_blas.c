/* The host BLAS of exit_wait.t.  A product on an emulated device lasts until the other thread waits.  The destructor
 * lasts until that thread waits for the end, or is in the BLAS, and says which. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "tests/exit_wait.h"

#pragma GCC visibility push(default) /* the sources are compiled with hidden names */

static struct exit_flags *flags(void)
{
    const char *address = getenv("EXIT_FLAGS");

    return address ? (struct exit_flags *)strtoull(address, NULL, 16) : NULL;
}

static int is(const int *flag) { return __atomic_load_n(flag, __ATOMIC_ACQUIRE); }

void dgemm_(void);
void dgemm_(void)
{
    struct exit_flags *f = flags();
    char name[16] = "";

    prctl(PR_GET_NAME, name);
    if (!f)
        return;
    if (strncmp(name, "sc-emu", 6) == 0) {
        while (!is(&f->waits))
            sched_yield();
        return;
    }
    if (is(&f->waits))
        __atomic_store_n(&f->entered, 1, __ATOMIC_RELEASE);
}

__attribute__((destructor)) static void end(void)
{
    struct exit_flags *f = flags();

    while (f && !is(&f->waits_long) && !is(&f->entered))
        sched_yield();
    if (f)
        printf("%s\n", is(&f->entered) ? "entered" : "waits");
    fflush(stdout);
}
/* SPDX-License-Identifier: BSD-2-Clause */
