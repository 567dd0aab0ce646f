#include "autotuner/demand.h"

#include <stdbool.h>
#include <string.h>

#include "autotuner/policy.h"

#define SLOTS 4096 /* one for an array; a newer key takes the slot of an older key; 12 bits of the mixed key are the
                    * index */

/* The present version of an array: its writer, and the demand of the device calls that have read the version. */
static struct version {
    uintptr_t at;
    uint64_t maker;
    uint16_t writer; /* op + 1; 0: unknown */
    int8_t want;
} versions[SLOTS];

/* Demand for the last version that a routine wrote at the address. Negative: the program changes the version. */
static struct habit {
    uint64_t key;
    int8_t want;
} habits[SLOTS];

/* After the host has made a version, a change by the program goes unnoticed. The demand is tested again after so many
 * versions. */
#define CHANGED (-64)

#define LOAD(from) __atomic_load_n(&(from), __ATOMIC_RELAXED)
#define STORE(to, value) __atomic_store_n(&(to), value, __ATOMIC_RELAXED)

static uint64_t mixed(uint64_t key) { return key * UINT64_C(0x9e3779b97f4a7c15); }
/* Key of an array under the present settings. */
static uintptr_t name_of(const void *at) { return (uintptr_t)sc_autotuner_keyed((uintptr_t)at, sc_config.metric); }
static struct version *version_of(uintptr_t name) { return &versions[mixed(name) >> 52]; }
static bool is_of(const struct version *v, uintptr_t name) { return LOAD(v->at) == name && LOAD(v->writer); }
static uint64_t habit_key(uintptr_t name, unsigned writer) { return mixed(name) ^ writer; }
static struct habit *habit_of(uint64_t key) { return &habits[mixed(key) >> 52]; }

static int habit_want(uint64_t key)
{
    const struct habit *h = habit_of(key);

    return LOAD(h->key) == key ? LOAD(h->want) : 0;
}

/* The demand for the present version is known once a device has read the version. */
int sc_demand_of_result(const void *at, enum sc_op op)
{
    const uintptr_t name = name_of(at);
    const struct version *v = version_of(name);
    unsigned writer = (unsigned)op + 1;
    int want = habit_want(habit_key(name, writer));
    int now = is_of(v, name) && LOAD(v->writer) == writer ? LOAD(v->want) : 0;

    return want < 0 ? 0 : now > want ? now : want;
}

uint64_t sc_demand_writer(const void *at)
{
    const uintptr_t name = name_of(at);
    const struct version *v = version_of(name);

    return is_of(v, name) ? LOAD(v->maker) : 0;
}

void sc_demand_read(const void *at, int want)
{
    const uintptr_t name = name_of(at);
    struct version *v = version_of(name);

    if (is_of(v, name) && want > LOAD(v->want))
        STORE(v->want, (int8_t)want);
}

static void keep(uintptr_t name, unsigned writer, int want)
{
    uint64_t key = habit_key(name, writer);
    struct habit *h = habit_of(key);

    STORE(h->want, (int8_t)want);
    STORE(h->key, key);
}

/* Enters the demand for a version at the end of the version. */
static void remember(const struct version *v, uintptr_t name)
{
    unsigned writer = LOAD(v->writer);
    int before = habit_want(habit_key(name, writer)), want = LOAD(v->want);

    keep(name, writer, before >= 0 ? want : want > 0 ? before + 1 : before);
}

void sc_demand_written(const void *at, enum sc_op op, uint64_t maker)
{
    const uintptr_t name = name_of(at);
    struct version *v = version_of(name);

    if (is_of(v, name))
        remember(v, name);
    STORE(v->at, name);
    STORE(v->maker, maker);
    STORE(v->writer, (uint16_t)((unsigned)op + 1));
    STORE(v->want, 0);
}

void sc_demand_host_wrote(const void *at)
{
    const uintptr_t name = name_of(at);
    struct version *v = version_of(name);

    if (!is_of(v, name))
        return;
    keep(name, LOAD(v->writer), CHANGED);
    STORE(v->writer, 0);
    STORE(v->maker, 0);
}

void sc_demand_reset(void)
{
    memset(versions, 0, sizeof versions);
    memset(habits, 0, sizeof habits);
}
/* SPDX-License-Identifier: BSD-2-Clause */
