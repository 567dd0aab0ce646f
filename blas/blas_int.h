/* Shared by the generated veneers and tables with the generic code of blas/.  A BLAS call is a struct sc_blas_call.
 * The code depends on the routine only through the routine's row of sc_blas_rows. */
#ifndef SC_BLAS_BLAS_INT_H
#define SC_BLAS_BLAS_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "autotuner/explain.h"
#include "autotuner/host_rates.h"
#include "base/inside.h"
#include "blas/blas.h"
#include "ops/ops.h"
#include "trace/trace.h"

typedef int32_t sc_blas_int; /* the BLAS's INTEGER in names without a 64, unless sc_blas_wide */

/* Interface of a call: Fortran's, or the CBLAS's with the storage order ('?': an invalid order). */
enum { SC_BLAS_FORTRAN = 'F', SC_BLAS_COLUMNS = 'C', SC_BLAS_ROWS = 'R' };

union sc_blas_scalar {
    float s, sc[2];
    double d, dz[2];
    float _Complex c;
    double _Complex z;
    int64_t i;
};

/* The arguments of any BLAS routine.  Letters that the routine does not have are 0; invalid letters are '?'. */
struct sc_blas_call {
    int routine;
    enum sc_type type;
    char order;
    char transa, transb, side, uplo, diag;
    bool loops;            /* on the host the program has a loop of its own on one processor: for decisions */
    bool conj;             /* set by the row-major conversion: the Fortran routine would need conjugated vectors */
    int64_t m, n, k, kl, ku, lda, ldb, ldc, incx, incy;
    double alpha[2], beta[2];
    void *a, *b, *c, *x, *y; /* a: also a packed matrix */
    const void *param;     /* parameters of rotm */
    union sc_blas_scalar result;
};

/* A row of routines.tab for a single type. */
struct sc_blas_row {
    const char *name;                 /* "dgemm" */
    const char *fortran, *cblas;      /* "dgemm_", "cblas_dgemm" */
    int level;
    int op;                           /* enum sc_op, or -1: always on the host */
    enum sc_type type;
    bool scale_real;
    const char *arguments;            /* of the Fortran routine, in order: "side uplo m n alpha A lda B ldb" */
    void (*columns)(struct sc_blas_call *call); /* row-major to column-major arguments; NULL: no matrices */
};
extern const struct sc_blas_row sc_blas_rows[]; /* [0] is unused */
extern const int sc_blas_routines;              /* number of rows, with the unused row */

/* Names of the operands of a routine that has an operation, in their order: A, B, C, P(acked), X, Y. */
static inline const char *sc_blas_letters(int routine) { return sc_ops[sc_blas_rows[routine].op].letters; }
/* Column-major arguments as a record, without the result and the parameters of rotm.  The operands go there in their
 * order, with two exceptions: B and C go by name, and an updated A follows the vectors. */
struct sc_kernel sc_blas_call_as_kernel(const struct sc_blas_call *call);
/* The operands of column-major arguments; returns their number. */
int sc_blas_call_views(const struct sc_blas_call *call, struct sc_view view[SC_VIEWS_MAX]);

/* The next step of a veneer. */
enum sc_blas_next {
    SC_BLAS_DONE, /* the devices have run the call or queued it */
    SC_BLAS_HOST, /* call the host routine, under sc_inside */
    /* Call the host routine without sc_inside: it will report bad arguments to an xerbla that may never return. */
    SC_BLAS_PLAIN
};
/* The part of a veneer for calls that are not small.  Converts row-major arguments in place. */
enum sc_blas_next sc_blas_large(struct sc_blas_call *call);

/* True when the BLAS standard allows the arguments (in column-major form). */
bool sc_blas_call_valid(const struct sc_blas_call *call);
/* Position of the first invalid argument of a Fortran call, from 1 as for xerbla; 0 when every argument is valid. */
int sc_blas_call_wrong(const struct sc_blas_call *call);

/* Replaces increments that wrap around the end of the address space by equivalent increments that do not.  The
 * increment of a single vector stays if the routine would do nothing or go backwards, because libraries differ in
 * these cases. */
void sc_blas_call_unwrap(struct sc_blas_call *call);
/* Converts the call to an equivalent call with 32-bit integers.  False: impossible. */
bool sc_blas_call_narrow(struct sc_blas_call *call);
/* False for a size that no memory can hold.  Sums and products of such sizes may overflow. */
#define SC_BLAS_SIDE_MAX ((int64_t)1 << 47)
#define SC_BLAS_PACKED_MAX ((int64_t)1 << 28) /* order n of a packed matrix, with n (n + 1) / 2 elements */
bool sc_blas_call_fits(const struct sc_blas_call *call);

/* An operand under its name in the program's call: A, B, C, P(acked), X, Y, with the leading dimension or increment
 * as passed. */
struct sc_blas_named {
    struct sc_view shape; /* a vector as a matrix of one row */
    char letter;
    int64_t step;
};
/* Names the operands of a call before its conversion, in the order of the views.  Returns their number. */
int sc_blas_name_operands(const struct sc_blas_call *asked, struct sc_blas_named *named);

/* Fills the record for the devices.  False when devices do not serve such a call. */
bool sc_blas_call_kernel(struct sc_blas_call *call, struct sc_kernel *kernel);

/* Writes a call to the trace as the program made it, before the conversion.  Called only when sc_trace_on. */
void sc_blas_record(const struct sc_blas_call *asked);
/* The same for a whole routine of LAPACK. */
void sc_blas_record_lapack(const struct sc_kernel *kernel);

/* --- the host's routines ------------------------------------------------------------------------------------------ */

typedef void (*sc_blas_fn)(void);
enum sc_blas_interface { SC_BLAS_F77, SC_BLAS_CBLAS, SC_BLAS_F77_64, SC_BLAS_CBLAS_64, SC_BLAS_INTERFACES };

/* The host's routines, by interface and routine.  Before the first call of the interface an entry is a generated stub,
 * which calls sc_blas_resolve.  Racing first calls write the same value with release order; the entry never changes
 * again. */
extern sc_blas_fn sc_blas_host[SC_BLAS_INTERFACES][SC_TRACE_ROUTINES_MAX];

/* Names of libraries to try as host BLAS, ended by NULL.  Tests set other names before the first sc_blas_host_open. */
extern const char *const *sc_blas_host_candidates;
/* The open libraries that serve calls on the host: the program's own by interface, and the host BLAS.  A library may
 * be there twice.  Returns their number. */
enum { SC_BLAS_HOST_LIBRARIES = SC_BLAS_INTERFACES + 1 };
int sc_blas_host_libraries(void *library[SC_BLAS_HOST_LIBRARIES]);
/* Routines made of other routines of the host, in the form of the table above.  sc_blas_via_fortran: CBLAS made of
 * Fortran, for hosts without a CBLAS ([1]: 64-bit integers). */
extern const sc_blas_fn sc_blas_via_fortran[2][SC_TRACE_ROUTINES_MAX];
/* sc_blas_narrow: 64-bit integers ([0]: Fortran, [1]: CBLAS) made of 32-bit integers, when the values fit. */
extern const sc_blas_fn sc_blas_narrow[2][SC_TRACE_ROUTINES_MAX];
/* sc_blas_of_hidden: complex functions that return by value, made of those in sc_blas_hidden, which have a hidden
 * argument ([1]: 64-bit integers). */
extern const sc_blas_fn sc_blas_of_hidden[2][SC_TRACE_ROUTINES_MAX];
extern sc_blas_fn sc_blas_hidden[2][SC_TRACE_ROUTINES_MAX];

/* host_abi.c: names and calling conventions of a library's routines.  `name` is, for example, "dgemm". */
sc_blas_fn sc_blas_abi_symbol(void *library, enum sc_blas_interface interface, const char *name); /* or NULL */
sc_blas_fn sc_blas_abi_routine(void *library, enum sc_blas_interface interface, int routine);
bool sc_blas_abi_is_wide(void *library);         /* true when integers of plain names have 64 bits */
/* True when a complex function stores its value through a first argument. */
bool sc_blas_abi_is_hidden(sc_blas_fn zdotu);
enum { SC_BLAS_SYMBOL_MAX = 64 };
/* The spelling number `which` (from 0) of a name in the interface.  False: there is no such number. */
bool sc_blas_abi_spell(char symbol[SC_BLAS_SYMBOL_MAX], enum sc_blas_interface interface, int which, const char *name);
/* Wraps a complex function with a hidden argument as a function that returns by value.  Returns other routines
 * unchanged. */
sc_blas_fn sc_blas_abi_by_value(sc_blas_fn fn, int routine, bool wide, bool hidden);
/* False for addresses in this library and in the program itself.  The program's definition may be a stub that leads
 * back to this library (libsemcache/rebind.c). */
bool sc_blas_abi_is_others(const void *address);
/* The definition that the program would use without this library, or NULL. */
void *sc_blas_abi_displaced(const char *name);
/* The BLAS that the program would use without this library, if its integers have 64 bits. */
void *sc_blas_abi_program_wide(void);

/* program.c: the routine that this thread's call would have reached without this library, or the routine of a 64-bit
 * library of the system, or NULL.  Thread safe.  The first call from each loaded object searches. */
sc_blas_fn sc_blas_of_program(int routine, enum sc_blas_interface interface);
/* The library of that routine, kept open, if it is an optimised BLAS (OpenBLAS, MKL, BLIS, ...); else NULL.  Never a
 * 64-bit library of the system.  Searches each time. */
void *sc_blas_optimised_of_program(int routine, enum sc_blas_interface interface);
/* A symbol that marks a library, or a library that it needs, as an optimised BLAS.  NULL for the reference BLAS and
 * for unknown libraries. */
void *sc_blas_optimised_mark(void *library);
/* A routine of that library in the form that the veneers call, or NULL. */
sc_blas_fn sc_blas_program_routine(void *library, int routine, enum sc_blas_interface interface);
/* A routine outside routines.tab, with the number `which`: the program's, or else the host BLAS's. */
enum { SC_BLAS_OTHER_BATCH = 56, SC_BLAS_OTHER_NAMES = SC_BLAS_OTHER_BATCH + 32 }; /* BATCH: of batch.c */
sc_blas_fn sc_blas_other_of_program(int which, const char *name);
/* The same for a symbol without a number, or else for the name behind "scipy_": searches each time. */
sc_blas_fn sc_blas_named_of_program(const char *symbol);
/* An error handler, called from `from`: the one that a BLAS without semcache would call.  The dynamic linker searches
 * the global scope first, and then the scope of the library that calls the BLAS.  (If the BLAS complains, this is the
 * library of the thread's last noted call; small calls are not noted.)  Else the host BLAS's; NULL: none. */
sc_blas_fn sc_blas_handler_of_program(const char *name, const void *from);
/* Notes the return address of this thread's call.  Addresses in this library are ignored. */
void sc_blas_called_from(const void *address);
/* This thread's call comes from the LAPACK of an optimised BLAS, as NumPy's wheels and OpenBLAS have one. */
bool sc_blas_called_by_lapack(void);
/* Largest number of elements of a vector in a single call of the host: INT32_MAX, or less in tests. */
extern int64_t sc_blas_host_counts;
/* True when i?amax or i?amin (`find`) chooses the second of two numbers. */
bool sc_blas_second_of_pair(sc_blas_fn find, const void *first, const void *second, size_t bytes);
double sc_blas_hypot(double a, double b);

/* Address to pass to a routine for `len` elements of a vector of n, behind the first `done` elements in the order of
 * the operation. */
static inline void *sc_blas_part(const void *vector, size_t bytes, int64_t n, int64_t done, int64_t len, int64_t inc)
{
    uint64_t before = inc < 0 ? (uint64_t)(n - done - len) * -(uint64_t)inc : (uint64_t)done * (uint64_t)inc;

    return (void *)((uintptr_t)vector + before * bytes); /* modulo 2^64, as any BLAS computes addresses */
}
static inline bool sc_blas_fits(int64_t value) { return value == (sc_blas_int)value; }
/* A 32-bit increment for a vector of one element, where only the sign of the increment matters. */
static inline sc_blas_int sc_blas_unit(int64_t inc) { return sc_blas_fits(inc) ? (sc_blas_int)inc : inc < 0 ? -1 : 1; }
/* Computes a Fortran call of level 2 or 3 that no library takes, by loops.  Logs a line for each routine once. */
void sc_blas_unfit(struct sc_blas_call *call);
/* True when the routine is made of other routines of the host BLAS, where the sizes fit. */
bool sc_blas_is_made(int routine);
void sc_blas_say_computed(int routine, const char *name, const char *why);
static inline int64_t sc_blas_least(int64_t a, int64_t b) { return a < b ? a : b; }

/* The Fortran routine to use in place of the host's, or NULL (compute.c). */
sc_blas_fn sc_blas_substitute(int routine);

/* For the stubs: finds the routine for calls on the host, and enters it in sc_blas_host.  The program's own
 * optimised BLAS goes before the host BLAS, which is opened on demand.  Without the routine in both, takes a
 * definition of the program, else loops (loops.h), with a log line for each routine. */
sc_blas_fn sc_blas_resolve(int routine, enum sc_blas_interface interface);
/* For the first call of a thread: makes the thread's counts. If the call is the first one of the interface, finds all
 * routines for calls on the host. A later call in a signal handler may have interrupted malloc, and must not search. */
void sc_blas_first(int routine, enum sc_blas_interface interface);

/* Conjugations for a row-major call (call->conj) through Fortran, before and after the call. */
struct sc_blas_conj {
    void *copies[2];
    struct sc_view inplace;
};
bool sc_blas_conj_begin(struct sc_blas_call *call, struct sc_blas_conj *conj);
void sc_blas_conj_end(struct sc_blas_conj *conj);

/* --- counting ----------------------------------------------------------------------------------------------------- */

/* Counts, by routine, of this thread's calls on the host.  NULL before the first call.  Written by the thread itself
 * only. */
extern __thread uint64_t *sc_blas_counts __attribute__((tls_model("initial-exec")));
uint64_t *sc_blas_counts_new(void); /* never NULL */

static inline void sc_blas_count_on(uint64_t *counts, int routine)
{
    __atomic_store_n(&counts[routine], counts[routine] + 1, __ATOMIC_RELAXED);
}
static inline void sc_blas_count(int routine)
{
    sc_blas_count_on(__builtin_expect(!!sc_blas_counts, 1) ? sc_blas_counts : sc_blas_counts_new(), routine);
}

/* --- for the veneers ---------------------------------------------------------------------------------------------- */

static inline void sc_blas_enter(int routine)
{
    sc_inside_enter();
    sc_trace_routine = (uint16_t)routine;
    sc_host_rates_begin();
}
static inline void sc_blas_leave(void)
{
    sc_host_rates_end();
    sc_trace(.kind = SC_EVENT_DONE, .device = -1);
    if (__builtin_expect(sc_explain_on, 0))
        sc_explain_host_done();
    sc_trace_routine = 0;
    sc_inside_leave();
}

/* The tests of the veneers' gates (gate.h), for LAPACK's routines. */
static inline bool sc_blas_small2(int level, int64_t m, int64_t n) { return m * n < sc_blas_small[level]; }
static inline bool sc_blas_small3(int level, int64_t m, int64_t n, int64_t k)
{
    return (__int128)(m * n) * k < sc_blas_small[level]; /* up to 2^93 */
}

/* Integers of a name without a 64, in memory and by value.  By value, a program with 32-bit integers sets the lower
 * half only. */
int64_t sc_blas_int_at(const sc_blas_int *p);
int64_t sc_blas_int_of(int64_t value);


/* Letters as Fortran's, in upper case; '?' for an invalid letter. */
char sc_blas_letter(char letter);
char sc_cblas_order(int order); /* SC_BLAS_ROWS, SC_BLAS_COLUMNS */
char sc_cblas_trans(int trans);
char sc_cblas_uplo(int uplo);
char sc_cblas_diag(int diag);
char sc_cblas_side(int side);

/* A scalar of the call in the type that the Fortran routine reads. */
static inline union sc_blas_scalar sc_blas_typed(enum sc_type type, const double value[2])
{
    union sc_blas_scalar scalar = {.dz = {value[0], value[1]}};

    if (type == SC_S || type == SC_C) {
        scalar.sc[0] = (float)value[0];
        scalar.sc[1] = (float)value[1];
    }
    return scalar;
}

/* --- for the tables: conversions and shapes ----------------------------------------------------------------------- */

static inline void sc_rows_swap(int64_t *p, int64_t *q)
{
    int64_t t = *p;

    *p = *q;
    *q = t;
}
static inline void sc_rows_swap_letters(char *p, char *q)
{
    char t = *p;

    *p = *q;
    *q = t;
}
static inline void sc_rows_swap_pointers(void **p, void **q)
{
    void *t = *p;

    *p = *q;
    *q = t;
}
static inline void sc_rows_flip(char *letter, char one, char other)
{
    *letter = *letter == one ? other : *letter == other ? one : *letter;
}
static inline void sc_rows_trans(struct sc_blas_call *call)
{
    if (call->transa == 'C' && sc_type_is_complex(call->type))
        call->conj = true; /* conj(A), as stored by columns */
    call->transa = call->transa == 'N' ? 'T' : call->transa == 'T' || call->transa == 'C' ? 'N' : call->transa;
}
static inline void sc_rows_syrk(struct sc_blas_call *call)
{
    if (call->transa == 'C' && !sc_type_is_complex(call->type))
        call->transa = 'T';
    sc_rows_flip(&call->transa, 'N', 'T');
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
