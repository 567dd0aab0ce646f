/* A function that asks sc_um_next where to go on and goes there, with all arguments where they were: no types have to
 * be known.  The function that follows returns to the program itself. */
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
