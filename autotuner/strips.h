/* How wide the strips of a product are: of operands on their way to the devices, and of a result on its way home.
 * Narrow ones let transfers begin sooner, and leave less to be done when the last has come; each is more kernels, for
 * the devices and for the host, which enqueues them.  A pure function (CoCoPeLia's idea; A12). */
#ifndef SC_AUTOTUNER_STRIPS_H
#define SC_AUTOTUNER_STRIPS_H

#include <stdbool.h>
#include <stdint.h>

#include "autotuner/machine.h"

/* A call by the part of it that one device has; times in seconds. */
struct sc_strips {
    double kernel;     /* computing */
    double in, out;    /* bringing what it lacks (0: nothing); its part of the result on the way home */
    double in_all;     /* of `in`: what every column of the result needs (A) */
    bool apart;        /* what else comes can come for one column of the result after the other */
    double again;      /* reading and writing its part of the result, as each further part of the sum does */
    double launch;     /* of the device, for each kernel more */
    double task;       /* of the host, for each task */
    double latency[2]; /* of a transfer: in, out */
    int devices;
    int64_t sum;       /* numbers along the sum */
    int64_t columns;   /* of the result, of which it has some */
    int parts[2];      /* that the sum and these columns are in, however wide strips are */
    int blocks;        /* tasks for each strip of these columns, */
    int tiles;         /* and tiles of the result, each of which goes home by itself */
    int64_t rows;      /* of one of them */
    int64_t least;     /* width: what the caller can cut */
    int64_t half;      /* and of the halves of the last strip of the result; 0: it is not cut */
};

/* Operands on their way in other routines than gemm have strips of a width that does not depend on the machine: */
#define SC_STRIPS_USUAL 1024 /* columns: kernels stay efficient when the other sizes are large */
#define SC_STRIPS_BLOCK 2048 /* of a triangle, where they are both rows and columns */
#define SC_STRIPS_FEW 16     /* at most */
#define SC_STRIPS_OPERANDS 32 /* of an operand of gemm, about, at most */

#define SC_STRIPS_MOST 8 /* widths that are thought of */
struct sc_strips_choice {
    int count;
    int64_t width[SC_STRIPS_MOST]; /* ascending */
    double seconds[SC_STRIPS_MOST];
    double first[SC_STRIPS_MOST]; /* columns whose part comes along with what all need, 0 to 1; 1: all */
    int best; /* of these: the widest one that takes little more than the least */
};

/* `first` as in the choice. */
double sc_strips_seconds(const struct sc_strips *call, int64_t width, double first);
/* Of these: until all is computed, wherever the result is wanted. */
double sc_strips_computed(const struct sc_strips *call, int64_t width, double first);
/* The same of other routines than gemm: b strips of B and the result, one after the other, each with all of A, which
 * comes in a strips.  Seconds: computing, bringing A, bringing the rest. */
double sc_strips_in_turn(double kernel, double a_in, double b_in, int a, int b);
void sc_strips_choose(const struct sc_strips *call, struct sc_strips_choice *out);
/* How narrow the last strip of the result becomes by halving it, and then its last half: less is left to go home when
 * all is computed, for a kernel or two more.  0: it stays as it is.  Widths are chosen, and seconds above are, without:
 * with halves strips could be much wider for the same time, if all columns took equally long, and transfers as long as
 * was measured. */
int64_t sc_strips_last(const struct sc_strips *call, int64_t width, double first);

/* Fills in what is the machine's.  bytes_all: of bytes_in, what every column needs. */
void sc_strips_machine(struct sc_strips *call, const struct sc_machine *machine, double bytes_in, double bytes_all,
                       double bytes_out);

/* Not 0: every width is this one, that of the last strip, too (bench/strips). */
extern int64_t sc_strips_fixed;

#endif
