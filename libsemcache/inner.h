/* What libsemcache-cuda-um uses of the library beside its public names (semcache.h and the BLAS): the two are built and
 * installed together, and this is no interface for others.  A table, because all else is hidden. */
#ifndef SC_LIBSEMCACHE_INNER_H
#define SC_LIBSEMCACHE_INNER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"
#include "sparse/sparse.h"

#define SC_LIBRARY_INNER_ABI 1

struct sc_library_inner {
    uint32_t abi, size;
    void (*log)(enum sc_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
    bool (*computes)(void); /* there is a host BLAS */
    bool (*armed)(void);    /* and devices are expected, or open, or have been */
    bool (*emulated)(void); /* the devices asked for are emulated ones */
    bool (*holds)(const void *memory); /* it may be on a device */
    /* Opens the devices if need be and pins the memory for them; false: it is not (no devices, or they cannot). */
    bool (*pin)(const void *memory);
    uint64_t (*calls)(void); /* that have run on devices so far: while it stands, nothing leaves the host */
    /* sparse.h, under the same names */
    __typeof__(sc_sparse_find) *sparse_find;
    __typeof__(sc_sparse_destroy) *sparse_destroy;
    __typeof__(sc_sparse_mv) *sparse_mv;
    __typeof__(sc_sparse_mm) *sparse_mm;
    __typeof__(sc_sparse_sv) *sparse_sv;
    __typeof__(sc_sparse_sm) *sparse_sm;
};

/* Static; from the start of the process on. */
__attribute__((visibility("default"))) const struct sc_library_inner *sc_library_inner(void);

#endif
