/* The next definition of an interposed function in the order of libraries, usually libc's. */
#ifndef SC_HOST_NEXT_H
#define SC_HOST_NEXT_H

#include <stddef.h>
#include <stdint.h>

/* Looks the function up and stores its address in *slot.  Not for signal handlers.  Keeps errno. */
void *sc_host_next_find(void **slot, const char *name);

/* The next definition, kept in *slot.  The slot is filled when the library is loaded, or at an earlier call by the
 * constructor of a different library. */
static inline void *sc_host_next(void **slot, const char *name)
{
    void *next = __atomic_load_n(slot, __ATOMIC_RELAXED);

    return __builtin_expect(next != NULL, 1) ? next : sc_host_next_find(slot, name);
}

/* For hundreds of functions when the library is loaded.  dlsym takes 1400 instructions for each; a search of the
 * symbol tables (System V ABI, DT_GNU_HASH) takes 200.  Only for constructors: a library may be closed later. */
enum { SC_HOST_NEXTS_MAX = 64 };
struct sc_host_nexts {
    int count; /* files after this one in the order of libraries; 0: the order is not known */
    struct sc_host_symbols {
        uintptr_t base;
        const uint32_t *hash; /* counts of buckets, of symbols before the first, of words of the filter; shift; filter;
                               * buckets; chains */
        const void *symbols;
        const char *names;
        const uint16_t *version; /* of each symbol; NULL: none */
    } file[SC_HOST_NEXTS_MAX];
};
void sc_host_nexts_open(struct sc_host_nexts *nexts);
/* The next definition; NULL: dlsym has to be asked. */
void *sc_host_nexts_find(const struct sc_host_nexts *nexts, const char *name);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
