/* User contexts.  setcontext and swapcontext set the signal mask of a context, and makecontext is given a stack.
 *
 * A context saved by swapcontext may be resumed more than once, each time in the frame of swapcontext's caller.  A
 * frame of the library in between would be gone at the second resumption.  The functions below therefore do their
 * work first and then jump to libc's function. */
#include "config.h"

#include <ucontext.h>

#include "host/fault_int.h"
#include "host/host_int.h"
#include "host/next.h"
#include "host/stacks.h"

static void *next_setcontext, *next_swapcontext, *next_makecontext;

static void __attribute__((constructor)) find_next(void)
{
    sc_host_next(&next_setcontext, "setcontext");
    sc_host_next(&next_swapcontext, "swapcontext");
    sc_host_next(&next_makecontext, "makecontext");
}

/* Each `before_` function returns the address of libc's function. */
static void *__attribute__((used)) before_setcontext(ucontext_t *to)
{
    sc_host_mask_open(&to->uc_sigmask);
    return sc_host_next(&next_setcontext, "setcontext");
}

static void *__attribute__((used)) before_swapcontext(const ucontext_t *from, ucontext_t *to)
{
    (void)from;
    sc_host_mask_open(&to->uc_sigmask);
    return sc_host_next(&next_swapcontext, "swapcontext");
}

static void *__attribute__((used)) before_makecontext(const ucontext_t *made)
{
    sc_host_stack_at((uintptr_t)made->uc_stack.ss_sp, made->uc_stack.ss_size);
    return sc_host_next(&next_makecontext, "makecontext");
}

#if defined __CET__ && __CET__ & 1
#define ENTRY "    endbr64\n"
#else
#define ENTRY ""
#endif
#define PUSH(reg) "    pushq %" reg "\n    .cfi_adjust_cfa_offset 8\n"
#define POP(reg)  "    popq %" reg "\n    .cfi_adjust_cfa_offset -8\n"

/* Saves the registers that may hold an argument, with %rax (the number of arguments in vector registers), calls
 * `before`, and jumps to libc's function. */
#define AFTER(name, before)                                                                                           \
    __asm__(".text\n.globl " #name "\n.type " #name ", @function\n.p2align 4\n"                                     \
            #name ":\n    .cfi_startproc\n" ENTRY                                                                     \
            PUSH("rax") PUSH("rdi") PUSH("rsi") PUSH("rdx") PUSH("rcx") PUSH("r8") PUSH("r9")                         \
            "    call " #before "\n    movq %rax, %r11\n"                                                             \
            POP("r9") POP("r8") POP("rcx") POP("rdx") POP("rsi") POP("rdi") POP("rax")                                \
            "    jmp *%r11\n    .cfi_endproc\n.size " #name ", .-" #name "\n")

AFTER(setcontext, before_setcontext);
AFTER(swapcontext, before_swapcontext);
AFTER(makecontext, before_makecontext);
/* SPDX-License-Identifier: BSD-2-Clause */
