/* The common part of all trampolines (trampoline.h). */
#include "base/forward.h"

__asm__(".globl sc_um_trampoline\n"
        ".hidden sc_um_trampoline\n" SC_FORWARD("sc_um_trampoline", "sc_um_next"));
/* SPDX-License-Identifier: BSD-2-Clause */
