/* Random calls of any routine of routines.tab, on parts of a few arrays that overlap as they like.  There are two
 * copies of all arrays: the target, which the library may keep on devices, and one for the host BLAS alone.  All
 * numbers are small integers, so both are equal to the bit (the sign of zero apart), however sums are cut. */
#ifndef SC_TESTS_BLAS_CALLS_H
#define SC_TESTS_BLAS_CALLS_H

#include "blas/blas_int.h"
#include "tests/blas_random.h"

enum { CALLS_ARRAYS = 3, CALLS_ELEMENTS = 20000, CALLS_LINE = 157 /* rows of the matrix that an array is */ };

struct calls_arrays {
    enum sc_type type;
    char *target[CALLS_ARRAYS], *copy[CALLS_ARRAYS];
};

/* What can be chosen for a routine, sizes and numbers apart. */
struct calls_flags {
    int routine;
    char order; /* SC_BLAS_FORTRAN, ... */
    char side, uplo, transa, transb, diag;
};

/* Where an operand lies: elements at + row + col * step of an array (a vector has one row). */
struct calls_place {
    char letter; /* A, B, C, P(acked), X, Y */
    enum sc_access access;
    int array;
    int64_t at, rows, cols, step;
};

struct calls_call {
    struct sc_blas_call call; /* operands: in the target */
    struct calls_place place[SC_BLAS_OPERANDS_MAX];
    int operands;
    bool wide; /* by a name with 64-bit integers */
    union {
        float s[5];
        double d[5];
    } param;
};

/* All combinations that a routine allows; the number (0: struct sc_blas_call cannot describe its arguments).  `list`
 * has room for `most` of them. */
int calls_flags_of(int routine, struct calls_flags *list, int most);
/* Would devices be asked for such a call? */
bool calls_for_devices(const struct calls_flags *flags);
/* Does the routine return a complex number, and has it thus no Fortran form that all compilers agree on? */
bool calls_is_complex_function(const struct sc_blas_row *row);

/* Writes an element of both copies, or a random small one. */
void calls_put(struct calls_arrays *arrays, int array, int64_t at, double re, double im);
void calls_put_any(struct calls_arrays *arrays, int array, int64_t at, struct random *r);
double calls_real(enum sc_type type, const char *memory, int64_t real); /* the real-th real number */
static inline int calls_reals(enum sc_type type) { return sc_type_is_complex(type) ? 2 : 1; }
static inline size_t calls_real_bytes(enum sc_type type) { return type == SC_S || type == SC_C ? 4 : 8; }

/* Chooses sizes, scalars and places.  Where numbers would grow too large, a triangle is to be solved with, or what may
 * not be read is made not a number, both copies are written first. */
void calls_make(struct calls_call *call, const struct calls_flags *flags, struct calls_arrays *arrays,
                struct random *r);
/* Afterwards: what is not a number is one again. */
void calls_clean(const struct calls_call *call, struct calls_arrays *arrays, struct random *r);

/* The call on the other copy. */
struct sc_blas_call calls_on_copy(const struct calls_call *call, const struct calls_arrays *arrays);
bool calls_covers(const struct calls_place *place, int array, int64_t element);

#endif
