/* Trace files: any input is printed, summed, explained and checked without a crash. */
#include <config.h>

#include "tests/fuzz/fuzz.h"
#include "trace/perfetto.h"
#include "trace/states.h"
#include "trace/trace.h"
#include "trace/read.h"

const char *const fuzz_corpus[] = {"tests/fuzz/corpus/trace", NULL};

static void show(FILE *out, const struct sc_trace_reading *trace, uint64_t ip)
{
    const struct sc_trace_module *module = sc_trace_module_of(trace, ip);

    sc_trace_put_text(out, module ? module->path : (struct sc_trace_text){0}, "-");
}

/* Reads every word and every line of Python that the trace names. */
static void prepare(struct sc_trace_reading *trace)
{
    uint64_t word = 0;

    for (size_t i = 0; i < trace->chain_count; i++)
        for (size_t j = 0; j < trace->chains[i].head.frames + (size_t)trace->chains[i].head.registers; j++)
            word ^= sc_trace_chain_word(&trace->chains[i], j);
    for (size_t i = 0; i < trace->python_count; i++)
        sc_trace_put_text(fuzz_nowhere(), trace->python[i].function, "-");
    for (size_t i = 0; i < trace->event_count; i++)
        if (sc_trace_chain_field(&trace->events[i]))
            *sc_trace_line_field(&trace->events[i]) ^= word;
}

static void callers(FILE *out, const struct sc_trace_reading *trace, uint32_t chain, uint64_t ip)
{
    (void)chain;
    show(out, trace, ip);
}

static bool function(FILE *out, const struct sc_trace_reading *trace, uint64_t ip)
{
    show(out, trace, ip);
    return ip % 2;
}

static const struct sc_trace_names names = {prepare, show, show, function, callers};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(data, size);
    static const struct sc_trace_filter all = SC_TRACE_FILTER_ALL;
    enum sc_status status = sc_trace_dump(path, fuzz_nowhere());

    FUZZ_MUST(sc_trace_summary(path, fuzz_nowhere(), &names) == status);
    FUZZ_MUST(sc_trace_blame(path, fuzz_nowhere(), size % 2, &names) == status);
    sc_trace_states(path, fuzz_nowhere(), NULL, &all, &names);
    sc_trace_states(path, fuzz_nowhere(), "1", &all, &names);
    FUZZ_MUST(sc_trace_report(path, fuzz_nowhere(), &names) == status);
    FUZZ_MUST(sc_trace_diff(path, path, fuzz_nowhere(), &names) == status);
    FUZZ_MUST(sc_trace_perfetto(path, fuzz_nowhere(), &names) == status);
    FUZZ_MUST(sc_trace_explain(path, fuzz_nowhere(), &names) == status);
    if (status != SC_OK)
        FUZZ_MUST(sc_trace_check(path, fuzz_nowhere()) == status);
    else
        sc_trace_check(path, fuzz_nowhere());
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
