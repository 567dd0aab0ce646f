/* Shared by the sparse solvers: a linear system chosen on the command line, and the check of its solution. Plain C,
 * like every example. */
#ifndef EXAMPLES_PROBLEM_H
#define EXAMPLES_PROBLEM_H

#include "examples/stencil.h"

struct problem {
    struct stencil a;
    double *b, *x; /* x: initially zeros */
    int iterations, writes;
};

#define PROBLEM_USAGE "[-f FILE | -s 3|5|7|27] [-w] [n [iterations]]"

/* -f: a square matrix in Matrix Market's format. -s: points of a stencil (default 7; 3: tridiagonal) with about n
 * points (30000). -w: the program changes a value and solves again. iterations: at most (200). wind: convection in the
 * stencil. scaled: rows are divided by their diagonals. Ends the program if the system cannot be made. */
void problem_make(struct problem *p, int argc, char **argv, double wind, int scaled);

/* Changes the equation of a point in the middle. */
void problem_change(struct problem *p);

/* The largest component of b - A x, by a plain loop. */
double problem_error(const struct problem *p);

/* Prints the line of the result; returns the status for main to return. */
int problem_report(const struct problem *p, const char *name, int iterations, double residual,
                   struct example_timer *timer);

/* market.c: reads any real, integer or pattern matrix; of a symmetric matrix it stores the two triangles. Returns 0, or
 * an error that has been printed. */
int market_read(struct stencil *a, int *columns, const char *path);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
