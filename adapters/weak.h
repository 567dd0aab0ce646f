/* The functions of libsemcache that adapters call. Without libsemcache in the process the addresses are NULL. */
#ifndef SC_ADAPTERS_WEAK_H
#define SC_ADAPTERS_WEAK_H

#include "semcache/semcache.h"

#pragma weak semcache_acquire
#pragma weak semcache_device_count
#pragma weak semcache_try_axpby
#pragma weak semcache_try_divide
#pragma weak semcache_try_dot
#pragma weak semcache_try_dots
#pragma weak semcache_try_multiply
#pragma weak semcache_try_sparse
#pragma weak semcache_try_sparse_columns

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
