/* Pages, the units of memory protection. */
#ifndef SC_BASE_PAGE_H
#define SC_BASE_PAGE_H

#include <stdint.h>

#define SC_PAGE 4096u
#define SC_PAGE_SHIFT 12

/* An address or a number of bytes, rounded to whole pages. */
static inline uintptr_t sc_page_floor(uintptr_t x) { return x & ~(uintptr_t)(SC_PAGE - 1); }
static inline uintptr_t sc_page_ceil(uintptr_t x) { return sc_page_floor(x + SC_PAGE - 1); }

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
