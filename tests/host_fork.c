/* fork: every block is home before; the child has no devices and makes no callbacks; memory is unchanged. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/self_mem.h"
#include "host/fork.h"
#include "tests/host_fake.h"
#include "tests/tap.h"

#define MIB ((size_t)1 << 20)

static int unpins;
static enum sc_status pin(void *base, size_t bytes)
{
    (void)base, (void)bytes;
    return SC_OK;
}
static void unpin(void *base, size_t bytes)
{
    (void)base, (void)bytes;
    unpins++;
}

/* Runs in the child; returns the number of the first failed check, 0 on success. */
static int child_checks(char *tracked, char *plain)
{
    char *p;
    double number = 1.5, back = 0;

    if (fake_homes != 1 || fake_children != 1 || fake_resumes)
        return 1;
    if (!all_bytes(tracked, 7, 3 * MIB) || !all_bytes(plain, 8, 100000))
        return 2;
    p = malloc(3 * MIB);
    if (!p || sc_host_in_arena(p))
        return 3;
    memset(p, 1, 3 * MIB);
    free(p);
    tracked = realloc(tracked, 20 * MIB);
    if (!tracked || !all_bytes(tracked, 7, 3 * MIB))
        return 4;
    free(tracked);
    sc_host_spans_unpin();
    free(plain);
    if (fake_forgets || fake_acquires || unpins)
        return 5;
    if (sc_self_mem_write(&back, &number, sizeof back) != SC_OK || back != number)
        return 6;
    return 0;
}

/* 0, or 100 + signal, or the child's code. */
static int in_child(char *tracked, char *plain)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0)
        _exit(child_checks(tracked, plain));
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

static volatile int stop;
static void *churn(void *unused)
{
    (void)unused;
    while (!stop) {
        char *p = malloc(10000), *q = malloc(2 * MIB);

        p[0] = q[0] = 1;
        free(p);
        free(q);
    }
    return NULL;
}

int main(void)
{
    char *tracked, *plain;
    struct sc_host_block b;
    pthread_t thread;
    int code, bad = 0;
    double one = 1, back = 0;

    if (!tap_ok(fake_start((size_t)1 << 40) == 0, "the arena starts"))
        return tap_done();
    sc_host_fork_protocol_start();
    tracked = malloc(3 * MIB);
    plain = malloc(100000);
    memset(tracked, 7, 3 * MIB);
    memset(plain, 8, 100000);
    sc_host_block_track(tracked);
    sc_host_block_of(tracked, &b);
    sc_host_span_pin(&b, pin, unpin);
    sc_self_mem_write(&back, &one, sizeof back); /* the child must not use this descriptor */
    code = in_child(tracked, plain);
    tap_ok(code == 0, "the child has the data, libc's malloc and nobody to call (%d)", code);
    tap_ok(fake_homes == 1 && fake_resumes == 1 && fake_children == 0,
           "the parent brought everything home and goes on");
    tap_ok(all_bytes(tracked, 7, 3 * MIB) && back == 1, "the parent's memory is as it was");
    free(tracked);
    tap_ok(fake_forgets == 1, "the parent goes on forgetting");
    fake_reset();
    pthread_create(&thread, NULL, churn, NULL);
    for (int i = 0; i < 100; i++) {
        pid_t pid = fork();
        int status = 0;

        if (pid == 0) {
            char *p = realloc(plain, 5 * MIB);

            _exit(p && all_bytes(p, 8, 100000) ? 0 : 1);
        }
        waitpid(pid, &status, 0);
        bad += status != 0;
    }
    stop = 1;
    pthread_join(thread, NULL);
    tap_ok(bad == 0, "100 forks beside a thread that allocates: no child hangs or fails");
    free(plain);
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
