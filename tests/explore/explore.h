/* Exploring every order of events over the real protocol.
 *
 * Everything that happens in semcache is a sequence of steps between which nothing of the protocol runs: a thread goes
 * on until it has to wait or drops the lock; a device's stream does its next piece of work.  Here the threads (and the
 * pager) are coroutines of one thread, the devices are queues, and a scheduler decides who takes the next step.  It
 * tries all decisions, depth first: each run repeats the decisions of the one before up to the last that has an
 * alternative.  A state that was met before (state.c says what makes it up) is not gone on from.
 *
 * The code under test is coherence/, directory/ and host/ as they are in the library; the linker puts the lock and the
 * condition variables of run.c before libc's, and its sc_fences_sync before theirs: there threads stop.
 *
 * A device may break at any moment, too: see enum breakage. */
#ifndef SC_TESTS_EXPLORE_H
#define SC_TESTS_EXPLORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/config.h"
#include "base/fence.h"
#include "base/page.h"
#include "coherence/protocol.h"
#include "tests/explore/device.h"

/* --- small programs (programs.c) ---------------------------------------------------------------------------------- */

#define ARRAYS   2
#define FIRST    256  /* elements of an array's block before the matrix: it begins in the middle of a page, */
#define ELEMENTS 1024 /* and has two sectors of a page each, so that the middle page is both's */
#define PAGES    3
#define THREADS  3    /* of programs; one more is the pager */

enum action {
    END,
    READ,    /* the CPU reads element `first` */
    WRITE,   /* and writes it */
    NEGATE,  /* a kernel on `device`: [first, first + count) := minus that */
    SET,     /* a kernel that overwrites it without reading */
    ADD,     /* a kernel: adds the other array's [first, ...) to this one's */
    ACQUIRE, /* for writing all of it */
    RELEASE, /* the array leaves the devices */
    HOME,    /* everything comes home */
    FREE,    /* the array's memory is freed and used anew at once, for other numbers */
    FORK,    /* a child would find all at home, and nothing changes until it has begun */
    USE,     /* as ADD, by way of a form on `device` that is made of the other array's elements (coherence/derived.c),
              * and kept as long as they are not written */
};

/* Threads of a program use elements of their own, which may share sectors and pages: what each has to see does not
 * depend on the others. */
struct step {
    enum action action;
    int array, first, count, device;
};

/* What may happen to a device, once in a run, at a moment of the scheduler's choice. */
enum breakage {
    NEVER = 0,
    REFUSES = 1, /* it refuses the next thing that it is asked for, and no other: nothing may get lost; REFUSES + n: the
                  * n-th after the next, since a step asks for several */
    DIES = -1,   /* what it was doing is left undone, what it is asked for refused: what only it had has to be
                  * reported */
};

struct program {
    const char *name;
    int devices;
    int spread;  /* devices that a new matrix is cut for: 1: one tile; 2: a tile for each sector */
    int room;    /* allocations that a device has memory for */
    int window;  /* pages that a read fault brings, */
    int ahead;   /* and that are read ahead then */
    int breaks; /* enum breakage, */
    int broken; /* and that device */
    struct step prelude[4];         /* calls before the threads begin: all work of theirs is still to be done */
    struct step thread[THREADS][6]; /* next to it */
};

/* The block: FIRST elements that are not the matrix's, the matrix, others; and what it has to be, as the threads that
 * the elements belong to see it. */
extern double *explore_data[ARRAYS];
extern double explore_model[ARRAYS][PAGES * 512];

/* Elements of which the protocol has said that a device had them alone and is gone, and what was computed of them. */
extern bool explore_lost[ARRAYS][PAGES * 512];

void explore_programs_start(void);
void explore_programs_reset(void);
/* Takes the step, in a coroutine or (calls alone) before there are any; false: what it saw is wrong. */
bool explore_step(const struct program *program, const struct step *step);
/* Everything is home and right. */
bool explore_program_over(void);
/* The programs' part of the state. */
void explore_hash_forms(void);
void explore_peek(int array, double *now);

/* --- the scheduler (run.c) ---------------------------------------------------------------------------------------- */

struct explored {
    uint64_t states, steps, runs;
    bool good, whole; /* whole: nothing was left out for lack of time */
};
/* Tries all orders; at most `states` states (0: all). */
struct explored explore(const struct program *program, uint64_t states);

/* For a coroutine: the page is open for the access when this returns. */
void explore_touch(uintptr_t address, enum sc_access access);
/* Others go on. */
void explore_pause(void);
/* As the host BLAS would, with the accesses of a coroutine. */
void explore_kernel_on_host(const struct sc_kernel *kernel);
/* The coroutines' part of the state. */
void explore_hash_threads(void);

/* --- states (state.c) --------------------------------------------------------------------------------------------- */

uint64_t explore_state(void);
/* For the parts of it: adds a number, a fence by how far it is from being reached. */
void explore_hash(uint64_t number);
void explore_hash_fence(struct sc_fence fence);

#endif
