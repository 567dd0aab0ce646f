/* SEMCACHE_CHECK=2: system calls past libc are trapped, served and logged.  A debugging aid that costs about 2 us
 * for each trapped call. */
#ifndef SC_HOST_STRICT_H
#define SC_HOST_STRICT_H

#include <stdint.h>

/* Read by the kernel at a system call from outside libc: 0 lets the call pass, 1 sends SIGSYS. */
extern __thread volatile uint8_t sc_host_strict_selector __attribute__((tls_model("initial-exec")));

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
