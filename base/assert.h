/* Assertions: conditions of the library's own correctness.  On when configured with --enable-assertions
 * and NDEBUG is not defined.  Otherwise a condition is compiled and never evaluated: it has no side effects. */
#ifndef SC_BASE_ASSERT_H
#define SC_BASE_ASSERT_H

#include <config.h> /* SC_ASSERTIONS: objects of a build without are out of date in a build with assertions */

#if defined SC_ASSERTIONS && !defined NDEBUG
/* Reports the failure in one line and traps: the process dies of a signal, or stops here in a debugger. */
_Noreturn void sc_assert_failed(const char *condition, const char *function, const char *file, int line);
#define sc_assert_that(condition, text) \
    (__builtin_expect(!(condition), 0) ? sc_assert_failed(text, __func__, __FILE__, __LINE__) : (void)0)
#else
#define sc_assert_that(condition, text) ((void)sizeof(!(condition)))
#endif
#define sc_assert(condition) sc_assert_that(condition, #condition)

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
