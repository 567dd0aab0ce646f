/* Widths of the strips of a product: of operands on their way to the devices, and of a result on its way home. Narrow
 * strips let transfers begin sooner and leave less work after the last transfer, at the cost of more kernels for
 * devices and host. Pure functions (CoCoPeLia's idea; rule A12). */
#ifndef SC_AUTOTUNER_STRIPS_H
#define SC_AUTOTUNER_STRIPS_H

#include <stdbool.h>
#include <stdint.h>

#include "autotuner/machine.h"

/* The part of a call on one device; times in seconds. */
struct sc_strips {
    double kernel;     /* kernels */
    double in, out;    /* transfers of missing operands (0: none missing), and of the result */
    double in_all;     /* part of `in` that every column of the result needs (A) */
    bool apart;        /* the rest of `in` can arrive for one column of the result after another */
    double again;      /* reading and writing the device's part of the result, once per further part of the sum */
    double launch;     /* of the device, per further kernel */
    double strip;      /* of the device, per strip of any width: the solves along the triangle of trsm */
    double task;       /* of the host, per task */
    double latency[2]; /* of a transfer: in, out */
    int devices;
    int64_t sum;       /* numbers along the sum */
    int64_t columns;   /* of the result, with a part on the device */
    int parts[2];      /* minimum number of parts of the sum and of the columns */
    int blocks;        /* tasks per strip of the columns */
    int tiles;         /* tiles of the result per strip; a tile goes home by itself */
    int64_t rows;      /* of a tile */
    int64_t least;     /* narrowest width that the caller can cut */
    int64_t half;      /* narrowest half of the last strip; 0: no halving */
};

/* Routines other than gemm have strips of a fixed width: */
#define SC_STRIPS_USUAL 1024 /* columns: kernels are efficient if the other extents are large */
#define SC_STRIPS_BLOCK 2048 /* of a triangle, in rows and columns */
#define SC_STRIPS_FEW 16     /* at most so many strips */
#define SC_STRIPS_OPERANDS 32 /* about the most strips of an operand of gemm */

#define SC_STRIPS_MOST 8 /* candidate widths */
struct sc_strips_choice {
    int count;
    int64_t width[SC_STRIPS_MOST]; /* ascending */
    double seconds[SC_STRIPS_MOST];
    double first[SC_STRIPS_MOST]; /* share of columns that arrive with the common operand, 0 to 1 */
    int best; /* index of the widest candidate within half a percent of the least time */
};

/* Predicted seconds of a width; `first` as in the choice. */
double sc_strips_seconds(const struct sc_strips *call, int64_t width, double first);
/* The same until the kernels are done, without the result's way home. */
double sc_strips_computed(const struct sc_strips *call, int64_t width, double first);
/* The same for other routines than gemm: b strips of B and the result in sequence, with A in a strips. Seconds of the
 * kernels, of A's transfer, of the other transfers. */
double sc_strips_in_turn(double kernel, double a_in, double b_in, int a, int b);
/* A rank update on one device. */
struct sc_strips_rank {
    double kernel, in, out; /* s of the kernels, and of the transfers of the operands and of the result */
    double result_in;       /* s of the transfer of C that the call adds to; 0: C is overwritten, or on the device */
    int64_t order, sum;     /* of the result; numbers along the sum */
};
/* Seconds if the operands arrive by strips along the sum.  The columns with `share` of the products arrive first, and
 * add the strips as they arrive.  Each later strip of `width` columns of the result, from the longest to the shortest,
 * arrives behind the operands, and adds the whole sum at once.  Finished columns go home. */
double sc_strips_along_seconds(const struct sc_strips_rank *r, double share, int64_t width);
/* Seconds if the operands arrive by strips across the sum.  Each completes a strip of the result's columns, from the
 * shortest columns to the longest. */
double sc_strips_across_seconds(const struct sc_strips_rank *r, int64_t width);
/* The best share and width of some.  The share is at most as much as the device computes while the operands arrive, and
 * at most 0.75, because transfers of results that go home take the time of the rest.  If C is overwritten, the share is
 * the largest.  The width is at least `least`. */
struct sc_strips_along {
    double share;
    int64_t width;
};
struct sc_strips_along sc_strips_along_choose(const struct sc_strips_rank *r, int64_t least);
/* The best width of some, of at least `least` columns. */
int64_t sc_strips_across_width(const struct sc_strips_rank *r, int64_t least);
/* A call of symm, trmm or trsm on one device, or the part of one of several.  A arrives with B, and every strip of B
 * needs all of A.  The first strip is computed part by part of A, and later strips behind all of A.  A finished strip
 * goes home. */
struct sc_strips_turns {
    double kernel;      /* s of the kernels of all columns */
    double strip;       /* s of a strip's kernels beside, for any width: the solves along the triangle */
    double a, b, out;   /* s of the transfers */
    int parts;          /* of A */
    int growth;         /* of the first strip's work from part to part: 1 grows, -1 shrinks, 0 neither */
    int arrival;        /* of the bytes of A from part to part, likewise */
    int64_t columns;
};
/* Seconds with a first strip of so many columns, and later strips of so many columns. */
double sc_strips_turns_seconds(const struct sc_strips_turns *t, int64_t first, int64_t width);
/* The best of some widths. */
void sc_strips_turns_choose(const struct sc_strips_turns *t, int64_t *first, int64_t *width);
void sc_strips_choose(const struct sc_strips *call, struct sc_strips_choice *out);
/* Width of the last strip's last half after repeated halving, so that little of the result is left to go home after the
 * last kernel; 0: no halving. Choices and seconds above are without halving: with halves the model would choose much
 * wider strips, and rely on exactly equal times of columns and transfers. */
int64_t sc_strips_last(const struct sc_strips *call, int64_t width, double first);

/* Fills in the rates of the machine. bytes_all: part of bytes_in that every column needs. */
void sc_strips_machine(struct sc_strips *call, const struct sc_machine *machine, double bytes_in, double bytes_all,
                       double bytes_out);

/* Not 0: replaces every width, including the last strip's (bench/strips). */
extern int64_t sc_strips_fixed;

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
