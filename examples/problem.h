/* What the sparse solvers share: a linear system by the command line's choice, and whether it was solved.  Plain C, as
 * all of the examples. */
#ifndef EXAMPLES_PROBLEM_H
#define EXAMPLES_PROBLEM_H

#include "examples/stencil.h"

struct problem {
    struct stencil a;
    double *b, *x; /* x: zeros */
    int iterations, writes;
};

#define PROBLEM_USAGE "[-f FILE | -s 3|5|7|27] [-w] [n [iterations]]"

/* -f: a square matrix in Matrix Market's format; -s: points of a stencil (default 7; 3: tridiagonal) with about n
 * points (30000); -w: the program changes a value and solves again.  iterations: at most (200).  wind: of the stencil;
 * scaled: rows are divided by their diagonals.  Ends the program when there is no such system. */
void problem_make(struct problem *p, int argc, char **argv, double wind, int scaled);

/* The equation of one point in the middle. */
void problem_change(struct problem *p);

/* The largest component of b - A x, by a plain loop. */
double problem_error(const struct problem *p);

/* Prints the line of the result; what main returns. */
int problem_report(const struct problem *p, const char *name, int iterations, double residual,
                   struct example_timer *timer);

/* market.c: any real, integer or pattern matrix, symmetric or not, both triangles then.  0, or an error that was
 * printed. */
int market_read(struct stencil *a, int *columns, const char *path);

#endif
