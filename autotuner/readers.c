#include "autotuner/readers.h"

#include <string.h>

#define SLOTS 4096 /* one each, the newer key takes the slot of the older; 12 bits: slot_of */

/* What is there now: who wrote it, and whether devices have read it since. */
static struct version {
    uintptr_t at;
    uint64_t maker;
    uint16_t writer; /* op + 1; 0: not known */
    bool read;
} versions[SLOTS];

/* What a routine writes there: the fate of the last version that was written again. */
static struct habit {
    uint64_t key;
    bool read;
} habits[SLOTS];

#define LOAD(from) __atomic_load_n(&(from), __ATOMIC_RELAXED)
#define STORE(to, value) __atomic_store_n(&(to), value, __ATOMIC_RELAXED)

static uint64_t mixed(uint64_t key) { return key * UINT64_C(0x9e3779b97f4a7c15); }
static struct version *version_of(const void *at) { return &versions[mixed((uintptr_t)at) >> 52]; }
static uint64_t habit_key(const void *at, unsigned writer) { return mixed((uintptr_t)at) ^ writer; }
static struct habit *habit_of(uint64_t key) { return &habits[mixed(key) >> 52]; }

/* While this version is there it speaks for itself as soon as it has been read. */
bool sc_readers_on_devices(const void *at, enum sc_op op)
{
    const struct version *v = version_of(at);
    uint64_t key = habit_key(at, (unsigned)op + 1);
    const struct habit *h = habit_of(key);

    if (LOAD(v->at) == (uintptr_t)at && LOAD(v->writer) == (uint16_t)op + 1 && LOAD(v->read))
        return true;
    return LOAD(h->key) == key && LOAD(h->read);
}

uint64_t sc_readers_maker(const void *at)
{
    const struct version *v = version_of(at);

    return LOAD(v->at) == (uintptr_t)at ? LOAD(v->maker) : 0;
}

void sc_readers_read(const void *at, bool on_devices)
{
    struct version *v = version_of(at);

    if (on_devices && LOAD(v->at) == (uintptr_t)at)
        STORE(v->read, true);
}

/* The version before is over: that is what happens to what its writer writes. */
static void remember(const struct version *v)
{
    uint64_t key = habit_key((const void *)LOAD(v->at), LOAD(v->writer));
    struct habit *h = habit_of(key);

    STORE(h->read, LOAD(v->read));
    STORE(h->key, key);
}

void sc_readers_written(const void *at, enum sc_op op, uint64_t maker)
{
    struct version *v = version_of(at);

    if (LOAD(v->at) == (uintptr_t)at && LOAD(v->writer))
        remember(v);
    STORE(v->at, (uintptr_t)at);
    STORE(v->writer, (uint16_t)((unsigned)op + 1));
    STORE(v->maker, maker);
    STORE(v->read, false);
}

void sc_readers_reset(void)
{
    memset(versions, 0, sizeof versions);
    memset(habits, 0, sizeof habits);
}
