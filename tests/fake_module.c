/* A device module without devices, for tests of opening modules: FAKE_MODULE chooses the module's misbehaviour. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/device.h"

/* "slow": like a driver, registers handlers of forks and exits long before the end of its opening, and complains if a
 * fork or an exit came in between. */
static bool opening;
static pid_t opened_by;
static bool fork_seen;

static void complain(const char *line) { (void)!write(STDERR_FILENO, line, strlen(line)); }

static void before_fork(void) { fork_seen = true; }

static void at_exit(void)
{
    if (opening)
        complain("torn down while it was being opened\n");
    if (getpid() != opened_by && !fork_seen)
        complain("forked without being told\n");
}

static void open_slowly(void)
{
    opening = true;
    opened_by = getpid();
    atexit(at_exit);
    usleep(100000);
    pthread_atfork(before_fork, NULL, NULL);
    usleep(200000);
    opening = false;
}

/* "loads": waits for the dynamic loader's lock after a while, like drivers that load libraries late. */
static void open_with_loader(void)
{
    usleep(300000);
    dlsym(RTLD_DEFAULT, "nobody_has_this");
}

static const struct sc_device_host *kept;

/* "patient": opens until nobody wants it.
 * "speaks": logs during and after its opening. "memory": reports that the driver has no memory. */
static enum sc_status open_none(const struct sc_device_host *host, const char *spec, int *count)
{
    const char *how = getenv("FAKE_MODULE");

    kept = host;
    if (how && strcmp(how, "slow") == 0)
        open_slowly();
    if (how && strcmp(how, "loads") == 0)
        open_with_loader();
    while (how && strcmp(how, "hangs") == 0)
        pause();
    while (how && strcmp(how, "patient") == 0 && !sc_device_is_unwanted(host))
        usleep(1000);
    if (how && strcmp(how, "speaks") == 0)
        host->log(SC_LOG_ERROR, "of the opening");
    if (how && strcmp(how, "memory") == 0)
        return SC_ERR_DEVICE_MEMORY;
    *count = strcmp(spec, "bad") ? atoi(spec) : 0;
    return strcmp(spec, "bad") ? SC_OK : SC_ERR_INVALID;
}

static void close_none(void) { }

static enum sc_status properties_of_none(int device, struct sc_device_properties *out)
{
    (void)device;
    (void)out;
    kept->log(SC_LOG_ERROR, "of a device");
    return SC_ERR_DEVICE;
}

__attribute__((visibility("default"))) sc_device_module_entry semcache_device_module;

const struct sc_device_ops *semcache_device_module(void)
{
    static struct sc_device_ops ops = {.name = "fake", .open = open_none, .close = close_none,
                                       .properties = properties_of_none};
    const char *wrong = getenv("FAKE_MODULE");

    ops.abi = SC_DEVICE_ABI + (wrong && !strcmp(wrong, "abi"));
    ops.size = (uint32_t)sizeof ops - (wrong && !strcmp(wrong, "size") ? 8 : 0);
    return wrong && !strcmp(wrong, "nothing") ? NULL : &ops;
}
/* SPDX-License-Identifier: BSD-2-Clause */
