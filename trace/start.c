/* The start of a trace: the rings, the chains of calls and the places of calls together. */
#include <config.h>

#include "base/inside.h"
#include "trace/chain.h"
#include "trace/rings.h"
#include "trace/trace.h"

enum sc_status sc_trace_start(const char *path)
{
    enum sc_status status;

    sc_inside_enter();
    sc_trace_site_prepare();
    status = sc_trace_rings_start(path, sc_chain_forget);
    sc_inside_leave();
    return status;
}

void sc_trace_prepare(void)
{
    sc_trace_site_prepare();
    sc_trace_rings_prepare();
}
/* SPDX-License-Identifier: BSD-2-Clause */
