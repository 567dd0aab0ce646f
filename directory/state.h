/* State that the protocol embeds in matrices, tiles and copies.  directory/ allocates and clears the structs with
 * their owners and never reads them.  The file of coherence/ that assigns a struct is named at the struct. */
#ifndef SC_DIRECTORY_STATE_H
#define SC_DIRECTORY_STATE_H

#include <stdbool.h>
#include <stdint.h>

/* --- history of results, for coherence/push.c (coherence/read_history.c) ----------------------------------------- */

/* Of a matrix. */
struct sc_push_state {
    int opened;  /* sectors that the host has opened since a call wrote the matrix last */
    int written; /* by this call, while `opened` counts */
    int looks;   /* latest calls in a row after which the host opened most sectors; at most 2 */
    bool advised; /* every result goes home (semcache_advise) */
    bool shared; /* some device is expected to read sectors written by other devices */
};

/* Of a tile. */
struct sc_push_writes {
    uint64_t sectors; /* written by the call of number `call` */
    uint64_t call;
};

/* Of a tile on a device: sectors written by other devices and read by kernels of this device. */
struct sc_push_reads {
    uint64_t read;     /* since the latest write by another device */
    uint64_t was_read; /* between the two latest writes */
    uint64_t wanted;   /* before each of the two latest writes */
    uint64_t own;      /* written last by this device */
};

/* --- cost of the host's accesses (coherence/wait.c) --------------------------------------------------------------- */

struct sc_wait_state {
    uint64_t fetches, fetched_bytes; /* copies to the host and their bytes since sc_coherence_fetched */
    double waited;                   /* seconds of faults and acquisitions, since sc_coherence_fetched */
    double faulted;                  /* seconds of faults since a call used the matrix last */
    unsigned faults;                 /* number of these faults */
    double first, first_seconds;     /* the first of them: the host's clock at its begin, and its seconds */
    bool first_late;                 /* the kernels had ended at its begin */
    uint64_t home_bytes;             /* fetched since a call used the matrix last */
    bool read_whole;                 /* between two uses the host fetched most of the matrix, the last time it did so */
    unsigned write_faults;           /* of `faults` */
    unsigned wrote_whole;            /* > 0: a small matrix was written as a whole; that holds so many times */
};

/* --- results whose pages calls leave open (coherence/keep_open.c) ------------------------------------------------- */

struct sc_keep_open {
    unsigned calls;  /* in progress, with open pages */
    unsigned paid;   /* latest calls in a row with more seconds of faults than a wait */
    unsigned since;  /* calls with open pages since the last call with closed pages */
    unsigned until;  /* after so many the pages are closed again */
    bool closed;     /* by the last call; false after the look back */
    bool was_closed; /* by the last call */
    double ended;          /* host's clock at its end */
};

/* --- histories of results in new memory (coherence/habit.c) ------------------------------------------------------- */

struct sc_habit {
    uint64_t shape; /* of the call that made the matrix for its result; 0: another origin */
    uint64_t call;  /* its number */
    bool known;     /* the first call on the matrix has begun */
    bool given;     /* a device has read the result as the call made it */
};

/* --- sources of derived copies (coherence/protocol.c, coherence/derived.c) ---------------------------------------- */

struct sc_link_times {
    uint64_t *changed; /* per global sector: time of the latest write while linked; NULL: no link so far */
    uint64_t newest;   /* the latest of these times */
};

/* --- the call that wrote a matrix last (coherence/call.c) --------------------------------------------------------- */

struct sc_writer {
    uint64_t call; /* its number; 0: none */
    uint16_t routine;
};

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
