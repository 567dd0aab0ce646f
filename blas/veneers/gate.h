/* The gate: the first instructions of a veneer, and the whole cost of a small call.  The gate compares the product
 * of sizes with sc_blas_small, counts the call and jumps to the host's routine.  A compiler's code for the same C
 * saves and restores registers, and copies arguments on the stack onto themselves.  For a matrix product that is
 * three times as many instructions, and a LAPACK makes hundreds of small calls for a matrix of order 50.
 *
 * The gate changes only %rax, %r10 and %r11, which hold no argument and need not be saved.  All arguments, lengths
 * of strings included, are in place when the host's routine begins, or large_NAME, which serves the remaining calls. */
#ifndef SC_BLAS_GATE_H
#define SC_BLAS_GATE_H

#include "trace/trace.h"

#define SC_GATE_TEXT(text) #text
#define SC_GATE_NUMBER(number) SC_GATE_TEXT(number)

#if defined __CET__ && __CET__ & 1
#define SC_GATE_ENTRY "    endbr64\n" /* the gate may be called by its address */
#else
#define SC_GATE_ENTRY ""
#endif

/* Defines gate_NAME, local to the file. */
#define SC_GATE(name, instructions)                                                                                   \
    __asm__(".text\n"                                                                                                 \
            ".type gate_" #name ", @function\n"                                                                       \
            ".p2align 4\n"                                                                                            \
            "gate_" #name ":\n"                                                                                       \
            "    .cfi_startproc\n"                                                                                    \
            SC_GATE_ENTRY instructions                                                                                \
            "    .cfi_endproc\n"                                                                                      \
            ".size gate_" #name ", .-gate_" #name "\n")

/* Loads the 32-bit Fortran integer at the address in the register n into %r10. */
#define SC_GATE_SIZE(n) "    movslq (" n "), %r10\n"

/* Loads the product of the 32-bit Fortran integers at the addresses in the registers m and n into %r10. */
#define SC_GATE_PRODUCT(m, n)                                                                                         \
    "    movslq (" m "), %r10\n"                                                                                      \
    "    movslq (" n "), %r11\n"                                                                                      \
    "    imulq %r11, %r10\n"

/* The same for 64-bit integers. */
#define SC_GATE_PRODUCT64(m, n)                                                                                       \
    "    movq (" m "), %r10\n"                                                                                        \
    "    imulq (" n "), %r10\n"

/* Jumps to large_NAME unless the work of the call, in %r10, is below the threshold of the level. */
#define SC_GATE_SMALL(name, level)                                                                                    \
    "    cmpq sc_blas_small+8*" #level "(%rip), %r10\n"                                                               \
    "    jge large_" #name "\n"

/* Counts the call in sc_blas_counts[id] and jumps to sc_blas_host[kind][id].  Jumps to large_NAME while the thread
 * has no counts. */
#define SC_GATE_HOST(name, kind, id)                                                                                  \
    "    movq sc_blas_counts@gottpoff(%rip), %rax\n"                                                                  \
    "    movq %fs:(%rax), %rax\n"                                                                                     \
    "    testq %rax, %rax\n"                                                                                          \
    "    je large_" #name "\n"                                                                                        \
    "    incq 8*" #id "(%rax)\n"                                                                                      \
    SC_GATE_JUMP(sc_blas_host + 8 * (kind * SC_TRACE_ROUTINES_MAX + id))

/* Jumps to the function whose address is stored at `place` in this library. */
#define SC_GATE_JUMP(place) "    jmp *" SC_GATE_NUMBER(place) "(%rip)\n"

/* Exports a function of this file under a further name. */
#define SC_GATE_NAME(name, of) __asm__(".globl " #name "\n.set " #name ", " #of "\n")

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
