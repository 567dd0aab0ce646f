/* What the host's fault engine asks of the protocol (libsemcache wires these into host's callbacks). */
#ifndef SC_COHERENCE_FAULTS_H
#define SC_COHERENCE_FAULTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/types.h"
#include "host/host.h"

/* On the pager thread.  Makes the page of `addr` accessible, having brought home about `window` bytes around it (a
 * read) or about 64 KiB of sectors around it (a write). */
enum sc_fault_answer sc_coherence_fault(uintptr_t addr, enum sc_access access, struct sc_host_code code, size_t window);

/* On the pager thread, while sc_coherence_fault waits for another request.  True: the page of `addr` can be read,
 * because its data has landed.  Opens the landed sectors behind it, too.  False: transfers of the page may have been
 * started.  Never waits. */
bool sc_coherence_fault_landed(uintptr_t addr, struct sc_host_code code);

/* Starts bringing [addr, addr + bytes) home without waiting for it. */
void sc_coherence_read_ahead(uintptr_t addr, size_t bytes);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
