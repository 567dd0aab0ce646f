/* Finds and opens the device implementation of a setting. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/inside.h"
#include "base/loader.h"
#include "base/own_fd.h"
#include "device/device.h"
#include "device/wake.h"

#define CUDA_MODULE      "semcache-cuda.so"
#define CUDA_LEAST_SPACE ((rlim_t)8 << 30) /* address space needed to load the module, bytes */

/* A parsed setting: its kind, and the text after "kind:" ("" if absent). */
enum kind { KIND_AUTO, KIND_NONE, KIND_CUDA, KIND_EMU, KIND_UNKNOWN };

static enum kind parse(const char *setting, const char **spec)
{
    static const char *const names[] = {"auto", "none", "cuda", "emu"};

    *spec = "";
    if (!setting || !*setting)
        return KIND_AUTO;
    for (int i = 0; i < KIND_UNKNOWN; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(setting, names[i], length))
            continue;
        if (!setting[length])
            return (enum kind)i;
        if (setting[length] == ':' && i >= KIND_CUDA) {
            *spec = setting + length + 1;
            return (enum kind)i;
        }
    }
    return KIND_UNKNOWN;
}

/* Files made by the driver; the check starts nothing. */
static bool driver_present(void)
{
    return access("/dev/nvidiactl", F_OK) == 0 || access("/proc/driver/nvidia/version", F_OK) == 0 ||
           access("/dev/dxg", F_OK) == 0;
}

static void module_file(const struct sc_config *config, char *path, size_t size)
{
    snprintf(path, size, "%s/" CUDA_MODULE, config->module_path ? config->module_path : SC_MODULE_DIR);
}

/* Returns NULL after one line in the log.  The module stays loaded for the life of the process, because drivers do not
 * survive dlclose. */
static const struct sc_device_ops *load_cuda(const struct sc_device_host *host, enum sc_log_level level)
{
    char path[4096];
    sc_device_module_entry *entry;
    const struct sc_device_ops *ops;
    void *module;

    module_file(host->config, path, sizeof path);
    module = sc_loader_open(path, RTLD_NOW | RTLD_LOCAL);
    entry = module ? (sc_device_module_entry *)sc_loader_symbol(module, SC_DEVICE_MODULE_ENTRY) : NULL;
    if (!entry) {
        host->log(level, "no CUDA devices: %s (is semcache built with CUDA, and is its run-time library installed?)",
                  dlerror());
        return NULL;
    }
    ops = entry();
    if (!ops || ops->abi != SC_DEVICE_ABI || ops->size != sizeof *ops) {
        host->log(SC_LOG_ERROR, "no CUDA devices: %s is of another version of semcache: install both from one build",
                  path);
        return NULL;
    }
    return ops;
}

static enum sc_status open_kind(const struct sc_device_host *host, const struct sc_device_ops *found, const char *spec,
                                const struct sc_device_ops **ops, int *count)
{
    enum sc_status status = found ? found->open(host, spec, count) : SC_ERR_DEVICE;

    if (status)
        *count = 0;
    else if (*count > 0) {
        *ops = found;
        sc_fd_spare(found->files);
    } else
        found->close();
    return status;
}

static void silent(enum sc_log_level level, const char *format, ...)
{
    (void)level;
    (void)format;
}

/* Opens the CUDA module.  Failures are logged at `level`. */
static enum sc_status open_module(const struct sc_device_host *host, enum sc_log_level level, const char *spec,
                                  const struct sc_device_ops **ops, int *count)
{
    static struct sc_device_host own; /* static, because the implementation keeps the pointer until close */
    enum sc_status status;
    const struct sc_device_ops *found;

    own = *host;
    if (sc_log_threshold < level)
        own.log = silent;
    sc_device_wake(&own, spec);
    found = load_cuda(&own, level);
    sc_device_awake();
    status = open_kind(&own, found, spec, ops, count);
    sc_device_wake_end();
    own.log = host->log; /* errors of open devices are always reported */
    return status;
}

/* Whether the address space suffices to load CUDA's libraries.  With part of the space, the libraries may end the
 * process. The driver needs more address space, for the memory of all devices, but reports a failure itself. */
static bool room_for_libraries(const struct rlimit *space)
{
    return space->rlim_cur == RLIM_INFINITY || space->rlim_cur >= CUDA_LEAST_SPACE;
}

/* Opens CUDA devices.  If requested by name, a machine without GPUs is an error.  Otherwise such a machine is neither
 * an error nor reported, except if a limit on address space keeps GPUs from being used. */
static enum sc_status open_cuda(const struct sc_device_host *host, const char *spec, bool by_name,
                                const struct sc_device_ops **ops, int *count)
{
    struct rlimit space = {RLIM_INFINITY, RLIM_INFINITY};
    enum sc_status status = SC_ERR_DEVICE_MEMORY;
    bool limited;

    getrlimit(RLIMIT_AS, &space);
    limited = space.rlim_cur != RLIM_INFINITY;
    if (room_for_libraries(&space))
        status = open_module(host, by_name && !limited ? SC_LOG_ERROR : SC_LOG_INFO, spec, ops, count);
    if (*ops)
        return SC_OK;
    if (limited)
        host->log(by_name ? SC_LOG_ERROR : SC_LOG_WARN, "no CUDA devices: the driver does not start within %llu MiB "
                  "of address space (ulimit -v): every call runs on the host",
                  (unsigned long long)space.rlim_cur >> 20);
    else if (by_name && !status)
        host->log(SC_LOG_ERROR, "no CUDA devices: no driver, or no GPU that this process may use (nvidia-smi shows "
                  "them)");
    else if (by_name && status == SC_ERR_DEVICE_MEMORY)
        host->log(SC_LOG_ERROR, "no CUDA devices: no memory for the driver (nvidia-smi shows who has the devices')");
    return !by_name ? SC_OK : status ? status : SC_ERR_DEVICE;
}

static void open_auto(const struct sc_device_host *host, const struct sc_device_ops **ops, int *count)
{
    char path[4096];

    module_file(host->config, path, sizeof path);
    if (driver_present() && access(path, R_OK) == 0)
        open_cuda(host, "", false, ops, count);
}

enum sc_status sc_device_open(const struct sc_device_host *host, const char *setting, const struct sc_device_ops **ops,
                              int *count)
{
    enum sc_status status = SC_OK;
    const char *spec;

    *ops = NULL;
    *count = 0;
    sc_inside_enter();
    switch (parse(setting, &spec)) {
    case KIND_NONE:
        break;
    case KIND_AUTO:
        open_auto(host, ops, count);
        break;
    case KIND_CUDA:
        status = open_cuda(host, spec, true, ops, count);
        break;
    case KIND_EMU:
        status = open_kind(host, sc_device_emu(), spec, ops, count);
        break;
    default:
        host->log(SC_LOG_ERROR, "unknown device setting '%s': give auto, none, cuda[:0,1,..] or emu:MACHINE[:COUNT]",
                  setting);
        status = SC_ERR_INVALID;
    }
    sc_inside_leave();
    return status;
}

void sc_device_why_none(const struct sc_config *config, char *text, size_t bytes)
{
    char path[4096];

    module_file(config, path, sizeof path);
    if (!driver_present())
        snprintf(text, bytes, "this machine has no NVIDIA driver");
    else if (access(path, R_OK) != 0)
        snprintf(text, bytes, "there is no %s (semcache built without CUDA?)", path);
    else
        snprintf(text, bytes, "no GPU that this process may use (nvidia-smi shows them)");
}

bool sc_device_expected(const char *setting)
{
    const char *spec;

    switch (parse(setting, &spec)) {
    case KIND_AUTO: return driver_present();
    case KIND_CUDA:
    case KIND_EMU: return true;
    default: return false;
    }
}
