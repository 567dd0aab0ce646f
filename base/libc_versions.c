#include "base/libc_versions.h"

int sc_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex) { return pthread_cond_wait(cond, mutex); }
/* SPDX-License-Identifier: BSD-2-Clause */
