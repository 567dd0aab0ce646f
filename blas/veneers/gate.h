/* The first instructions of a veneer, all that a small call of a program costs: its sizes, compared with
 * sc_blas_small, its count, and a jump to the host's routine.  What a compiler makes of the same in C saves and
 * restores registers and copies arguments on the stack onto themselves: three times as many instructions for a matrix
 * product, and a LAPACK makes hundreds of such calls for a matrix of order 50.
 *
 * Only %rax, %r10 and %r11 are changed, which hold no argument and need not be saved: whatever a caller passed (the
 * lengths of strings too) is where it was when the host's routine begins, or large_NAME, which takes all other
 * calls. */
#ifndef SC_BLAS_GATE_H
#define SC_BLAS_GATE_H

#include "trace/trace.h"

#define SC_GATE_TEXT(text) #text
#define SC_GATE_NUMBER(number) SC_GATE_TEXT(number)

#if defined __CET__ && __CET__ & 1
#define SC_GATE_ENTRY "    endbr64\n" /* may be called by its address */
#else
#define SC_GATE_ENTRY ""
#endif

/* Defines gate_NAME for this file. */
#define SC_GATE(name, instructions)                                                                                   \
    __asm__(".text\n"                                                                                                 \
            ".type gate_" #name ", @function\n"                                                                       \
            ".p2align 4\n"                                                                                            \
            "gate_" #name ":\n"                                                                                       \
            "    .cfi_startproc\n"                                                                                    \
            SC_GATE_ENTRY instructions                                                                                \
            "    .cfi_endproc\n"                                                                                      \
            ".size gate_" #name ", .-gate_" #name "\n")

/* A Fortran integer of 32 bits, whose address the register holds, into %r10. */
#define SC_GATE_SIZE(n) "    movslq (" n "), %r10\n"

/* The product of two Fortran integers of 32 bits, whose addresses these registers hold, into %r10. */
#define SC_GATE_PRODUCT(m, n)                                                                                         \
    "    movslq (" m "), %r10\n"                                                                                      \
    "    movslq (" n "), %r11\n"                                                                                      \
    "    imulq %r11, %r10\n"

/* To large_NAME unless %r10, the work of the call, is below the threshold of the level. */
#define SC_GATE_SMALL(name, level)                                                                                    \
    "    cmpq sc_blas_small+8*" #level "(%rip), %r10\n"                                                               \
    "    jge large_" #name "\n"

/* Counts the call in sc_blas_counts[id], once this thread has counts, and goes to sc_blas_host[kind][id]. */
#define SC_GATE_HOST(name, kind, id)                                                                                  \
    "    movq sc_blas_counts@gottpoff(%rip), %rax\n"                                                                  \
    "    movq %fs:(%rax), %rax\n"                                                                                     \
    "    testq %rax, %rax\n"                                                                                          \
    "    je large_" #name "\n"                                                                                        \
    "    incq 8*" #id "(%rax)\n"                                                                                      \
    SC_GATE_JUMP(sc_blas_host + 8 * (kind * SC_TRACE_ROUTINES_MAX + id))

/* To the function whose address is at a place of this library. */
#define SC_GATE_JUMP(place) "    jmp *" SC_GATE_NUMBER(place) "(%rip)\n"

/* Another name of a function of this file, for programs. */
#define SC_GATE_NAME(name, of) __asm__(".globl " #name "\n.set " #name ", " #of "\n")

#endif
