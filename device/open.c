/* Finds the back end that a setting names, loads its module and opens its devices (rules D2 and D3). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/inside.h"
#include "base/loader.h"
#include "base/own_fd.h"
#include "device/backend.h"
#include "device/submit.h"

#define ROW(name, text) &sc_device_backend_##name,
static const struct sc_device_backend *const backends[] = {SC_DEVICE_BACKENDS(ROW)};
#undef ROW
#define BACKENDS ((int)(sizeof backends / sizeof *backends))

/* --- settings ----------------------------------------------------------------------------------------------------- */

bool sc_device_is_list(const char *text)
{
    size_t digits;

    for (;; text++) {
        digits = strspn(text, "0123456789");
        if (digits < 1 || digits > 4)
            return false;
        text += digits;
        if (*text != ',')
            return *text == '\0';
    }
}

bool sc_device_is_count(const char *text)
{
    return !strchr(text, ',') && sc_device_is_list(text) && strtoul(text, NULL, 10) > 0;
}

static bool is_auto(const char *setting) { return !setting || !*setting || strcmp(setting, "auto") == 0; }
static bool is_none(const char *setting) { return setting && strcmp(setting, "none") == 0; }

/* The back end of "NAME" or "NAME:SPEC" and where SPEC begins ("" without one); NULL: no back end has the name. */
static const struct sc_device_backend *named(const char *setting, const char **spec)
{
    size_t length = strcspn(setting, ":");

    *spec = setting + length + (setting[length] == ':');
    for (int i = 0; i < BACKENDS; i++)
        if (strlen(backends[i]->name) == length && strncmp(setting, backends[i]->name, length) == 0)
            return backends[i];
    return NULL;
}

bool sc_device_setting_fits(const char *setting)
{
    const struct sc_device_backend *backend;
    const char *spec;

    if (strcmp(setting, "auto") == 0 || is_none(setting))
        return true;
    backend = named(setting, &spec);
    return backend && (*spec || spec[-1] != ':') && backend->fits(spec);
}

/* --- modules ------------------------------------------------------------------------------------------------------ */

static void module_file(const struct sc_config *config, const struct sc_device_backend *backend, char *path,
                        size_t size)
{
    snprintf(path, size, "%s/semcache-%s.so", config->module_path ? config->module_path : SC_MODULE_DIR, backend->name);
}

static bool has_module(const struct sc_config *config, const struct sc_device_backend *backend)
{
    char path[4096];

    module_file(config, backend, path, sizeof path);
    return access(path, R_OK) == 0;
}

/* NULL with one line in the log.  The module stays loaded for the life of the process: drivers do not survive
 * dlclose. */
static const struct sc_device_ops *load(const struct sc_device_host *host, enum sc_log_level level,
                                        const struct sc_device_backend *backend)
{
    char path[4096];
    sc_device_module_entry *entry;
    const struct sc_device_ops *ops;
    void *module;

    module_file(host->config, backend, path, sizeof path);
    module = sc_loader_open(path, RTLD_NOW | RTLD_LOCAL);
    entry = module ? (sc_device_module_entry *)sc_loader_symbol(module, SC_DEVICE_MODULE_ENTRY) : NULL;
    if (!entry) {
        host->log(level, "no %s devices: %s (%s)", backend->title, dlerror(), backend->unbuilt);
        return NULL;
    }
    ops = entry();
    if (!ops || ops->abi != SC_DEVICE_ABI || ops->size != sizeof *ops) {
        host->log(SC_LOG_ERROR, "no %s devices: %s is of another version of semcache: install both from one build",
                  backend->title, path);
        return NULL;
    }
    return ops;
}

static enum sc_status open_ops(const struct sc_device_host *host, const struct sc_device_ops *found, const char *spec,
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

/* Messages below `level` are left out until the devices are open. */
static enum sc_status open_module(const struct sc_device_host *host, enum sc_log_level level,
                                  const struct sc_device_backend *backend, const char *spec,
                                  const struct sc_device_ops **ops, int *count)
{
    static struct sc_device_host own; /* static, because the implementation keeps the pointer until close */
    enum sc_status status;
    const struct sc_device_ops *found;

    own = *host;
    if (sc_log_threshold < level)
        own.log = silent;
    sc_fd_driver_begins();
    if (backend->wake)
        backend->wake(&own, spec);
    found = sc_device_is_unwanted(host) ? NULL : load(&own, level, backend);
    if (backend->wake)
        backend->wake_join();
    status = open_ops(&own, found, spec, ops, count);
    if (backend->wake)
        backend->wake_end();
    sc_fd_driver_ended();
    own.log = host->log; /* errors of present devices are reported */
    return status;
}

/* The limit of address space in bytes, if the back end cares for limits; else RLIM_INFINITY. */
static rlim_t space_for(const struct sc_device_backend *backend)
{
    struct rlimit space = {RLIM_INFINITY, RLIM_INFINITY};

    if (backend->least_space)
        getrlimit(RLIMIT_AS, &space);
    return space.rlim_cur;
}

/* Number of descriptors that the process may still open, at most `most`. */
static int descriptors_left(int most, unsigned long long *limit)
{
    struct rlimit files = {RLIM_INFINITY, RLIM_INFINITY};
    int left = 0;

    getrlimit(RLIMIT_NOFILE, &files);
    *limit = files.rlim_cur;
    if (files.rlim_cur > INT_MAX)
        return most;
    for (int fd = (int)files.rlim_cur - 1; fd >= 0 && left < most; fd--)
        left += fcntl(fd, F_GETFD) < 0;
    return left;
}

/* The devices were asked for by name, and the module finds none. */
static void say_unusable(const struct sc_device_host *host, const struct sc_device_backend *backend)
{
    unsigned long long limit;
    int left = descriptors_left(backend->least_files, &limit);

    if (left < backend->least_files)
        host->log(SC_LOG_ERROR, "no %s devices: the driver does not start with %d of %llu descriptors left "
                  "(ulimit -n): every call runs on the host", backend->title, left, limit);
    else
        host->log(SC_LOG_ERROR, "no %s devices: %s", backend->title, backend->unusable);
}

/* With `by_name` a machine without such devices is a failure with one line; else there is no line, unless a limit of
 * address space keeps the driver from starting.  Below least_space the module's libraries may end the process.  The
 * driver needs addresses for the memory of all devices, and reports a lack of addresses itself. */
static enum sc_status open_backend(const struct sc_device_host *host, const struct sc_device_backend *backend,
                                   const char *spec, bool by_name, const struct sc_device_ops **ops, int *count)
{
    rlim_t space = space_for(backend);
    enum sc_status status = SC_ERR_DEVICE_MEMORY;
    bool limited = space != RLIM_INFINITY;

    if (!limited || space >= backend->least_space)
        status = open_module(host, by_name && !limited ? SC_LOG_ERROR : SC_LOG_INFO, backend, spec, ops, count);
    if (*ops)
        return SC_OK;
    if (sc_device_is_unwanted(host))
        return by_name ? SC_ERR_DEVICE : SC_OK;
    if (limited)
        host->log(by_name ? SC_LOG_ERROR : SC_LOG_WARN, "no %s devices: the driver does not start within %llu MiB "
                  "of address space (ulimit -v): every call runs on the host", backend->title,
                  (unsigned long long)space >> 20);
    else if (by_name && !status)
        say_unusable(host, backend);
    else if (by_name && status == SC_ERR_DEVICE_MEMORY)
        host->log(SC_LOG_ERROR, "no %s devices: %s", backend->title, backend->no_memory);
    return !by_name ? SC_OK : status ? status : SC_ERR_DEVICE;
}

static void open_auto(const struct sc_device_host *host, const struct sc_device_ops **ops, int *count)
{
    for (int i = 0; i < BACKENDS && !*ops; i++)
        if (backends[i]->present && backends[i]->present() && has_module(host->config, backends[i]))
            open_backend(host, backends[i], "", false, ops, count);
}

static enum sc_status open_named(const struct sc_device_host *host, const char *setting,
                                 const struct sc_device_ops **ops, int *count)
{
    const char *spec;
    const struct sc_device_backend *backend = named(setting, &spec);

    if (!backend) {
        host->log(SC_LOG_ERROR, "unknown device setting '%s': give one of " SC_DEVICE_VALUES, setting);
        return SC_ERR_INVALID;
    }
    if (backend->linked)
        return open_ops(host, backend->linked(), spec, ops, count);
    return open_backend(host, backend, spec, true, ops, count);
}

enum sc_status sc_device_open(const struct sc_device_host *host, const char *setting, const struct sc_device_ops **ops,
                              int *count)
{
    enum sc_status status = SC_OK;
    const struct sc_device_ops *beside;

    *ops = NULL;
    *count = 0;
    sc_inside_enter();
    if (is_auto(setting))
        open_auto(host, ops, count);
    else if (!is_none(setting))
        status = open_named(host, setting, ops, count);
    beside = *ops ? sc_submit_beside(host, *ops, *count) : NULL;
    *ops = beside ? beside : *ops;
    sc_inside_leave();
    return status;
}

/* --- without devices ---------------------------------------------------------------------------------------------- */

/* The first back end of auto that is present; without one the first that auto knows. */
static const struct sc_device_backend *first_of_auto(bool *present)
{
    const struct sc_device_backend *first = NULL;

    *present = true;
    for (int i = 0; i < BACKENDS; i++) {
        if (!backends[i]->present)
            continue;
        if (backends[i]->present())
            return backends[i];
        if (!first)
            first = backends[i];
    }
    *present = false;
    return first;
}

enum sc_device_lack sc_device_why_none(const struct sc_config *config, char *text, size_t bytes)
{
    char path[4096];
    bool present;
    const struct sc_device_backend *backend = first_of_auto(&present);

    if (!backend) {
        snprintf(text, bytes, "semcache was built without back ends that find devices by themselves");
        return SC_LACK_MACHINE;
    }
    module_file(config, backend, path, sizeof path);
    if (!present)
        snprintf(text, bytes, "%s", backend->absent);
    else if (access(path, R_OK) != 0)
        snprintf(text, bytes, "there is no %s (semcache built without %s?)", path, backend->title);
    else
        snprintf(text, bytes, "%s", backend->unusable);
    return !present ? SC_LACK_MACHINE : access(path, R_OK) != 0 ? SC_LACK_MODULE : SC_LACK_DEVICE;
}

uint64_t sc_device_least_space(void)
{
    uint64_t least = 0;

    for (int i = 0; i < BACKENDS; i++)
        least = backends[i]->least_space > least ? backends[i]->least_space : least;
    return least;
}

const char *sc_device_of_auto(void)
{
    bool present;
    const struct sc_device_backend *backend = first_of_auto(&present);

    return present ? backend->name : NULL;
}

bool sc_device_expected(const char *setting)
{
    const char *spec;
    bool present;

    if (is_auto(setting))
        return first_of_auto(&present) && present;
    return !is_none(setting) && named(setting, &spec);
}
/* SPDX-License-Identifier: BSD-2-Clause */
