#include "trace/trace.h"

static const char *const *routine_names;
static int routine_count;

void sc_trace_name_routines(const char *const *names, int count)
{
    routine_names = names;
    routine_count = count < SC_TRACE_SPARSE_GEMM ? count : SC_TRACE_SPARSE_GEMM;
}

const char *sc_trace_routine_name(int routine)
{
    static const char *const sparse[] = {"sparse_gemm", "sparse_mv", "sparse_mm", "sparse_sv", "sparse_sm"};

    if (routine >= SC_TRACE_SPARSE_GEMM && routine < SC_TRACE_ROUTINES_MAX)
        return sparse[routine - SC_TRACE_SPARSE_GEMM];
    return routine > 0 && routine < routine_count ? routine_names[routine] : NULL;
}

const char *sc_trace_reason_name(enum sc_trace_reason reason)
{
    static const char *const names[SC_REASONS] = {
        [SC_REASON_FASTER] = "faster, with the move",
        [SC_REASON_RENTED] = "the host had lost what the move costs",
        [SC_REASON_SLOWER] = "the host is faster",
        [SC_REASON_MOVE] = "the move costs more than one call gains",
        [SC_REASON_SOLD] = "the host kept fetching it",
        [SC_REASON_BACK] = "from the host it would have to come back",
    };

    return reason < SC_REASONS ? names[reason] : "?";
}
/* SPDX-License-Identifier: BSD-2-Clause */
