/* The assembler of a function that passes a call on. All arguments stay in place, and the function needs no types. */
#ifndef SC_BASE_FORWARD_H
#define SC_BASE_FORWARD_H

/* The text of a function `name`, for __asm__.  A stub jumps to the function with a number in %r11d and with the stack
 * that the caller of the stub has left.  The function saves the argument registers, calls
 *     void (*successor(unsigned number, const void *return_address))(void)
 * restores the registers and jumps to the address that `successor` returns.  %rax is saved for variadic calls, in which
 * %al counts vector registers; %r10 and %r11 hold no argument.  Stack arguments stay in place. */
#define SC_FORWARD(name, successor)              \
    ".text\n"                                    \
    ".p2align 4\n"                               \
    ".type " name ", @function\n" name ":\n"     \
    "    .cfi_startproc\n"                       \
    "    pushq %rbp\n"                           \
    "    .cfi_def_cfa_offset 16\n"               \
    "    .cfi_offset %rbp, -16\n"                \
    "    movq %rsp, %rbp\n"                      \
    "    .cfi_def_cfa_register %rbp\n"           \
    "    subq $192, %rsp\n"                      \
    "    andq $-16, %rsp\n"                      \
    "    movq %rdi, 0(%rsp)\n"                   \
    "    movq %rsi, 8(%rsp)\n"                   \
    "    movq %rdx, 16(%rsp)\n"                  \
    "    movq %rcx, 24(%rsp)\n"                  \
    "    movq %r8, 32(%rsp)\n"                   \
    "    movq %r9, 40(%rsp)\n"                   \
    "    movq %rax, 48(%rsp)\n"                  \
    "    movups %xmm0, 64(%rsp)\n"               \
    "    movups %xmm1, 80(%rsp)\n"               \
    "    movups %xmm2, 96(%rsp)\n"               \
    "    movups %xmm3, 112(%rsp)\n"              \
    "    movups %xmm4, 128(%rsp)\n"              \
    "    movups %xmm5, 144(%rsp)\n"              \
    "    movups %xmm6, 160(%rsp)\n"              \
    "    movups %xmm7, 176(%rsp)\n"              \
    "    movl %r11d, %edi\n"                     \
    "    movq 8(%rbp), %rsi\n"                   \
    "    call " successor "\n"                   \
    "    movq %rax, %r11\n"                      \
    "    movq 0(%rsp), %rdi\n"                   \
    "    movq 8(%rsp), %rsi\n"                   \
    "    movq 16(%rsp), %rdx\n"                  \
    "    movq 24(%rsp), %rcx\n"                  \
    "    movq 32(%rsp), %r8\n"                   \
    "    movq 40(%rsp), %r9\n"                   \
    "    movq 48(%rsp), %rax\n"                  \
    "    movups 64(%rsp), %xmm0\n"               \
    "    movups 80(%rsp), %xmm1\n"               \
    "    movups 96(%rsp), %xmm2\n"               \
    "    movups 112(%rsp), %xmm3\n"              \
    "    movups 128(%rsp), %xmm4\n"              \
    "    movups 144(%rsp), %xmm5\n"              \
    "    movups 160(%rsp), %xmm6\n"              \
    "    movups 176(%rsp), %xmm7\n"              \
    "    leave\n"                                \
    "    .cfi_def_cfa %rsp, 8\n"                 \
    "    jmp *%r11\n"                            \
    "    .cfi_endproc\n"                         \
    ".size " name ", .-" name "\n"

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
