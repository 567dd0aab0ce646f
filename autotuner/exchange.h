/* How pieces go between devices, and results in how many; pure functions. */
#ifndef SC_AUTOTUNER_EXCHANGE_H
#define SC_AUTOTUNER_EXCHANGE_H

#include "autotuner/machine.h"

struct sc_autotuner_pieces {
    int on;        /* device whose kernel would do it: it reads (pull), or writes: */
    bool push;
    int other;     /* device at the other end of the largest piece: its link stands for all */
    int pieces;
    uint64_t bytes, largest; /* of all, of one */
};
struct sc_autotuner_exchanged {
    bool by_kernel;
    double copies, kernel; /* s, as predicted */
};
/* `db` NULL: nothing was measured. */
struct sc_autotuner_exchanged sc_autotuner_exchange(const struct sc_database *db, const struct sc_autotuner_pieces *p);

/* A result of which several devices make a part each, by some kernels one after the other, and that others read next:
 * it is sent in chunks, each when its kernels are done (PROACT). */
struct sc_autotuner_result {
    int from, to;        /* one that makes a part, and one that reads it: their link stands for all */
    int makers, readers; /* devices that make parts; that read one's part */
    int kernels;         /* that make one's part, */
    double seconds;      /* in so long; 0: not known */
    uint64_t bytes;      /* of one's part */
};
struct sc_autotuner_chunks {
    int chunks;           /* at most one for each kernel */
    double whole, seconds; /* until all readers have it: sent as a whole, in these chunks */
};
double sc_autotuner_chunked(const struct sc_database *db, const struct sc_autotuner_result *result, int chunks);
/* So many that more of them would be no half a percent sooner. */
struct sc_autotuner_chunks sc_autotuner_chunks(const struct sc_database *db, const struct sc_autotuner_result *result);

#endif
