/* The libsigsegv front end.  libsigsegv's own handler has three shortcomings: a refused fault sets the default action
 * for the whole process, the handler runs on the thread's own stack, and the callback is given the address alone.  A
 * handler of the library therefore stands before libsigsegv's.  The library's handler stores the fault's context for
 * the callback, hands faults in the arena to libsigsegv, and passes all remaining faults to the program's action.
 * The callback never refuses a fault. */
#include "config.h"

#ifdef HAVE_LIBSIGSEGV
#include <sigsegv.h>
#include <ucontext.h>

#include "base/loader.h"
#include "base/log.h"
#include "host/fault_int.h"
#include "host/fault_sig.h"
#include "host/front.h"
#include "host/host_int.h"

static struct sigaction library; /* libsigsegv's handler; stored before the library's handler is installed */

/* The fault that this thread is handling. */
static __thread struct {
    struct sc_host_code code;
    enum sc_access access;
    bool ours;
} here __attribute__((tls_model("initial-exec")));

static int callback(void *addr, int serious)
{
    (void)serious;
    here.ours = sc_fault_sig_serve((uintptr_t)addr, here.access, here.code);
    return 1;
}

static void handler(int sig, siginfo_t *info, void *context)
{
    if (info->si_code == SEGV_ACCERR && sc_fault_sig_ours((uintptr_t)info->si_addr)) {
        const greg_t *regs = ((const ucontext_t *)context)->uc_mcontext.gregs;

        here.code = sc_front_code(regs[REG_RIP], regs[REG_RSP], context);
        here.access = sc_front_access(regs[REG_ERR]);
        here.ours = false;
        library.sa_sigaction(sig, info, context);
        if (here.ours)
            return;
    }
    sc_chain_sig_pass(sig, info, context);
}

/* libsigsegv has a single callback per process: a program that uses libsigsegv would lose its own callback. */
static bool program_uses_it(const struct sigaction *theirs)
{
    return theirs->sa_handler != SIG_DFL && theirs->sa_handler != SIG_IGN &&
           sc_loader_same((const void *)theirs->sa_handler, (const void *)sigsegv_install_handler);
}

static enum sc_status install(const struct sigaction *theirs)
{
    if (program_uses_it(theirs))
        return SC_ERR_UNSUPPORTED;
    if (sigsegv_install_handler(callback)) {
        sc_log(SC_LOG_WARN, "libsigsegv does not support this system: using sigaction");
        return SC_ERR_UNSUPPORTED;
    }
    sc_host_real_sigaction(SIGSEGV, NULL, &library);
    return sc_host_signals_take(handler, theirs);
}

static void take_down(void)
{
    sigsegv_deinstall_handler();
    sc_host_signals_give_back();
}

const struct sc_host_front sc_host_front_libsigsegv = {"libsigsegv", install, take_down};
#endif
/* SPDX-License-Identifier: BSD-2-Clause */
