#include "trace/trace.h"

static const char *const *routine_names;
static int routine_count;

void sc_trace_name_routines(const char *const *names, int count)
{
    routine_names = names;
    routine_count = count < SC_TRACE_ROUTINES_MAX ? count : SC_TRACE_ROUTINES_MAX;
}

const char *sc_trace_routine_name(int routine)
{
    return routine > 0 && routine < routine_count ? routine_names[routine] : NULL;
}
