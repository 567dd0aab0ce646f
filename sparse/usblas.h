/* The names of the BLAS standard's Sparse BLAS, over sparse.h: handles and the macros that make four types of each, for
 * C and for Fortran.
 *
 *   usblas_handle.c  begun, properties, destroyed     usblas_insert.c  entries, and what becomes of them at the end
 *   usblas_call.c    products and solves              usblas_vector.c  sparse vectors
 *   usblas_access.c  librsb's additions: entries looked at and changed after the end
 *
 * A Fortran name is the C function with pointers for arguments and a last one for the result, as blas_dusmv_ (librsb's
 * spelling) and dusmv_; matrices that are begun by one count from 1. */
#ifndef SC_SPARSE_USBLAS_H
#define SC_SPARSE_USBLAS_H

#include <pthread.h>

#include "base/log.h"
#include "sparse/sparse.h"

#pragma GCC visibility push(default)
#include "semcache/blas_sparse.h"
#pragma GCC visibility pop

/* librsb's own properties.  Those that are not here (6660 to 6666, 9993 to 9997) choose how it works. */
enum { SC_USBLAS_OVERWRITE = 9998, SC_USBLAS_SUM = 9999 };

/* What a handle stands for.  `users` changes with the table's lock (usblas_handle.c); the rest with `lock` until the
 * matrix is ended, and then not any more. */
struct sc_usblas {
    pthread_mutex_t lock;
    unsigned users;
    enum sc_type type;
    int64_t rows, cols;
    int64_t block_rows, block_cols; /* of blocks of one size */
    int32_t *row_at, *col_at;       /* NULL, or where rows and columns of blocks of several sizes begin, and the end */
    int64_t blocks_down, blocks_across;
    int base;
    struct sc_sparse_descr descr;
    bool overwrites;                /* the last entry of a place counts, not the sum */
    int order, hint;                /* properties that change nothing: blas_rowmajor, blas_regular... */
    /* until the end: entries in the order in which they came, from 0 */
    int32_t *row, *col;
    char *values;
    int64_t count, room;
    bool opened;                    /* there was an insertion */
    /* from the end on, else NULL: CSR with sorted columns, arrays of its own */
    struct sc_sparse_matrix *matrix;
    bool singular;                  /* triangular, and an element of the diagonal is missing */
};

enum sc_usblas_want { SC_USBLAS_ANY, SC_USBLAS_OPEN, SC_USBLAS_ENDED };

/* The matrix of a handle, locked if `want` is not ENDED, until it is given back.  NULL after a line that begins with
 * `name`: no such matrix, not of this type (-1: any), not in this state. */
struct sc_usblas *sc_usblas_take(int handle, const char *name, int type, enum sc_usblas_want want);
void sc_usblas_give(struct sc_usblas *m, enum sc_usblas_want want);

/* Ends it; locked. */
enum sc_status sc_usblas_assemble(struct sc_usblas *m);
/* Where the entry is in the values of the ended matrix, rows and columns from 0; -1: nothing is stored there. */
int64_t sc_usblas_find(const struct sc_usblas *m, int64_t row, int64_t col);

int sc_usblas_wrong(const char *name, const char *what); /* a line; -1 */
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

/* A Fortran name: declared, since no header has it, and begun. */
#define SC_USBLAS_FORTRAN(name, ...)                                                                                 \
    __attribute__((visibility("default"))) void blas_##name##_(__VA_ARGS__);                                         \
    extern __typeof__(blas_##name##_) name##_ __attribute__((alias("blas_" #name "_"), visibility("default")));      \
    void blas_##name##_(__VA_ARGS__)
/* A C name that is not in the header. */
#define SC_USBLAS_FUNCTION(result, name, ...)                                                                        \
    __attribute__((visibility("default"))) result name(__VA_ARGS__);                                                 \
    result name(__VA_ARGS__)

#endif
