/* "This thread is inside semcache": while the count is not zero, the interposed malloc family and libc calls pass
 * straight to libc, and the BLAS veneers pass straight to the host BLAS.  Worker threads of the library enter once and
 * never leave. */
#ifndef SC_BASE_INSIDE_H
#define SC_BASE_INSIDE_H

extern __thread int sc_inside_depth __attribute__((tls_model("initial-exec")));

static inline void sc_inside_enter(void) { sc_inside_depth++; }
static inline void sc_inside_leave(void) { sc_inside_depth--; }
static inline int sc_inside(void) { return sc_inside_depth != 0; }

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
