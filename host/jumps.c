/* A signal handler that jumps out of a call of libc ends the call's use of memory (rule M8).  The jump's target
 * stack pointer stands in the jump buffer, in the format of C libraries for x86-64; the format is tested when the
 * library is loaded.  With an unknown format such a use ends as host/syscall_ranges.h says. */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE
#include <setjmp.h>

#include "host/next.h"
#include "host/syscall_ranges.h"

#define STACK 6 /* index of the stack pointer in __jmpbuf */

static bool understood;

static uintptr_t stack_of(const struct __jmp_buf_tag *to)
{
    uintptr_t stack = (uintptr_t)to->__jmpbuf[STACK];

    __asm__("ror $17, %0\n\txor %%fs:0x30, %0" : "+r"(stack));
    return stack;
}

static void __attribute__((constructor)) look(void)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    jmp_buf buffer;

    if (!setjmp(buffer))
        understood = here - stack_of(buffer) < 4096;
}

static void leave(const struct __jmp_buf_tag *to)
{
    if (understood)
        sc_host_uses_jump(stack_of(to));
}

#define JUMP(name)                                                                                         \
    static void *next_##name;                                                                              \
    SC_HOST_EXPORT void sc_jump_##name(struct __jmp_buf_tag *to, int value) __asm__(#name);                \
    void sc_jump_##name(struct __jmp_buf_tag *to, int value)                                               \
    {                                                                                                      \
        leave(to);                                                                                         \
        ((__typeof__(sc_jump_##name) *)sc_host_next(&next_##name, #name))(to, value);                      \
    }                                                                                                      \
    static void __attribute__((constructor)) find_##name(void) { sc_host_next(&next_##name, #name); }

JUMP(longjmp)
JUMP(_longjmp)
JUMP(siglongjmp)
JUMP(__longjmp_chk)
/* SPDX-License-Identifier: BSD-2-Clause */
