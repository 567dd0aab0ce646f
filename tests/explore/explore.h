/* Explores every order of events over the real protocol.
 *
 * A run of semcache is a sequence of steps; no code of the protocol runs between two steps. A thread's step
 * ends where the thread waits or drops the lock. A step of a device's stream is one piece of queued work.
 * The threads (with the pager) are coroutines of one thread, the devices are queues, and a scheduler chooses the next
 * step. The scheduler takes every choice at every state (state.c) in some run. A run goes to the first known state with
 * a choice left. From there on it takes the choices that are left on its way, and choices that lead to states with
 * choices left. A choice that was taken before has to lead to the same state again: otherwise a state lacks a fact that
 * decides the future, and the test fails.
 *
 * The code under test is coherence/, directory/ and host/ as built for the library. The linker replaces (--wrap) the
 * lock, the condition variables and sc_fences_sync by functions of run.c, in which the threads stop.
 *
 * A device may break at any moment: see enum breakage. */
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
#define FIRST    256  /* elements of an array's block before the matrix: the matrix begins in the middle of a page */
#define ELEMENTS 1024 /* two sectors of a page each, so that the middle page holds halves of two sectors */
#define PAGES    3
#define THREADS  3    /* of a program; the pager is one more thread */
#define KINDS    9    /* steps that ANY may be */

enum action {
    END,
    READ,    /* the CPU reads elements [first, first + count) of one page */
    WRITE,   /* the CPU writes element `first` */
    NEGATE,  /* kernel on `device`: x := -x on x = [first, first + count) */
    SET,     /* kernel: overwrites the range without reading */
    ADD,     /* kernel: adds the second array's range to the range of this array */
    ACQUIRE, /* the CPU acquires the whole array for writing */
    RELEASE, /* the array leaves the devices */
    HOME,    /* every array is brought home */
    FREE,    /* the array's memory is freed and reused at once, for new numbers */
    FORK,    /* the arrays are at home, and do not change until the child has begun */
    USE,     /* ADD through a derived copy of the second array on `device` (coherence/derived.c), kept until the second
              * array is written */
    TASK_NEGATE, TASK_SET, TASK_ADD, /* the same kernels as tasks of the program (coherence/own_task.c) */
    TAKE,    /* a token on the range: a private copy on `device`, which a kernel negates */
    GIVE,    /* the release of the token that the thread has taken on the same range */
    LEASE,   /* a lease of the second array's range on `device` (coherence/lease.c) */
    LEASED_ADD, /* kernel: adds what the thread has leased to the same range of this array; the lease ends */
    PREFETCH,   /* the range is requested on `device` for later kernels */
    ANY,     /* the scheduler chooses among the thread's `any` of explore(): those in the bit mask `count` */
};

/* The threads of a program use disjoint elements, possibly of the same sectors and pages. The values that a thread must
 * see are therefore independent of the order. */
struct step {
    enum action action;
    int array, first, count, device;
};

/* A device's failure: at most one in a run, at a moment of the scheduler's choice. */
enum breakage {
    NEVER = 0,
    REFUSES = 1, /* the device refuses only its next request: no data may get lost. REFUSES + n: the n-th request after
                  * the next, since a step makes several requests */
    DIES = -1,   /* the device leaves its work undone and refuses every request: data without a copy elsewhere has to be
                  * reported as lost */
};

struct program {
    const char *name;
    int devices;
    int spread;  /* devices that a new matrix is cut for: 1: one tile; 2: a tile for each sector */
    int room;    /* capacity of a device's memory, in allocations */
    int window;  /* pages that a read fault fetches */
    int ahead;   /* pages that are read ahead after the fault */
    int breaks; /* enum breakage */
    int broken; /* the device that breaks */
    struct step prelude[4];         /* calls before the threads begin: the devices still have the work to do */
    struct step thread[THREADS][6]; /* steps beside the work of the prelude */
};

/* explore_data: blocks of FIRST elements before the matrix, the matrix, and elements after the matrix. explore_model:
 * the values that the owning threads have to see. */
extern double *explore_data[ARRAYS];
extern double explore_model[ARRAYS][PAGES * 512];

/* Elements that the protocol reported as lost with a device, and elements computed from lost elements. */
extern bool explore_lost[ARRAYS][PAGES * 512];

void explore_programs_start(void);
void explore_programs_reset(void);
/* Takes the step, in a coroutine or (calls only) before coroutines exist. Returns false if a value seen was wrong. */
bool explore_step(const struct program *program, const struct step *step);
/* Brings every array home; returns whether every value is right. */
bool explore_program_over(void);
/* Hashes the programs' part of the state. */
void explore_hash_forms(void);

/* --- the scheduler (run.c) ---------------------------------------------------------------------------------------- */

struct explored {
    uint64_t states, steps, runs, shortages; /* shortages: allocations for which a device had no room */
    bool good, whole; /* whole: no order was left out for lack of time */
};
/* Tries every order; visits at most `states` states (0: no limit). any: per thread, what ANY may be, if not END. */
struct explored explore(const struct program *program, const struct step (*any)[KINDS], uint64_t states);

/* For a coroutine: the page is open for the access on return. */
void explore_touch(uintptr_t address, enum sc_access access);
/* Ends a step: the scheduler may choose another participant. */
void explore_pause(void);
/* Computes as the host BLAS would, with the page accesses of a coroutine. */
void explore_kernel_on_host(const struct sc_kernel *kernel);
/* Hashes the coroutines' part of the state. */
void explore_hash_threads(void);

/* --- states (state.c) --------------------------------------------------------------------------------------------- */

uint64_t explore_state(void);
/* For the parts of the state: explore_hash adds a number, explore_hash_fence how far the fence is from being
 * reached. */
void explore_hash(uint64_t number);
void explore_hash_fence(struct sc_fence fence);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
