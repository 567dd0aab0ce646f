/* SEMCACHE_CHECK=2: system calls that pass libc by are trapped, served and named.  A debugging aid: about 2 us for each
 * such call. */
#ifndef SC_HOST_STRICT_H
#define SC_HOST_STRICT_H

#include <stdint.h>

/* What the kernel looks at on a system call from outside libc: 0 lets it pass, 1 sends SIGSYS. */
extern __thread volatile uint8_t sc_host_strict_selector __attribute__((tls_model("initial-exec")));

#endif
