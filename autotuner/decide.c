/* The decision by accounts (rules A1 to A5): ski rental between the host and the devices. */
#include "autotuner/decide.h"
#include "autotuner/explain.h"
#include "autotuner/demand.h"
#include "autotuner/policy.h"

#include <string.h>

#include "base/log.h"

static double larger(double a, double b) { return a > b ? a : b; }
static double smaller(double a, double b) { return a < b ? a : b; }

/* LOSS_SECONDS: the loss on the devices that an array may have beyond the price of its sale. GAIN_SECONDS: the limit
 * of earlier gains, beside a few fetches, so that a new use of the array on the host is noticed. */
#define LOSS_SECONDS 100e-6
#define GAIN_SECONDS 10e-3
#define SALES_MOST 6 /* then a move must gain 64 times its cost */
/* Sales by the clock, where the model does not know the loss and will not expect the loss the next time. Each sale
 * multiplies the gain that a move needs by 4, up to 256. */
#define SALES_BY_CLOCK      2
#define SALES_BY_CLOCK_MOST 8

/* Accounts by key, one slot each; a newer key takes the slot of an older key. Atomics are relaxed, and racing updates
 * lose some seconds. */
#define ACCOUNTS 4096 /* 12 bits: slot_of */
struct slot {
    uint64_t key;
    struct sc_autotuner_account account;
};
static struct slot slots_[ACCOUNTS];

/* Keys come from addresses, which agree in their low bits. */
static struct slot *slot_of(uint64_t key)
{
    return &slots_[key * UINT64_C(0x9e3779b97f4a7c15) >> 52];
}

static struct sc_autotuner_account account_get(uint64_t key)
{
    struct sc_autotuner_account account = {0};
    const struct slot *s = slot_of(key);

    if (!key || __atomic_load_n(&s->key, __ATOMIC_RELAXED) != key)
        return account;
    __atomic_load(&s->account.loss, &account.loss, __ATOMIC_RELAXED);
    __atomic_load(&s->account.balance, &account.balance, __ATOMIC_RELAXED);
    __atomic_load(&s->account.measured, &account.measured, __ATOMIC_RELAXED);
    __atomic_load(&s->account.price, &account.price, __ATOMIC_RELAXED);
    account.sales = __atomic_load_n(&s->account.sales, __ATOMIC_RELAXED);
    account.owned = __atomic_load_n(&s->account.owned, __ATOMIC_RELAXED);
    return account;
}

static void account_put(uint64_t key, const struct sc_autotuner_account *account)
{
    struct slot *s = slot_of(key);

    if (!key)
        return;
    __atomic_store_n(&s->key, key, __ATOMIC_RELAXED);
    __atomic_store(&s->account.loss, &account->loss, __ATOMIC_RELAXED);
    __atomic_store(&s->account.balance, &account->balance, __ATOMIC_RELAXED);
    __atomic_store(&s->account.measured, &account->measured, __ATOMIC_RELAXED);
    __atomic_store(&s->account.price, &account->price, __ATOMIC_RELAXED);
    __atomic_store_n(&s->account.sales, account->sales, __ATOMIC_RELAXED);
    __atomic_store_n(&s->account.owned, account->owned, __ATOMIC_RELAXED);
}

/* --- the program as a whole --------------------------------------------------------------------------------------- */

/* The balance of the program as a whole. A wait for one array can be a wait for another array's kernels, and arrays
 * come and go: only the sum says whether the program is faster. The sum has the seconds that calls on devices have
 * gained by the clock, less the program's waits; old gains expire. Each time the sum shows a loss, every array must
 * earn its move twice as often. */
#define PROGRAM_SECONDS 20e-3
#define DISTRUST_MOST   8
static double program_; /* racing updates lose some seconds */
static int distrust_;

static void program_earns(double seconds)
{
    double sum;
    int distrust = __atomic_load_n(&distrust_, __ATOMIC_RELAXED);

    __atomic_load(&program_, &sum, __ATOMIC_RELAXED);
    sum += seconds;
    if (sum < -PROGRAM_SECONDS) {
        distrust += distrust < DISTRUST_MOST;
        sum = -PROGRAM_SECONDS / 2;
    } else if (sum > PROGRAM_SECONDS) {
        distrust -= distrust > 0;
        sum = PROGRAM_SECONDS / 2;
    }
    __atomic_store_n(&distrust_, distrust, __ATOMIC_RELAXED);
    __atomic_store(&program_, &sum, __ATOMIC_RELAXED);
}

void sc_autotuner_waited(double seconds)
{
    if (seconds > 0)
        program_earns(-seconds);
}

static void ask_program(struct sc_autotuner_prediction *p)
{
    double sum;

    __atomic_load(&program_, &sum, __ATOMIC_RELAXED);
    p->losing = sum < 0;
    p->distrust = __atomic_load_n(&distrust_, __ATOMIC_RELAXED);
}

void sc_decide_reset(void)
{
    memset(slots_, 0, sizeof slots_);
    program_ = 0;
    distrust_ = 0;
}

/* The prediction with the devices' seconds weighted by the metric. */
static struct sc_autotuner_prediction weighed(const struct sc_autotuner_prediction *prediction)
{
    struct sc_autotuner_prediction p = *prediction;

    if (p.weight > 0) {
        p.device *= p.weight;
        p.move *= p.weight;
        p.result *= p.weight;
        p.overlap *= p.weight;
        p.weight = 1;
    }
    return p;
}

/* Seconds of the call on the host, with the consequences. */
static double here(const struct sc_autotuner_prediction *p) { return p->host + p->back; }

/* Gain of the call on the devices against a host that has all operands; negative: a loss. */
static double gain_of(const struct sc_autotuner_prediction *p)
{
    return here(p) - p->fetch - (p->device + p->move - p->overlap);
}

/* Settles an account after the host had the chance to fetch. Old gains pay for a few fetches only. */
static void settle(const struct sc_autotuner_prediction *p, struct sc_autotuner_account *account)
{
    double most = GAIN_SECONDS + 4 * (p->result + p->fetch + p->move);

    account->balance -= p->fetched;
    account->measured = smaller(account->measured - p->waited, most);
    if (account->balance > most) {
        account->balance = most / 2;
        account->sales -= account->sales > 0 && account->measured >= 0;
    }
}

/* Price of a move: by the model, or by the clock where the last move took longer. */
static double cost_of_moving(const struct sc_autotuner_prediction *p, const struct sc_autotuner_account *account)
{
    return account->sales ? larger(p->move, account->price) : p->move;
}

static void give_back(struct sc_autotuner_account *account, int sales, int most)
{
    account->balance = account->measured = 0;
    account->owned = false;
    if (account->sales < most)
        account->sales = account->sales + sales < most ? account->sales + sales : most;
}

/* Decides on a sale: an array that the host fetched or wrote repeatedly goes home once the loss has reached the price
 * of a fetch and a new upload. No sale happens in a call that gains more than the fetches cost. Only an array that
 * moved by its own account is sold. */
static bool sell(const struct sc_autotuner_prediction *p, struct sc_autotuner_account *account)
{
    if (!account->owned)
        return false;
    settle(p, account);
    if (p->losing && account->measured < -(larger(p->move, account->price) + p->fetch + LOSS_SECONDS)) {
        give_back(account, SALES_BY_CLOCK, SALES_BY_CLOCK_MOST);
        return true;
    }
    if (account->balance >= -(p->fetch + p->result + LOSS_SECONDS))
        return false;
    if (gain_of(p) > p->fetched)
        return false;
    give_back(account, 1, SALES_MOST);
    return true;
}

/* The part of the price of a move that the host's losses have paid.  The first move of chosen memory costs nothing: a
 * program takes managed memory, or memory of semcache_malloc, for devices. */
static double paid_before(const struct sc_autotuner_prediction *p, const struct sc_autotuner_account *account)
{
    return account->loss + (p->chosen && !account->owned && !account->sales ? p->move : 0);
}

/* Whether nothing moves to the devices, and the host lacks some operands: another call has made them there. */
static bool is_there(const struct sc_autotuner_prediction *p) { return p->move <= 0 && p->fetch > 0; }

int sc_autotuner_rent(const struct sc_autotuner_prediction *prediction, struct sc_autotuner_account *account)
{
    const struct sc_autotuner_prediction metric = weighed(prediction), *p = &metric;
    bool sold = sell(p, account), owned = account->owned;
    int sales = account->sales > p->distrust ? account->sales : p->distrust;
    double price = cost_of_moving(p, account) * (owned ? 1 : 1 << sales), paid = paid_before(p, account), credit = paid;
    double now = p->device - p->overlap + (owned ? p->move : sales ? price + p->result
                                                                            : p->move + (p->kept ? 0 : p->result));

    if (owned) /* Gains on the devices count; leaving would cost a fetch and a new upload. */
        credit += larger(account->balance, 0) + (p->kept ? p->fetch + p->result : 0);
    if (!sold && (now <= here(p) || (p->device < here(p) - p->fetch && credit >= price))) {
        /* The loss on the host has paid for the move in part. */
        account->balance += gain_of(p) > 0 ? gain_of(p) : gain_of(p) + smaller(paid, -gain_of(p));
        account->owned = true;
        account->loss = 0;
        return 1;
    }
    /* Without a claim to the array: the host fetches the operands in this call or in the next one. */
    if (!sold && is_there(p) && p->device - p->overlap + p->fetch + p->result <= here(p))
        return 1;
    if (owned) {
        account->balance -= p->fetch;
        account->measured -= p->fetch;
    }
    if (here(p) - p->fetch > p->device)
        account->loss += here(p) - p->fetch - p->device;
    return 0;
}

/* The model leaves out the host's cost of a move beside the transfers: pages of a matrix are closed and opened under
 * the threads of the host's BLAS. */
#define ONCE_MARGIN 4

int sc_autotuner_rent_once(const struct sc_autotuner_prediction *prediction)
{
    const struct sc_autotuner_prediction p = weighed(prediction);

    return ONCE_MARGIN * (p.device - p.overlap + (p.move + p.result) * (1 << p.distrust)) < p.host;
}

enum sc_trace_reason sc_autotuner_reason(const struct sc_autotuner_prediction *prediction,
                                         const struct sc_autotuner_account *before,
                                         const struct sc_autotuner_account *after, bool devices)
{
    const struct sc_autotuner_prediction p = weighed(prediction);

    if (devices && sc_autotuner_now(&p) > here(&p) && before->loss > 0)
        return SC_REASON_RENTED;
    if (devices && sc_autotuner_now(&p) > here(&p) && p.chosen && !before->owned)
        return SC_REASON_CHOSEN;
    if (devices)
        return p.back > 0 && p.device > p.host ? SC_REASON_BACK : SC_REASON_FASTER;
    if (before->sales < after->sales)
        return SC_REASON_SOLD;
    return p.device >= here(&p) ? SC_REASON_SLOWER : SC_REASON_MOVE;
}

bool sc_decide(const struct sc_autotuner_call *call, struct sc_autotuner_prediction *p)
{
    struct sc_autotuner_account account, before;
    uint64_t key = sc_autotuner_keyed(call->key, call->metric);
    bool answer;

    ask_program(p);
    p->chosen = call->chosen;
    account = call->account ? *call->account : account_get(key);
    before = account;
    answer = call->stays || (call->once ? sc_autotuner_rent_once(p) : sc_autotuner_rent(p, &account));
    if (call->account)
        *call->account = account;
    else if (!call->once)
        account_put(key, &account);
    if (before.owned && !account.owned)
        sc_log(SC_LOG_DEBUG, "%s: an array leaves the devices: %.3g ms by the clock (its move %.3g), %.3g by the model",
               sc_op_name(call->op), 1e3 * (before.measured - p->waited), 1e3 * before.price,
               1e3 * (before.balance - p->fetched));
    p->once = call->once;
    p->owned = before.owned || is_there(p);
    p->sold = before.owned && !account.owned;
    if (__builtin_expect(sc_explain_on || sc_trace_on, 0))
        sc_explain_decision(call, p, before.loss, sc_autotuner_reason(p, &before, &account, answer), answer);
    return answer;
}

bool sc_decide_stays(uint64_t key, bool once, struct sc_autotuner_prediction *p)
{
    struct sc_autotuner_account account = account_get(key);

    ask_program(p);
    if (account.owned || (once ? sc_autotuner_rent_once(p) : sc_autotuner_rent(p, &account)))
        return false;
    if (!once)
        account_put(key, &account);
    return true;
}

void sc_autotuner_paid(struct sc_autotuner_account *account, const struct sc_autotuner_prediction *p, double seconds)
{
    if (p->owned) {
        account->measured += p->alone - seconds;
    } else {
        account->measured = p->alone;
        account->price = seconds;
    }
}

void sc_autotuner_took(uint64_t array, const struct sc_autotuner_prediction *p, double seconds)
{
    uint64_t key = sc_autotuner_keyed(array, p->metric);
    struct sc_autotuner_account account = account_get(key);

    program_earns(p->owned || p->once ? p->alone - seconds : p->alone);
    if (p->once || !account.owned) /* another array has taken the slot */
        return;
    sc_autotuner_paid(&account, p, seconds);
    account_put(key, &account);
}

int sc_autotuner_wants(const struct sc_autotuner_prediction *p, int results)
{
    return p->alone > p->device ? SC_READERS_MOST : results > 0 ? results - 1 : 0;
}

int64_t sc_autotuner_small(int level)
{
    /* Level 1: less than one to four pages, where a fault costs as much as the work. Levels 2 and 3: a few microseconds
     * on one processor. The limits are below the sizes from which OpenBLAS uses threads. The operands of a small call
     * are not acquired before the host routine runs, and a fault inside OpenBLAS's thread pool would wait for emulated
     * devices, which need the pool.  LAPACK: orders below 128. */
    static const int64_t small[5] = {0, 2048, 8192, 131072, 16384};

    return level >= 1 && level <= 4 ? small[level] : 0;
}

int64_t sc_autotuner_short(int level, enum sc_metric metric)
{
    /* One processor needs at most 3 us for them, from its second-level cache.  The start of a kernel and the wait for
     * its end take a GPU 4 us and more, with all data there. */
    static const int64_t most[3] = {0, 64 << 10, 256 << 10};

    return metric == SC_METRIC_PERF && level >= 1 && level <= 2 ? most[level] : 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
