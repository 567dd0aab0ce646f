/* A trace: whether the file is whole, and why its calls ran on the host. */
#include <config.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/doctor.h"
#include "tools/tool.h"
#include "trace/totals.h"

bool sc_doctor_is_trace(const char *file)
{
    char magic[sizeof SC_TRACE_MAGIC - 1];
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool is = fd >= 0 && read(fd, magic, sizeof magic) == sizeof magic &&
              memcmp(magic, SC_TRACE_MAGIC, sizeof magic) == 0;

    if (fd >= 0)
        close(fd);
    return is;
}

static void check_whole(const struct sc_trace_reading *trace)
{
    const struct sc_trace_header *header = &trace->header;
    bool cut = (trace->size - header->header_bytes) % header->block_bytes != 0;

    if (cut)
        sc_doctor_say(SC_VERDICT_FAIL, "trace", "copy the file again, or record it on a disk with room",
                      "the file was cut off: %zu bytes are no whole number of blocks", trace->size);
    if (!header->ended)
        sc_doctor_say(SC_VERDICT_FAIL, "trace", "what is there is right; let the program end to see the rest",
                      "the program did not end in good order: it was killed, or still runs");
    if (header->dropped || header->lost)
        sc_doctor_say(SC_VERDICT_FAIL, "trace", "set SEMCACHE_TRACE_LIMIT higher (0: no limit)",
                      "%" PRIu64 " events are missing", header->dropped + header->lost);
    if (!cut && header->ended && !header->dropped && !header->lost)
        sc_doctor_say(SC_VERDICT_OK, "trace", NULL, "complete, %zu events", trace->event_count);
}

/* The settings of the recorded process. */
static void check_settings(const struct sc_trace_reading *trace)
{
    char **environment = calloc(trace->setting_count + 1, sizeof *environment);

    for (size_t i = 0, to = 0; environment && i < trace->setting_count; i++)
        if ((environment[to] = strndup(trace->settings[i].at, trace->settings[i].bytes)) != NULL)
            to++;
    if (environment)
        sc_doctor_settings(environment);
    for (size_t i = 0; environment && environment[i]; i++)
        free(environment[i]);
    free(environment);
}

/* --- calls -------------------------------------------------------------------------------------------------------- */

static const char *remedy_of(enum sc_trace_reason reason)
{
    static const char *const remedies[SC_REASONS] = {
        [SC_REASON_SLOWER] = "larger matrices, or fewer and larger calls; semcache tune, if the prediction is wrong",
        [SC_REASON_MOVE] = "use matrices several times before the CPU touches them; semcache trace blame names lines",
        [SC_REASON_SOLD] = "semcache trace blame names the lines that fetch results to the host",
    };

    return remedies[reason] ? remedies[reason] : "semcache trace explain shows each line's calls";
}

static enum sc_trace_reason main_reason(const struct sc_trace_totals *totals)
{
    int most = 0;

    for (int i = 1; i < SC_REASONS; i++)
        if (totals->host_reasons[i] > totals->host_reasons[most])
            most = i;
    return (enum sc_trace_reason)most;
}

static void check_calls(const struct sc_trace_totals *totals)
{
    const struct sc_trace_sums *all = &totals->all;
    enum sc_trace_reason reason = main_reason(totals);
    uint64_t host = all->calls_host, calls = host + all->calls_devices;

    if (!calls)
        sc_doctor_say(SC_VERDICT_FAIL, "calls", "semcache run --summary counts the small calls, too; --offload always "
                      "traces calls of any size", "no call was large enough for the devices");
    else if (!totals->host_reasons[reason])
        sc_doctor_say(all->calls_devices ? SC_VERDICT_OK : SC_VERDICT_FAIL, "calls",
                      all->calls_devices ? NULL : "semcache trace explain shows each line's calls",
                      "%" PRIu64 " of %" PRIu64 " large calls ran on devices", all->calls_devices, calls);
    else
        sc_doctor_say(!all->calls_devices ? SC_VERDICT_FAIL : host > calls / 2 ? SC_VERDICT_NOTE : SC_VERDICT_OK,
                      "calls", host > calls / 2 ? remedy_of(reason) : NULL,
                      "%" PRIu64 " of %" PRIu64 " large calls ran on devices; %" PRIu64 " on the host because %s",
                      all->calls_devices, calls, totals->host_reasons[reason], sc_trace_reason_name(reason));
}

void sc_doctor_trace(const char *file)
{
    static struct sc_trace_totals totals;
    struct sc_trace_reading trace;
    enum sc_status status;

    sc_doctor_listen(SC_VERDICT_FAIL, "trace", "record it again: semcache run --trace FILE PROGRAM");
    status = sc_trace_read(file, &trace);
    sc_doctor_heard();
    if (status != SC_OK)
        return;
    check_whole(&trace);
    check_settings(&trace);
    sc_trace_add_up(&trace, &totals);
    check_calls(&totals);
    sc_trace_read_end(&trace);
}
/* SPDX-License-Identifier: BSD-2-Clause */
