/* Settings, and what the machine has: host BLAS, devices, measurements, what the system allows. */
#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "autotuner/start.h"
#include "autotuner/store.h"
#include "base/config.h"
#include "base/page.h"
#include "base/self_mem.h"
#include "blas/blas.h"
#include "device/device.h"
#include "host/host.h"
#include "libsemcache/config.h"
#include "libsemcache/places.h"
#include "tools/doctor.h"
#include "tools/tool.h"

static bool is_emulated(void) { return strncmp(sc_config.device, "emu:", 4) == 0; }
static bool is_none(void) { return strcmp(sc_config.device, "none") == 0; }

/* --- settings ----------------------------------------------------------------------------------------------------- */

struct doubt {
    bool there;
    enum sc_verdict verdict;
    const char *text, *remedy;
};

static int check_values(void)
{
    const struct doubt doubts[] = {
        {is_none() && sc_config.offload == SC_OFFLOAD_ALWAYS, SC_VERDICT_FAIL,
         "SEMCACHE_OFFLOAD=always contradicts SEMCACHE_DEVICE=none", "unset one of both"},
        {is_none(), SC_VERDICT_FAIL, "SEMCACHE_DEVICE=none: every call runs on the host", "unset SEMCACHE_DEVICE"},
        {sc_config.offload == SC_OFFLOAD_NEVER, SC_VERDICT_FAIL, "SEMCACHE_OFFLOAD=never: every call runs on the host",
         "unset SEMCACHE_OFFLOAD"},
        {sc_config.emu_timing && is_emulated(), SC_VERDICT_FAIL,
         "SEMCACHE_EMU_TIMING=1: nothing is computed, results are wrong", "unset SEMCACHE_EMU_TIMING"},
        {sc_config.offload == SC_OFFLOAD_ALWAYS && !is_none(), SC_VERDICT_NOTE,
         "SEMCACHE_OFFLOAD=always: small calls run on devices, which takes longer", "unset SEMCACHE_OFFLOAD"},
        {sc_config.check, SC_VERDICT_NOTE, "SEMCACHE_CHECK checks every transition, which is slow",
         "unset SEMCACHE_CHECK"},
        {sc_config.verify, SC_VERDICT_NOTE, "SEMCACHE_VERIFY computes every call on the host, too",
         "unset SEMCACHE_VERIFY"},
        {sc_config.explain != NULL, SC_VERDICT_NOTE, "SEMCACHE_EXPLAIN waits for every call on devices",
         "unset SEMCACHE_EXPLAIN for measurements"}};
    int found = 0;

    for (size_t i = 0; i < sizeof doubts / sizeof *doubts; i++)
        if (doubts[i].there) {
            sc_doctor_say(doubts[i].verdict, "settings", doubts[i].remedy, "%s", doubts[i].text);
            found++;
        }
    return found;
}

/* Files that the library would not write. */
static int check_files(void)
{
    const struct {
        const char *name, *path;
        enum sc_file_kind kind;
    } files[] = {{"SEMCACHE_STATS", sc_config.stats, SC_FILE_STATISTICS},
                 {"SEMCACHE_TRACE", sc_config.trace, SC_FILE_TRACE},
                 {"SEMCACHE_EXPLAIN", sc_config.explain, SC_FILE_EXPLANATION}};
    int found = 0;

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *path = files[i].path;
        const char *problem = path && strcmp(path, "-") != 0 ? sc_trace_file_refusal(path, files[i].kind) : NULL;
        const char *remedy = problem ? strstr(problem, "; ") : NULL; /* "cause; remedy" */

        if (problem) {
            sc_doctor_say(SC_VERDICT_FAIL, "settings", remedy ? remedy + 2 : "name another file",
                          "%s=%s will not be written: %.*s", files[i].name, path,
                          remedy ? (int)(remedy - problem) : 4096, problem);
            found++;
        }
    }
    return found;
}

void sc_doctor_settings(char *const *environment)
{
    int set = 0, found;

    sc_places_find(sc_tool_library());
    sc_doctor_listen(SC_VERDICT_FAIL, "settings", "semcache info lists the settings with their values");
    sc_config_load(&sc_config, environment, true);
    found = sc_doctor_heard();
    found += check_values() + check_files();
    for (; *environment; environment++)
        set += strncmp(*environment, "SEMCACHE_", 9) == 0;
    if (!found)
        sc_doctor_say(SC_VERDICT_OK, "settings", NULL, "%d set, devices: %s", set, sc_config.device);
}

/* --- the host ----------------------------------------------------------------------------------------------------- */

static void check_library(void)
{
    char why[2 * 4096];

    if (sc_tool_can_preload(why, sizeof why))
        sc_doctor_say(SC_VERDICT_OK, "semcache", NULL, "%s", sc_tool_library());
    else
        sc_doctor_say(SC_VERDICT_FAIL, "semcache", "install semcache as a whole, in a folder without spaces or colons",
                      "%s", why);
}

static void check_host_blas(void)
{
    bool open;

    sc_doctor_listen(SC_VERDICT_FAIL, "host BLAS", "install OpenBLAS (Debian: libopenblas0), or set SEMCACHE_HOST_BLAS "
                     "to the file of a BLAS");
    open = sc_blas_host_open(sc_config.host_blas) == SC_OK;
    sc_doctor_heard();
    if (open && sc_blas_host_is_optimised())
        sc_doctor_say(SC_VERDICT_OK, "host BLAS", NULL, "%s", sc_blas_host_path());
    else if (open)
        sc_doctor_say(SC_VERDICT_FAIL, "host BLAS", "install OpenBLAS (Debian: libopenblas0), or unset "
                      "SEMCACHE_HOST_BLAS", "%s is the reference BLAS, or an unknown one: calls on the host are slow",
                      sc_blas_host_path());
}

static void check_tracking(void)
{
    const char *engine = sc_host_watch_engine();

    if (engine && strcmp(engine, "wp") == 0)
        sc_doctor_say(SC_VERDICT_OK, "arrays outside malloc", NULL, "the kernel notices writes to them (userfaultfd)");
    else
        sc_doctor_say(SC_VERDICT_NOTE, "arrays outside malloc", "Linux 6.7 or later, SEMCACHE_TRACK unset, and a "
                      "container that permits userfaultfd", "%s",
                      engine ? "writes to them are noticed by faults, not by the kernel" : "copied in each call");
}

/* Emulated devices move data through closed pages; some systems forbid it. */
static void check_closed_pages(void)
{
    char *page = mmap(NULL, SC_PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (page == MAP_FAILED)
        return;
    if (sc_self_mem_write(page, "", 1) == SC_OK)
        sc_doctor_say(SC_VERDICT_OK, "closed pages", NULL, "the library can write to them (/proc/self/mem)");
    else
        sc_doctor_say(is_emulated() ? SC_VERDICT_FAIL : SC_VERDICT_NOTE, "closed pages",
                      "boot without proc_mem.force_override, mount /proc without hidepid",
                      "/proc/self/mem: %s; emulated devices need it", strerror(errno));
    munmap(page, SC_PAGE);
}

/* --- devices ------------------------------------------------------------------------------------------------------ */

static void check_measurements(const struct sc_device_ops *ops, int count)
{
    static const char check[] = "measurements", remedy[] = "semcache tune measures this machine";
    const struct sc_database *db;
    int messages, folder = -1;

    sc_doctor_listen(SC_VERDICT_FAIL, check, remedy);
    if (strcmp(sc_config.database, "auto") == 0 && (folder = sc_store_folder(sc_config.cache_path, false)) >= 0)
        close(folder);
    sc_autotuner_start(ops, count, &sc_tool_device_host);
    messages = sc_doctor_heard();
    db = sc_autotuner_database();
    if (db)
        sc_doctor_say(db->quick && !is_emulated() ? SC_VERDICT_NOTE : SC_VERDICT_OK, check,
                      db->quick && !is_emulated() ? remedy : NULL, "%d kernels%s", db->kernels,
                      db->quick ? ", by the quick version" : "");
    else if (is_emulated() && !messages)
        sc_doctor_say(SC_VERDICT_OK, check, NULL, "none; emulated devices have their rates in the machine file");
    else if (!messages)
        sc_doctor_say(SC_VERDICT_NOTE, check, remedy, "none: decisions go by what the devices say of themselves");
}

static void say_devices(const struct sc_device_ops *ops, int count)
{
    struct sc_device_properties about;

    for (int i = 0; i < count; i++)
        if (ops->properties(i, &about) == SC_OK)
            sc_doctor_say(SC_VERDICT_OK, "devices", NULL, "%d: %s, %.1f GiB", i, about.name,
                          (double)about.memory / (double)(1 << 30));
}

static const char *remedy_of(enum sc_device_lack lack)
{
    static const char *const remedies[] = {
        [SC_LACK_MACHINE] = "use a machine with a GPU and its driver; SEMCACHE_DEVICE=emu:h200x8:2 emulates two",
        [SC_LACK_MODULE] = "build semcache with it (README.md, Build it by hand), or set SEMCACHE_MODULE_PATH",
        [SC_LACK_DEVICE] = "the driver's own tool has to show a GPU, and this user must be allowed to open the "
                           "files of the driver in /dev"};

    return remedies[lack];
}

/* Opens the back end that "auto" chooses by name, because a named back end reports why it fails. */
static void open_devices(const char *setting, const char *remedy)
{
    const struct sc_device_ops *ops = NULL;
    int count = 0;

    sc_doctor_listen(SC_VERDICT_FAIL, "devices", remedy);
    sc_device_open(&sc_tool_device_host, setting, &ops, &count);
    sc_doctor_heard();
    if (!ops)
        return;
    say_devices(ops, count);
    check_measurements(ops, count);
    ops->close();
}

static void check_devices(void)
{
    enum sc_device_lack lack;
    char why[4200];

    if (is_none())
        return;
    if (is_emulated()) {
        open_devices(sc_config.device, "semcache info shows SEMCACHE_MACHINE_PATH, where machine files are");
        return;
    }
    lack = strcmp(sc_config.device, "auto") == 0 ? sc_device_why_none(&sc_config, why, sizeof why) : SC_LACK_DEVICE;
    if (lack == SC_LACK_DEVICE)
        open_devices(strcmp(sc_config.device, "auto") == 0 ? sc_device_of_auto() : sc_config.device, remedy_of(lack));
    else
        sc_doctor_say(SC_VERDICT_FAIL, "devices", remedy_of(lack), "%s", why);
}

void sc_doctor_machine(void)
{
    check_library();
    check_host_blas();
    check_tracking();
    check_closed_pages();
    if (sc_blas_host_path())
        check_devices();
}
/* SPDX-License-Identifier: BSD-2-Clause */
