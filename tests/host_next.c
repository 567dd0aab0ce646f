/* The search of symbol tables finds the functions that dlsym finds, for each function of host/syscalls.tab. */
#define _GNU_SOURCE
#include <time.h>

#include "base/loader.h"
#include "host/next.h"
#include "tests/tap.h"

static const char *const names[] = {
#define NAME(name) #name,
#include "host/libc_calls.h"
};
enum { NAMES = sizeof names / sizeof *names };

int main(void)
{
    struct sc_host_nexts nexts;
    int found = 0, wrong = 0;

    sc_host_nexts_open(&nexts);
    for (int i = 0; i < NAMES; i++) {
        void *ours = sc_host_nexts_find(&nexts, names[i]), *theirs = sc_loader_symbol(RTLD_NEXT, names[i]);

        found += ours != NULL;
        if (ours && ours != theirs) {
            tap_diag("%s is at %p, not at %p", names[i], theirs, ours);
            wrong++;
        }
    }
    tap_ok(wrong == 0, "each function is the one that dlsym finds");
    tap_ok(found > NAMES * 9 / 10, "%d of %d functions are found", found, (int)NAMES);
    tap_ok(!sc_host_nexts_find(&nexts, "no_such_function") && !sc_host_nexts_find(&nexts, ""), "others are not");
#ifndef __SANITIZE_ADDRESS__ /* it has a function "time" of its own */
    tap_ok(!sc_host_nexts_find(&nexts, "time"), "a function that libc chooses by the processor is left to dlsym");
#endif
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
