/* Common functions of the programs bench/paper-*: the library's real decisions, scheduling and protocol on an emulated
 * machine in timing mode (doc/machine-files.md), on matrices of reserved addresses.  Figures are virtual seconds and
 * bytes over links.  The figures depend on the order of calls alone, so every run prints the same. */
#ifndef SC_BENCH_PAPER_H
#define SC_BENCH_PAPER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "device/device.h"
#include "ops/ops.h"

struct paper_matrix {
    void *at;
    int64_t rows, cols;
    int place; /* before the call, and of the result after the call: a device or SC_HOST */
};

/* Opens the machine ("k40x3", "dgx1:4"), which is measured first; prints and ends the program when it cannot be.
 * Returns the number of devices. */
int paper_open(const char *machine);
/* The same with the double precision rates of PARALiA's section 4.4 (3.5, 5 and 7 Tflop/s) for its eight GPUs. */
int paper_open_uneven(const char *machine);
void paper_close(void);
double paper_link(int from, int to); /* bytes/s of the direct link between two devices, 0: none */

struct paper_matrix paper_matrix(int64_t rows, int64_t cols);
/* Frees the memory of the matrix, on the devices too. */
void paper_free(struct paper_matrix *matrix);

/* Copies the matrix to a device, or home (SC_HOST), without a wait. */
void paper_move(const struct paper_matrix *matrix, int place);
/* Spreads the matrix over the devices as in a call. */
void paper_spread(const struct paper_matrix *matrix);
/* Home, and off the devices. */
void paper_drop(const struct paper_matrix *matrix);
/* As a call of the program. */
void paper_call(const struct sc_kernel *kernel);
void paper_wait(void); /* for everything */

/* Seconds and bytes since paper_begin.  Both functions wait for the devices. */
struct paper_figures {
    double seconds, joules;
    uint64_t bytes[SC_DEVICES_MAX + 1][SC_DEVICES_MAX + 1]; /* [from][to], the host last */
};
#define PAPER_HOST SC_DEVICES_MAX
void paper_begin(struct paper_figures *figures);
void paper_end(struct paper_figures *figures);

/* Geometric mean of than[i] / ours[i], from <= i < to; unmeasured figures (0) are left out. */
double paper_gain(const double *than, const double *ours, int from, int to);

/* C := 1.5 A B + 0.5 C: "alpha and beta are two random constants". */
struct sc_kernel paper_gemm(const struct paper_matrix *a, const struct paper_matrix *b, const struct paper_matrix *c);

/* The six routines of BLASX, on square matrices of order n, all with a lower triangle on the left. */
struct paper_routine {
    const char *name;
    enum sc_op op;
    bool in_place; /* the result is B */
    bool has_b;
    double flops;  /* in n^3 */
};
enum paper_routines { PAPER_GEMM, PAPER_SYRK, PAPER_SYR2K, PAPER_SYMM, PAPER_TRMM, PAPER_TRSM, PAPER_ROUTINES };
extern const struct paper_routine paper_routine[PAPER_ROUTINES];
struct sc_kernel paper_square(enum paper_routines routine, const struct paper_matrix *a, const struct paper_matrix *b,
                              const struct paper_matrix *c);
/* A call of the routine, operands and result on the host; fills in the figures. */
void paper_square_run(enum paper_routines routine, int64_t n, struct paper_figures *figures);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
