/* Messages: one line on stderr each, never on stdout, never through stdio.  Thread safe; not for signal handlers. */
#ifndef SC_BASE_LOG_H
#define SC_BASE_LOG_H

enum sc_log_level { SC_LOG_ERROR, SC_LOG_WARN, SC_LOG_INFO, SC_LOG_DEBUG };

extern enum sc_log_level sc_log_threshold; /* WARN unless set */

/* If not NULL, receives every message of any level instead of stderr, without the prefix: for tools that print findings
 * in a form of their own.  Set while the process has one thread. */
extern void (*sc_log_receiver)(enum sc_log_level level, const char *text);

/* Prints "semcache: LEVEL: text" and a newline if level <= threshold. */
void sc_log(enum sc_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* As sc_log, at most once per call site in the process. */
#define sc_log_once(level, ...)                                             \
    do {                                                                    \
        static int sc_said_;                                                \
        if (!__atomic_exchange_n(&sc_said_, 1, __ATOMIC_RELAXED))           \
            sc_log(level, __VA_ARGS__);                                     \
    } while (0)

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
