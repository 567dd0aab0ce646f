/* The protocol's interface without a protocol: everything is on the host, tiles and devices are made up.  Each task
 * works on copies of its pieces that hold garbage where they may not be read, so a wrong piece, access or leading
 * dimension gives a wrong result; pieces that cross a cut are errors. */
#ifndef SC_TESTS_FAKE_COHERENCE_H
#define SC_TESTS_FAKE_COHERENCE_H

#include <stdbool.h>
#include <stdint.h>

enum fake_homes { FAKE_ONE, FAKE_BY_ROWS, FAKE_BY_COLS, FAKE_CHECKER };

struct fake {
    /* Set by the test. */
    int devices;
    int64_t tile_rows, tile_cols, tile_vector; /* distance of cuts */
    int64_t sector;        /* columns of a sector */
    uint64_t phase;        /* where the first cuts are */
    enum fake_homes homes;
    int64_t run;           /* vector elements in one place; 0: all at their homes */
    int64_t column;        /* vectors of a multiple of this are matrices of that many rows; 0: never */
    bool cold;             /* nothing is on a device: everything is missing */
    bool host_has;         /* the host may do a part of a call */
    int fail_temporary;    /* 1 in so many temporaries is refused; 0: none */
    int fail_task;         /* 1 in so many tasks with temporaries fails */
    bool conflict;         /* begin fails */
    /* Seen. */
    int errors, tasks, partial_writes, prefetches, begins;
    int tasks_on[16];
    int64_t host_columns;  /* of results, computed by the host beside the devices */
    int live_temporaries;
};
extern struct fake fake;

#endif
