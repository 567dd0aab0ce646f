/* The front end that uses sigaction directly. */
#include "config.h"

#include <errno.h>
#include <ucontext.h>

#include "host/fault_int.h"
#include "host/fault_sig.h"
#include "host/front.h"

static void handler(int sig, siginfo_t *info, void *context)
{
    const greg_t *regs = ((const ucontext_t *)context)->uc_mcontext.gregs;

    /* Only for a protection fault is si_addr the address of the access. */
    if (info->si_code == SEGV_ACCERR &&
        sc_fault_sig_serve((uintptr_t)info->si_addr, sc_front_access(regs[REG_ERR]),
                           sc_front_code(regs[REG_RIP], regs[REG_RSP], context)))
        return;
    sc_chain_sig_pass(sig, info, context);
}

static enum sc_status install(const struct sigaction *theirs)
{
    return sc_host_signals_take(handler, theirs);
}

const struct sc_host_front sc_host_front_sigaction = {"sigaction", install, sc_host_signals_give_back};
/* SPDX-License-Identifier: BSD-2-Clause */
