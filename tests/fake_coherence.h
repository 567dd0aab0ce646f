/* The protocol's interface without a protocol: data stay on the host; tiles and devices are fictitious. A task works on
 * copies of its pieces, with garbage in places that must not be read. A wrong piece, access or leading dimension
 * therefore gives a wrong result; pieces that cross a cut are errors. */
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
    bool goes_home; /* results */
    int64_t run;           /* vector elements in one place; 0: every element at its home */
    int64_t column;        /* vectors of a multiple of this length are matrices with this number of rows; 0: never */
    bool cold;             /* no tile is on a device */
    bool host_has;         /* the host may do a part of a call */
    int fail_temporary;    /* 1 in fail_temporary temporaries is refused; 0: no refusals */
    int fail_task;         /* 1 in fail_task tasks with temporaries fails */
    bool conflict;         /* begin fails */
    /* Seen. */
    int errors, tasks, partial_writes, prefetches, begins;
    int tasks_on[16];
    int64_t host_columns;  /* of results, computed by the host beside the devices */
    int live_temporaries;
};
extern struct fake fake;

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
