/* Defines a function that asks sc_um_next for its successor and jumps there with all arguments in place, so that no
 * types are needed.  The successor returns directly to the program. */
#ifndef SC_UM_TRAMPOLINE_H
#define SC_UM_TRAMPOLINE_H

#define SC_UM_TRAMPOLINE(name, number)                      \
    __asm__(".text\n"                                       \
            ".globl " #name "\n"                            \
            ".type " #name ", @function\n"                  \
            ".p2align 4\n" #name ":\n"                      \
            "    endbr64\n"                                 \
            "    movl $" #number ", %r11d\n"                \
            "    jmp sc_um_trampoline\n"                    \
            ".size " #name ", .-" #name "\n")

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
