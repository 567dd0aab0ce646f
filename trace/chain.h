/* Chains of calls in the trace file. Equal chains are written once and have one number; 0: no chain. */
#ifndef SC_TRACE_CHAIN_H
#define SC_TRACE_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SC_CHAIN_FRAMES 24 /* most native frames of a chain */
#define SC_CHAIN_PYTHON 16 /* most Python frames of a chain */

/* Return addresses, innermost first, as in struct sc_trace_chain_head. */
struct sc_chain {
    int count;
    uint64_t frame[SC_CHAIN_FRAMES + SC_CHAIN_PYTHON];
};

/* The number of a chain in the trace file. Takes the file lock. */
uint32_t sc_chain_number(const struct sc_chain *chain);
/* The same for a thread that waits in a fault, from its registers (ucontext_t) and a copy of its stack; `python`: its
 * Python frames. On the pager thread only. */
uint32_t sc_chain_number_of_stack(const void *context, const struct sc_chain *python);

/* With the file lock held: the next file knows no chain yet. */
void sc_chain_forget(void);

/* python.c. Adds the innermost Python frames, at most `most` (up to SC_CHAIN_PYTHON), of the thread with this pointer
 * (pthread_self). The thread itself calls, or the thread sleeps meanwhile. Reads the interpreter's memory by a system
 * call that fails on closed pages. */
void sc_python_add_frames(uintptr_t thread, struct sc_chain *chain, int most);
void sc_python_prepare(void); /* looks for an interpreter in the process; first, and from a harmless place */
/* With the file lock held: writes the record of a Python frame, once per file. */
void sc_python_record(uint64_t frame);
void sc_python_forget(void);

/* Reads memory of this process; false where no page is readable. */
bool sc_chain_peek(uint64_t address, void *to, size_t bytes);
/* Reads up to SC_CHAIN_PYTHON words by one system call. 0 for the first word that is not readable and those behind. */
void sc_chain_peek_words(const uint64_t *addresses, uint64_t *to, int count);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
