/* Tokens: private copies of regions between two calls (include/semcache/tasks.h). */
#include "tasks/tasks_int.h"

#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/quiet.h"

/* A token's number is its serial number times TOKENS, plus its slot.  A slot belongs to the thread that changes the
 * number in ids: from 0 to BUSY in acquire, from the token's number to BUSY in release. */
#define TOKENS 1024
#define BUSY   UINT64_MAX

static uint64_t ids[TOKENS], serial;

static struct slot {
    struct sc_hold *hold;
    uint64_t sum[SEMCACHE_OPERANDS_MAX]; /* SEMCACHE_CHECK=1 on an emulated device */
    bool checked;
} slots[TOKENS];

static bool take_slot(size_t i, uint64_t from)
{
    return __atomic_compare_exchange_n(&ids[i], &from, BUSY, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static void set_slot(size_t i, uint64_t id) { __atomic_store_n(&ids[i], id, __ATOMIC_RELEASE); }

static struct slot *free_slot(void)
{
    for (size_t i = 0; i < TOKENS; i++)
        if (__atomic_load_n(&ids[i], __ATOMIC_RELAXED) == 0 && take_slot(i, 0))
            return &slots[i];
    return NULL;
}

/* --- acquire ------------------------------------------------------------------------------------------------------ */

static enum sc_status take_on_device(struct sc_hold *hold, const struct semcache_operand *operands, int count,
                                     int device, void **stream)
{
    enum sc_status status;

    device = sc_tasks_device(operands, count, device);
    status = sc_hold_take(hold, operands, count, device);
    if (status != SC_OK)
        return status;
    status = sc_copy_reach(device, stream);
    if (status != SC_OK)
        sc_hold_give(hold, false);
    return status;
}

static void begin_check(struct slot *slot)
{
    const struct sc_hold *hold = slot->hold;

    slot->checked = sc_config.check && hold->device != SEMCACHE_HOST &&
                    sc_coherence_device_properties(hold->device)->emulated;
    for (int i = 0; i < hold->count && slot->checked; i++)
        slot->sum[i] = sc_view_sum(&hold->view[i], hold->view[i].mode == SEMCACHE_WRITE);
}

static enum sc_status acquire(const struct semcache_operand *operands, int count, int device,
                              struct semcache_token *token)
{
    struct slot *slot = free_slot();
    enum sc_status status = SC_ERR_UNSUPPORTED;
    void *stream = NULL;
    size_t at;

    if (!slot)
        return SC_ERR_MEMORY;
    at = (size_t)(slot - slots);
    slot->hold = malloc(sizeof *slot->hold);
    if (slot->hold && !sc_config.emu_timing && sc_tasks_on_devices(device, true, true))
        status = take_on_device(slot->hold, operands, count, device, &stream);
    if (slot->hold && status != SC_OK)
        status = sc_hold_take(slot->hold, operands, count, SEMCACHE_HOST);
    if (status != SC_OK) {
        free(slot->hold);
        set_slot(at, 0);
        return SC_ERR_MEMORY;
    }
    begin_check(slot);
    token->place = (struct semcache_place){sizeof token->place, slot->hold->device, stream};
    token->count = count;
    memcpy(token->views, slot->hold->view, sizeof token->views);
    token->id = (__atomic_add_fetch(&serial, 1, __ATOMIC_RELAXED)) * TOKENS + at;
    set_slot(at, token->id);
    return SC_OK;
}

/* Quiet: a handler that jumps out, or a cancellation, finds a token that the program has, or no token. */
enum sc_status sc_token_acquire(const struct semcache_operand *operands, int count, int device,
                                struct semcache_token *token)
{
    enum sc_status status;

    sc_quiet_enter();
    status = acquire(operands, count, device, token);
    sc_quiet_leave();
    return status;
}

/* --- release ------------------------------------------------------------------------------------------------------ */

static bool is_freed(const struct sc_hold *hold)
{
    for (int i = 0; i < hold->count; i++)
        if (hold->operand[i].mode & SEMCACHE_WRITE && sc_region_is_freed(&hold->region[i]))
            return true;
    return false;
}

static enum sc_status release(struct semcache_token *token, bool write, const char **why)
{
    size_t at = token->id % TOKENS;
    struct slot *slot = &slots[at];
    enum sc_status status;
    bool freed;

    *why = "the token is not held: it has been released, or was never acquired";
    if (!token->id || token->id == BUSY || !take_slot(at, token->id))
        return SC_ERR_INVALID;
    for (int i = 0; i < slot->hold->count && slot->checked && sc_coherence_devices(); i++)
        if (slot->hold->view[i].mode == SEMCACHE_READ && sc_view_sum(&slot->hold->view[i], false) != slot->sum[i])
            sc_view_report_write("semcache_token_release: the holder of a token", i);
    freed = write && is_freed(slot->hold);
    *why = "a region of the token has been freed";
    status = sc_hold_give(slot->hold, write && !freed);
    free(slot->hold);
    token->id = 0;
    set_slot(at, 0);
    return freed ? SC_ERR_INVALID : status == SC_OK ? SC_OK : SC_ERR_DEVICE;
}

enum sc_status sc_token_release(struct semcache_token *token, bool write, const char **why)
{
    enum sc_status status;

    sc_quiet_enter();
    status = release(token, write, why);
    sc_quiet_leave();
    return status;
}

int sc_tokens_held(void)
{
    int held = 0;

    for (int i = 0; i < TOKENS; i++)
        held += __atomic_load_n(&ids[i], __ATOMIC_RELAXED) != 0;
    return held;
}
/* SPDX-License-Identifier: BSD-2-Clause */
