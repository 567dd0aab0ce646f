/* Random calls of any routine of blas/veneers/routines.tab on overlapping parts of a few arrays. There are two copies
 * of the arrays: the target, which the library may keep on devices, and a copy for the host BLAS alone. Values are
 * small integers: however sums are cut, the copies are equal to the bit, except for the sign of zero. */
#ifndef SC_TESTS_BLAS_CALLS_H
#define SC_TESTS_BLAS_CALLS_H

#include "blas/blas_int.h"
#include "tests/blas_random.h"

enum { CALLS_ARRAYS = 3, CALLS_ELEMENTS = 20000, CALLS_LINE = 157 /* rows of an array seen as a matrix */ };

struct calls_arrays {
    enum sc_type type;
    char *target[CALLS_ARRAYS], *copy[CALLS_ARRAYS];
};

/* The choices of a routine, except for sizes and numbers. */
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
    struct calls_place place[SC_VIEWS_MAX];
    int operands;
    bool wide; /* by a name with 64-bit integers */
    union {
        float s[5];
        double d[5];
    } param;
};

/* Lists the combinations of letters that a routine allows, at most `most` of them. Returns their number; 0: struct
 * sc_blas_call cannot describe the routine's arguments. */
int calls_flags_of(int routine, struct calls_flags *list, int most);
/* Whether devices would be asked for such a call. */
bool calls_for_devices(const struct calls_flags *flags);
/* Whether the routine returns a complex number. Compilers do not agree on the Fortran form of such functions. */
bool calls_is_complex_function(const struct sc_blas_row *row);

/* calls_put writes an element of the two copies, calls_put_any a small random element. */
void calls_put(struct calls_arrays *arrays, int array, int64_t at, double re, double im);
void calls_put_any(struct calls_arrays *arrays, int array, int64_t at, struct random *r);
double calls_real(enum sc_type type, const char *memory, int64_t real); /* the real-th real number */
static inline int calls_reals(enum sc_type type) { return sc_type_is_complex(type) ? 2 : 1; }
static inline size_t calls_real_bytes(enum sc_type type) { return type == SC_S || type == SC_C ? 4 : 8; }

/* Chooses sizes, scalars and places. Writes the two copies first if numbers would grow too large, if the call solves
 * with a triangle, or if elements that must not be read are set to NaN. */
void calls_make(struct calls_call *call, const struct calls_flags *flags, struct calls_arrays *arrays,
                struct random *r);
/* After the call: replaces NaN by numbers. */
void calls_clean(const struct calls_call *call, struct calls_arrays *arrays, struct random *r);

/* The same call on the host BLAS's copy. */
struct sc_blas_call calls_on_copy(const struct calls_call *call, const struct calls_arrays *arrays);
bool calls_covers(const struct calls_place *place, int array, int64_t element);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
