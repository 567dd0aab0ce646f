/* Numbers chains of calls, and writes each chain once. The pager unwinds nothing: the stack of a waiting thread is
 * copied, and the reader of the trace unwinds the copy (tools/frames.c), because code without frame pointers needs the
 * debug information of every frame. */
#include <config.h>

#include "trace/chain.h"

#include <string.h>
#include <sys/uio.h>
#include <ucontext.h>

#include "trace/store.h"

#define CHAINS 8192      /* slots of the table; half of the slots are used */
#define STACKS 1024      /* most chains with a copy of the stack: 16 MiB */
#define STACK_BYTES 16384
#define PAGE 4096

/* Protected by the file lock. Slots: key of a chain; the number is the order of the first occurrence. */
static struct {
    uint64_t key;
    uint32_t number;
} chains[CHAINS];
static uint32_t chain_count, stack_count;

/* Head, words, registers, stack; used with the file lock held. */
static struct {
    struct sc_trace_chain_head head;
    char payload[8 * (SC_CHAIN_FRAMES + SC_CHAIN_PYTHON + SC_TRACE_REGISTERS) + STACK_BYTES];
} record;

bool sc_chain_peek(uint64_t address, void *to, size_t bytes)
{
    struct iovec here = {to, bytes}, there = {(void *)(uintptr_t)address, bytes};

    return process_vm_readv(sc_trace_process(), &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

void sc_chain_peek_words(const uint64_t *addresses, uint64_t *to, int count)
{
    struct iovec here = {to, (size_t)count * sizeof *to}, there[SC_CHAIN_PYTHON];
    ssize_t n;

    for (int i = 0; i < count; i++)
        there[i] = (struct iovec){(void *)(uintptr_t)addresses[i], sizeof *to};
    n = count ? process_vm_readv(sc_trace_process(), &here, 1, there, (unsigned long)count, 0) : 0;
    for (int i = n > 0 ? (int)((size_t)n / sizeof *to) : 0; i < count; i++)
        to[i] = 0;
}

void sc_chain_forget(void)
{
    memset(chains, 0, sizeof chains);
    chain_count = stack_count = 0;
    sc_python_forget();
}

static uint64_t mixed(uint64_t key, uint64_t word)
{
    key = (key ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return key ^ key >> 29;
}

static uint64_t key_of(uint64_t key, const struct sc_chain *chain)
{
    for (int i = 0; i < chain->count; i++)
        key = mixed(key, chain->frame[i]);
    return key ? key : 1;
}

/* The number of a chain; *fresh: the chain has to be written. 0: the table is full. */
static uint32_t number_of(uint64_t key, bool *fresh)
{
    uint32_t slot = (uint32_t)(key >> 32) % CHAINS;

    while (chains[slot].key && chains[slot].key != key)
        slot = (slot + 1) % CHAINS;
    *fresh = !chains[slot].key;
    if (!*fresh)
        return chains[slot].number;
    if (chain_count == CHAINS / 2)
        return 0;
    chains[slot].key = key;
    return chains[slot].number = ++chain_count;
}

static size_t begin_record(uint32_t number, const struct sc_chain *chain)
{
    size_t bytes = (size_t)chain->count * sizeof *chain->frame;

    for (int i = 0; i < chain->count; i++)
        sc_python_record(chain->frame[i]);
    record.head = (struct sc_trace_chain_head){.chain = number, .frames = (uint32_t)chain->count};
    memcpy(record.payload, chain->frame, bytes);
    return bytes;
}

uint32_t sc_chain_number(const struct sc_chain *chain)
{
    uint32_t number = 0;
    bool fresh;

    if (!sc_trace_lock_file())
        return 0;
    number = number_of(key_of(0, chain), &fresh);
    if (number && fresh)
        sc_trace_store_record(SC_RECORD_CHAIN, &record.head, sizeof record.head, record.payload,
                              begin_record(number, chain));
    sc_trace_unlock();
    return number;
}

/* --- stacks of waiting threads ------------------------------------------------------------------------------------ */

/* Copies the stack page by page, because the stack may end anywhere. Returns the number of bytes. */
static size_t copy_stack(uint64_t sp, char *to)
{
    size_t used = 0, part;

    while (used < STACK_BYTES) {
        part = PAGE - (sp + used) % PAGE;
        part = part < STACK_BYTES - used ? part : STACK_BYTES - used;
        if (!sc_chain_peek(sp + used, to + used, part))
            break;
        used += part;
    }
    return used;
}

/* Words that point into code are mostly return addresses: they tell stacks apart, and values of data do not. */
static uint64_t key_of_stack(uint64_t ip, const char *stack, size_t bytes)
{
    uint64_t key = mixed(2, ip), word;

    for (size_t i = 0; i + sizeof word <= bytes; i += sizeof word) {
        memcpy(&word, stack + i, sizeof word);
        if (sc_trace_store_knows(word))
            key = mixed(key, word);
    }
    return key;
}

static void get_registers(const ucontext_t *context, uint64_t *registers)
{
    static const int order[SC_TRACE_REGISTERS] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                                  REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                                  REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};

    for (int i = 0; i < SC_TRACE_REGISTERS; i++)
        registers[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
}

uint32_t sc_chain_number_of_stack(const void *context, const struct sc_chain *python)
{
    static char stack[STACK_BYTES];
    uint64_t registers[SC_TRACE_REGISTERS];
    size_t bytes, used;
    uint32_t number = 0;
    bool fresh;

    get_registers(context, registers);
    bytes = copy_stack(registers[7], stack);
    if (!sc_trace_lock_file())
        return 0;
    if (stack_count < STACKS)
        number = number_of(key_of(key_of_stack(registers[16], stack, bytes), python), &fresh);
    if (number && fresh) {
        stack_count++;
        used = begin_record(number, python);
        record.head.registers = SC_TRACE_REGISTERS;
        memcpy(record.payload + used, registers, sizeof registers);
        memcpy(record.payload + used + sizeof registers, stack, bytes);
        sc_trace_store_record(SC_RECORD_CHAIN, &record.head, sizeof record.head, record.payload,
                              used + sizeof registers + bytes);
    }
    sc_trace_unlock();
    return number;
}
/* SPDX-License-Identifier: BSD-2-Clause */
