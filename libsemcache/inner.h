/* Functions of the library for libsemcache-cuda-um beside the public names (semcache.h and the BLAS).  The two
 * libraries are built and installed together; no third library uses the interface.  A table holds the
 * functions; only the table is visible outside the library. */
#ifndef SC_LIBSEMCACHE_INNER_H
#define SC_LIBSEMCACHE_INNER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"
#include "base/log.h"
#include "coherence/lend.h"
#include "sparse/sparse.h"

#define SC_LIBRARY_INNER_ABI 8

/* What libsemcache-cuda-um does for semcache_malloc, semcache_free and semcache_lend.  Static. */
struct sc_library_server {
    void *(*alloc)(size_t bytes); /* NULL: ordinary memory is to be used */
    bool (*free)(void *memory);   /* false: not its memory */
    bool (*lend)(int device, const void *const *memory, int count); /* false: a block of other memory */
};

struct sc_library_inner {
    uint32_t abi, size;
    void (*log)(enum sc_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
    bool (*computes)(void); /* there is a host BLAS */
    bool (*armed)(void);    /* computes(), and devices are expected, open, or closed again */
    bool (*emulated)(void); /* the setting names emulated devices */
    bool (*holds)(const void *memory); /* the memory may be on a device */
    /* Opens the devices if necessary and pins the memory.  False, with nothing pinned: no device, or a
     * refusal by the device. */
    bool (*pin)(const void *memory);
    /* The address in the second mapping of the host's memory: at the first address of united memory, copies by the
     * device's driver find the memory of the device.  Other addresses are returned unchanged. */
    void *(*alias)(const void *memory);
    /* Functions of coherence/lend.h.  united_alloc opens the devices if necessary. */
    __typeof__(sc_coherence_united_alloc) *united_alloc;
    __typeof__(sc_coherence_separate) *separate;
    __typeof__(sc_coherence_lends) *lends;
    __typeof__(sc_coherence_lend) *lend;
    __typeof__(sc_coherence_lend_again) *lend_again;
    __typeof__(sc_coherence_spare) *spare;
    enum sc_um_kernels (*kernels)(void); /* the setting */
    void (*serve)(const struct sc_library_server *server); /* once, at loading */
    /* Number of calls run on devices so far.  While the number is constant, no data leaves the host. */
    uint64_t (*calls)(void);
    /* Functions of sparse/sparse.h. */
    __typeof__(sc_sparse_find) *sparse_find;
    __typeof__(sc_sparse_destroy) *sparse_destroy;
    __typeof__(sc_sparse_mv) *sparse_mv;
    __typeof__(sc_sparse_mm) *sparse_mm;
    __typeof__(sc_sparse_sv) *sparse_sv;
    __typeof__(sc_sparse_sm) *sparse_sm;
};

/* Returns a static table, valid from the start of the process. */
__attribute__((visibility("default"))) const struct sc_library_inner *sc_library_inner(void);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
