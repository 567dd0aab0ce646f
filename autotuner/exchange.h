/* How pieces go between devices; a pure function. */
#ifndef SC_AUTOTUNER_EXCHANGE_H
#define SC_AUTOTUNER_EXCHANGE_H

#include "autotuner/database.h"

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

#endif
