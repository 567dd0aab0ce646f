#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/write.h"

enum sc_log_level sc_log_threshold = SC_LOG_WARN;
void (*sc_log_receiver)(enum sc_log_level level, const char *text);

void sc_log(enum sc_log_level level, const char *format, ...)
{
    static const char *const names[] = {"error", "warning", "info", "debug"};
    char line[1024];
    int saved = errno, length, prefix;
    va_list args;

    if (level > sc_log_threshold && !sc_log_receiver)
        return;
    prefix = length = snprintf(line, sizeof line, "semcache: %s: ", names[level]);
    va_start(args, format);
    length += vsnprintf(line + length, sizeof line - (size_t)length - 1, format, args);
    va_end(args);
    if (length > (int)sizeof line - 2)
        length = (int)sizeof line - 2;
    if (sc_log_receiver) {
        line[length] = '\0';
        sc_log_receiver(level, line + prefix);
        errno = saved;
        return;
    }
    line[length++] = '\n';
    /* A single write, so that lines of several threads do not mix.  A closed stderr is no error. */
    sc_write_all(STDERR_FILENO, line, (size_t)length);
    errno = saved;
}
/* SPDX-License-Identifier: BSD-2-Clause */
