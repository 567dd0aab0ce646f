/* Shared by the files of the public interface. */
#ifndef SC_LIBSEMCACHE_PUBLIC_H
#define SC_LIBSEMCACHE_PUBLIC_H

#include "semcache/semcache.h"

#include "base/status.h"

enum semcache_status sc_public_status(enum sc_status status);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
