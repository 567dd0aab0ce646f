/* The functions that programs call for whole routines of LAPACK, generated from whole.tab. */
#include "blas/lapack/whole.h"
#include "blas/veneers/gate.h"

/* Counts the call and jumps to the host's routine, or to large_NAME while the thread has no counts. */
#define COUNTED(name, id)                                                                                             \
    "    movq sc_blas_counts@gottpoff(%rip), %rax\n"                                                                  \
    "    movq %fs:(%rax), %rax\n"                                                                                     \
    "    testq %rax, %rax\n"                                                                                          \
    "    je large_" #name "\n"                                                                                        \
    "    incq 8*(" #id ")(%rax)\n" SC_GATE_JUMP(slot_##name)

#define FIELDS(...) __VA_ARGS__

/* The variable of a function's result, its address as a field, its assignment, and its use. */
#define VALUE(what) VALUE_##what
#define VALUE_DECLARED(type) type value = 0;
#define VALUE_FIELD .value = &value,
#define VALUE_SET value =
#define VALUE_GIVEN value
#define NO_VALUE(what) NO_VALUE_##what
#define NO_VALUE_DECLARED(type)
#define NO_VALUE_FIELD
#define NO_VALUE_SET
#define NO_VALUE_GIVEN

/* type: of the result; of: VALUE or NO_VALUE.  parameters, arguments: of the host's routine, with the lengths of
 * strings (rule 8).  work: the gate's. */
#define WHOLE(type_, of, name, is_wide, id, number, operation, lengths, own, parameters, arguments, fields, work_)    \
    __attribute__((used)) static type_ large_##name own;                                                              \
    __attribute__((used)) static void *slot_##name = (void *)large_##name;                                            \
    static type_ large_##name own                                                                                     \
    {                                                                                                                 \
        typedef type_ routine parameters;                                                                             \
        of(DECLARED)(type_) const struct sc_lapack_call call = {.routine = id, .type = number, .op = operation,       \
                                                                .rule = lengths, .wide = is_wide, of(FIELD)           \
                                                                FIELDS fields};                                       \
        struct sc_host_timing timing;                                                                                 \
        enum sc_blas_next next;                                                                                       \
        routine *fn;                                                                                                  \
                                                                                                                      \
        sc_blas_called_from(__builtin_return_address(0));                                                             \
        fn = (routine *)sc_lapack_routine(&slot_##name, (void *)large_##name, #name);                                 \
        next = fn ? sc_lapack_large(&call) : SC_BLAS_DONE;                                                            \
        if (next == SC_BLAS_DONE)                                                                                     \
            return of(GIVEN);                                                                                         \
        sc_blas_count(id);                                                                                            \
        sc_lapack_begin(next, id, &timing);                                                                           \
        of(SET) fn arguments;                                                                                         \
        sc_lapack_end(next, &timing);                                                                                 \
        return of(GIVEN);                                                                                             \
    }                                                                                                                 \
    SC_GATE(name, work_ SC_GATE_SMALL(name, 4) COUNTED(name, id));                                                    \
    SC_GATE_NAME(name, gate_##name);

#include "blas/lapack/whole_functions.h"
/* SPDX-License-Identifier: BSD-2-Clause */
