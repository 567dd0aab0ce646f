/* A running process: whether the process has loaded the library, its settings, its limits. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "device/device.h"
#include "host/host.h"
#include "tools/doctor.h"
#include "tools/process.h"
#include "tools/tool.h"

/* --- limits ------------------------------------------------------------------------------------------------------- */

#define MIB ((uint64_t)1 << 20)
#define LEAST_DATA (1024 * MIB)
#define USUAL_MAPPINGS 65530 /* of the kernel */

/* The soft limit in bytes; UINT64_MAX: none, or unknown. */
static uint64_t limit_of(const char *who, const char *name)
{
    char path[64], line[256];
    uint64_t limit = UINT64_MAX;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%s/limits", who);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0 && sscanf(line + strlen(name), "%" SCNu64, &limit) != 1)
            limit = UINT64_MAX;
    if (file)
        fclose(file);
    return limit;
}

/* Less than `least` is a failure, any limit worth a note. */
static void check_limit(const char *check, uint64_t limit, uint64_t least, const char *effect, const char *remedy)
{
    if (limit == UINT64_MAX)
        sc_doctor_say(SC_VERDICT_OK, check, NULL, "not limited");
    else
        sc_doctor_say(limit < least ? SC_VERDICT_FAIL : SC_VERDICT_NOTE, check, remedy, "%" PRIu64 " MiB: %s",
                      limit / MIB, effect);
}

static void check_locked(uint64_t limit)
{
    if (limit == UINT64_MAX)
        sc_doctor_say(SC_VERDICT_OK, "locked memory", NULL, "not limited");
    else if (strncmp(sc_config.device, "emu:", 4) == 0)
        sc_doctor_say(SC_VERDICT_OK, "locked memory", NULL, "%" PRIu64 " KiB (ulimit -l); emulated devices lock none",
                      limit / 1024);
    else
        sc_doctor_say(SC_VERDICT_NOTE, "locked memory", "ulimit -l unlimited, where MPI uses InfiniBand or a program "
                      "calls mlockall", "%" PRIu64 " KiB (ulimit -l); what drivers of GPUs pin is not counted",
                      limit / 1024);
}

/* Closed pages divide mappings (host/protect.c): half of the limit is for the library. */
static void check_mappings(size_t used)
{
    static const char remedy[] = "as root: sysctl vm.max_map_count=262144 (more pieces of matrices can be closed)";
    size_t most = sc_host_mappings_most();

    if (most < USUAL_MAPPINGS)
        sc_doctor_say(SC_VERDICT_FAIL, "mappings", remedy, "vm.max_map_count is %zu, less than usual (%d)", most,
                      USUAL_MAPPINGS);
    else if (used > most / 2)
        sc_doctor_say(SC_VERDICT_FAIL, "mappings", remedy, "%zu of at most %zu are in use (vm.max_map_count)", used,
                      most);
    else if (used)
        sc_doctor_say(SC_VERDICT_OK, "mappings", NULL, "%zu of at most %zu are in use", used, most);
    else
        sc_doctor_say(SC_VERDICT_OK, "mappings", NULL, "at most %zu", most);
}

bool sc_doctor_limits(const char *who, size_t mappings)
{
    uint64_t space = limit_of(who, "Max address space"), least = sc_device_least_space();

    check_limit("address space", space, least,
                space < least ? "drivers do not start, and matrices have little room"
                              : "matrices get half of what is left of it",
                "ulimit -v unlimited; in a batch system, limit resident memory instead");
    check_limit("data", limit_of(who, "Max data size"), LEAST_DATA, "larger allocations fail",
                "ulimit -d unlimited");
    check_locked(limit_of(who, "Max locked memory"));
    check_mappings(mappings);
    return space >= least;
}

/* --- the process -------------------------------------------------------------------------------------------------- */

static const char *preload_of(char *const *environment)
{
    for (; environment && *environment; environment++)
        if (strncmp(*environment, "LD_PRELOAD=", 11) == 0)
            return *environment + 11;
    return "";
}

static void check_library(const struct sc_process *process, char *const *environment)
{
    if (!*process->library && strstr(preload_of(environment), "libsemcache"))
        sc_doctor_say(SC_VERDICT_FAIL, "library", "see the findings about its program; the library may also have moved "
                      "since", "process %ld has no libsemcache, although LD_PRELOAD names it", (long)process->pid);
    else if (!*process->library)
        sc_doctor_say(SC_VERDICT_FAIL, "library", "start it with semcache run, or link it with -lsemcache",
                      "process %ld has no libsemcache: its calls go to its own BLAS", (long)process->pid);
    else if (process->replaced)
        sc_doctor_say(SC_VERDICT_NOTE, "library", "start the program again",
                      "%s has been replaced since the program was started", process->library);
    else
        sc_doctor_say(SC_VERDICT_OK, "library", NULL, "%s is loaded", process->library);
}

bool sc_doctor_process(pid_t pid)
{
    struct sc_process process;
    const char *problem = sc_process_look(pid, &process);
    char **environment = problem ? NULL : sc_process_environment(pid), who[32];

    if (problem || !environment) {
        sc_doctor_say(SC_VERDICT_FAIL, "process", sc_process_remedy(pid), "process %ld cannot be looked at: %s",
                      (long)pid, problem ? problem : "its environment cannot be read");
        return false;
    }
    check_library(&process, environment);
    sc_doctor_settings(environment);
    if (*process.program)
        sc_doctor_program(process.program);
    snprintf(who, sizeof who, "%ld", (long)pid);
    return sc_doctor_limits(who, process.mappings);
}
/* SPDX-License-Identifier: BSD-2-Clause */
