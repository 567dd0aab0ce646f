/* Trace files: any input is printed, summed, explained and checked without a crash. */
#include <config.h>

#include "tests/fuzz/fuzz.h"
#include "trace/perfetto.h"
#include "trace/trace.h"
#include "trace/read.h"

const char *const fuzz_corpus[] = {"tests/fuzz/corpus/trace", NULL};

static void show(FILE *out, const struct sc_trace_reading *trace, uint64_t ip)
{
    const struct sc_trace_module *module = sc_trace_module_of(trace, ip);

    sc_trace_put_text(out, module ? module->path : (struct sc_trace_text){0}, "-");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(data, size);
    enum sc_status status = sc_trace_dump(path, fuzz_nowhere());

    FUZZ_MUST(sc_trace_summary(path, fuzz_nowhere(), show) == status);
    FUZZ_MUST(sc_trace_blame(path, fuzz_nowhere(), size % 2, show) == status);
    FUZZ_MUST(sc_trace_perfetto(path, fuzz_nowhere()) == status);
    FUZZ_MUST(sc_trace_explain(path, fuzz_nowhere(), show) == status);
    if (status != SC_OK)
        FUZZ_MUST(sc_trace_check(path, fuzz_nowhere()) == status);
    else
        sc_trace_check(path, fuzz_nowhere());
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
