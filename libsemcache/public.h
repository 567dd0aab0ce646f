/* Shared by the files of the public interface. */
#ifndef SC_LIBSEMCACHE_PUBLIC_H
#define SC_LIBSEMCACHE_PUBLIC_H

#include "semcache/semcache.h"

#include "base/status.h"
#include "libsemcache/inner.h"

enum semcache_status sc_public_status(enum sc_status status);

/* one_address.c: sets and returns what serves semcache_malloc; NULL: nothing but the library itself. */
void sc_library_serve(const struct sc_library_server *server);
const struct sc_library_server *sc_library_server(void);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
