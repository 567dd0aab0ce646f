/* The decision (rules A1 to A5): predict, rent or buy, and how many devices. */
#include "autotuner/autotuner.h"
#include "autotuner/explain.h"

#include <string.h>

/* Bytes of a matrix that are worth a device of their own: below, one kernel is over before the other devices have been
 * told, and a second link does not help a transfer of half a millisecond. */
#define BYTES_PER_DEVICE (UINT64_C(32) << 20)

/* Losses by key: one slot each, the newer key takes the slot of the older.  Racing updates lose some regret, nothing
 * else: relaxed atomics. */
#define REGRETS 4096 /* 12 bits: slot_of */
struct regret {
    uint64_t key;
    double loss;
};
static struct regret regret_[REGRETS];

/* Keys come from addresses, which agree in their low bits. */
static struct regret *slot_of(uint64_t key)
{
    return &regret_[key * UINT64_C(0x9e3779b97f4a7c15) >> 52];
}

static double regret_get(uint64_t key)
{
    struct regret *r = slot_of(key);
    double loss;

    if (__atomic_load_n(&r->key, __ATOMIC_RELAXED) != key)
        return 0;
    __atomic_load(&r->loss, &loss, __ATOMIC_RELAXED);
    return loss;
}

static void regret_put(uint64_t key, double loss)
{
    struct regret *r = slot_of(key);

    __atomic_store_n(&r->key, key, __ATOMIC_RELAXED);
    __atomic_store(&r->loss, &loss, __ATOMIC_RELAXED);
}

/* Opening a driver is rented too: a program whose large calls take less than that in all never pays for it. */
#define OPEN_SECONDS 0.25
static double spent_; /* by the host, in calls that were large; racing updates lose some */

bool sc_autotuner_opens(double host_seconds)
{
    double spent;

    if (sc_config.offload == SC_OFFLOAD_ALWAYS || sc_config.open == SC_OPEN_FIRST ||
        (sc_config.device && strncmp(sc_config.device, "emu", 3) == 0)) /* which open in no time */
        return true;
    __atomic_load(&spent_, &spent, __ATOMIC_RELAXED);
    spent += host_seconds;
    __atomic_store(&spent_, &spent, __ATOMIC_RELAXED);
    return spent >= OPEN_SECONDS;
}

void sc_autotuner_reset(void)
{
    memset(regret_, 0, sizeof regret_);
    spent_ = 0;
}

int sc_autotuner_rent(const struct sc_autotuner_prediction *p, double *loss)
{
    if (sc_autotuner_now(p) <= p->host || (p->device < p->host && *loss >= p->move + p->result)) {
        *loss = 0; /* bought */
        return 1;
    }
    if (p->host > p->device)
        *loss += p->host - p->device;
    return 0;
}

int sc_autotuner_offload(const struct sc_autotuner_call *call, enum sc_offload mode)
{
    struct sc_autotuner_prediction prediction;
    double loss, before;
    int answer;

    if (mode == SC_OFFLOAD_NEVER || call->machine.devices < 1)
        return 0;
    if (mode == SC_OFFLOAD_ALWAYS)
        return 1;
    sc_autotuner_predict(call, &prediction);
    loss = before = call->key ? regret_get(call->key) : 0;
    answer = sc_autotuner_rent(&prediction, &loss);
    if (call->key)
        regret_put(call->key, loss);
    if (__builtin_expect(sc_explain_on, 0))
        sc_explain_decision(call, &prediction, before, answer);
    return answer;
}

int sc_autotuner_spread(uint64_t bytes, int devices, enum sc_offload mode)
{
    uint64_t worth = bytes / BYTES_PER_DEVICE;

    if (devices < 1)
        return 1;
    if (mode == SC_OFFLOAD_ALWAYS || worth >= (uint64_t)devices)
        return devices;
    return worth < 1 ? 1 : (int)worth;
}

int64_t sc_autotuner_small(int level)
{
    /* Level 1: less than a page or four, where a fault costs as much as the work.  Levels 2 and 3: a few microseconds
     * on a core.  Not above the sizes from which OpenBLAS uses threads: the operands of small calls are not acquired
     * before the host routine runs, and one that faults while it holds OpenBLAS's thread pool would wait for emulated
     * devices, which need the pool too. */
    static const int64_t small[4] = {0, 2048, 8192, 131072};

    return level >= 1 && level <= 3 ? small[level] : 0;
}
