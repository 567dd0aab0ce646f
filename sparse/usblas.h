/* The names of the BLAS standard's Sparse BLAS, on top of sparse.h: handles, and macros for the four types in C and
 * Fortran.
 *
 *   usblas_handle.c  creation, properties, destruction;
 *   usblas_insert.c  insertion, and assembly at the end;
 *   usblas_call.c    products and solves;
 *   usblas_vector.c  sparse vectors;
 *   usblas_access.c  librsb's additions: access to entries after the end.
 *
 * A Fortran name is the C function with pointers as arguments and a last argument for the result.  Its spellings are
 * blas_dusmv_ (librsb's spelling) and dusmv_.  Matrices begun by a Fortran name count from 1. */
#ifndef SC_SPARSE_USBLAS_H
#define SC_SPARSE_USBLAS_H

#include <pthread.h>

#include "base/log.h"
#include "sparse/sparse.h"

#pragma GCC visibility push(default)
#include "semcache/blas_sparse.h"
#pragma GCC visibility pop

/* librsb's own properties.  Properties missing here (6660 to 6666, 9993 to 9997) only affect librsb's methods. */
enum { SC_USBLAS_OVERWRITE = 9998, SC_USBLAS_SUM = 9999 };

/* The matrix of a handle.  The table's lock (usblas_handle.c) protects `users`.  `lock` protects the other members
 * until the matrix is ended; later they are constant. */
struct sc_usblas {
    pthread_mutex_t lock;
    unsigned users;
    enum sc_type type;
    int64_t rows, cols;
    int64_t block_rows, block_cols; /* for blocks of equal size */
    /* NULL, or the boundaries of rows and columns of blocks of different sizes. */
    int32_t *row_at, *col_at;
    int64_t blocks_down, blocks_across;
    int base;
    struct sc_sparse_descr descr;
    /* The last entry at a position counts, not the sum. */
    bool overwrites;
    int order, hint;                /* properties without effect: blas_rowmajor, blas_regular... */
    /* Until the end: the entries in order of insertion, counted from 0. */
    int32_t *row, *col;
    char *values;
    int64_t count, room;
    bool opened;                    /* an entry has been inserted */
    /* From the end on, else NULL: CSR with sorted columns and its own arrays. */
    struct sc_sparse_matrix *matrix;
    bool singular;                  /* a triangular matrix with a missing diagonal element */
};

enum sc_usblas_want { SC_USBLAS_ANY, SC_USBLAS_OPEN, SC_USBLAS_ENDED };

/* Takes the matrix of a handle, locked if `want` is not ENDED, until sc_usblas_give.  NULL after a line that begins
 * with `name`:  no such matrix, another type (-1: any type), or another state. */
struct sc_usblas *sc_usblas_take(int handle, const char *name, int type, enum sc_usblas_want want);
void sc_usblas_give(struct sc_usblas *m, enum sc_usblas_want want);

/* Ends the insertion.  The matrix is locked. */
enum sc_status sc_usblas_assemble(struct sc_usblas *m);
/* Index of an entry in the values of the ended matrix, with rows and columns from 0; -1: no such entry. */
int64_t sc_usblas_find(const struct sc_usblas *m, int64_t row, int64_t col);

int sc_usblas_wrong(const char *name, const char *what); /* prints a line and returns -1 */
static inline int sc_usblas_result(enum sc_status status)
{
    return status == SC_OK ? 0 : -1;
}
void sc_usblas_scalar(double out[2], enum sc_type type, const void *scalar);

/* --- the macros --------------------------------------------------------------------------------------------------- */

/* M(letter, type, element, scalar, address of a scalar argument) */
#define SC_USBLAS_TYPES(M)                                                                                           \
    M(s, SC_S, float, float, SC_USBLAS_VALUE)                                                                        \
    M(d, SC_D, double, double, SC_USBLAS_VALUE)                                                                      \
    M(c, SC_C, void, const void *, SC_USBLAS_POINTER)                                                                \
    M(z, SC_Z, void, const void *, SC_USBLAS_POINTER)
#define SC_USBLAS_VALUE(scalar) (&(scalar))
#define SC_USBLAS_POINTER(scalar) (scalar)

/* Begins the definition of a Fortran name; declares the name, because no header does. */
#define SC_USBLAS_FORTRAN(name, ...)                                                                                 \
    __attribute__((visibility("default"))) void blas_##name##_(__VA_ARGS__);                                         \
    extern __typeof__(blas_##name##_) name##_ __attribute__((alias("blas_" #name "_"), visibility("default")));      \
    void blas_##name##_(__VA_ARGS__)
/* Begins the definition of a C name missing in the header. */
#define SC_USBLAS_FUNCTION(result, name, ...)                                                                        \
    __attribute__((visibility("default"))) result name(__VA_ARGS__);                                                 \
    result name(__VA_ARGS__)

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
