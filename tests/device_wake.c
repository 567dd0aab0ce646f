/* A separate thread creates the context of the first device before the module is opened. Asserts that the thread
 * chooses the device that the module will open, and releases the context after the module has its own reference. */
#include <dlfcn.h>
#include <stdio.h>

#include "device/cuda/wake.h"
#include "tests/fake_driver.h"
#include "tests/tap.h"

static struct fake_driver *driver;
static struct sc_config config;
static int entered;

static void enter(void) { entered++; }

static const struct sc_device_host host = {.config = &config, .thread_enter = enter};

/* The driver's number of the device woken, or -1. */
static int wake(const char *spec, int64_t rank, int64_t ranks)
{
    driver->retained = driver->released = -1;
    config.rank = rank;
    config.ranks = ranks;
    sc_cuda_wake(&host, spec);
    sc_cuda_wake_join();
    return driver->retained;
}

static void test_which(void)
{
    tap_ok(wake("", 0, 0) == 100, "without a list: the first device");
    tap_ok(wake("2,0", 0, 0) == 102, "of a list: its first");
    tap_ok(wake("", 3, 8) == 101, "that of the rank");
    tap_ok(wake("0,1", 1, 2) == -1, "a list for several ranks: none");
    tap_ok(wake("7", 0, 0) == -1 && wake("x", 0, 0) == -1, "one that is not there, and nonsense: none");
}

static void test_life(void)
{
    int before = entered;

    wake("1", 0, 0);
    tap_ok(entered == before + 1 && !pthread_equal(driver->by, pthread_self()), "by a thread that says so");
    tap_ok(driver->released == -1, "the context stays");
    sc_cuda_wake_end();
    tap_ok(driver->released == 101, "until the end");
    driver->released = -1;
    sc_cuda_wake_end();
    tap_ok(driver->released == -1, "and is let go once");
}

static void test_failures(void)
{
    driver->refuses = 2;
    wake("", 0, 0);
    sc_cuda_wake_end();
    tap_ok(driver->released == -1, "a context that was refused is not let go");
    driver->refuses = 0;
    driver->devices = 0;
    tap_ok(wake("", 0, 0) == -1, "no devices");
    driver->devices = 4;
    driver->broken = 3;
    tap_ok(wake("", 0, 0) == -1 && driver->inits > 0, "a driver that does not start");
    sc_cuda_wake_end();
}

int main(void)
{
    char path[4096];
    struct fake_driver *(*find)(void);
    void *library;

    /* Loaded by its path: a later "libcuda.so.1" resolves to the loaded library. */
    snprintf(path, sizeof path, "%s/tests/driver/.libs/libcuda.so.1", getenv("top_builddir"));
    library = dlopen(path, RTLD_NOW);
    if (!library) {
        printf("Bail out! %s\n", dlerror());
        return 1;
    }
    *(void **)&find = dlsym(library, "fake_driver");
    driver = find();
    test_which();
    test_life();
    test_failures();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
