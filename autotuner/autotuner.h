/* The model of a call and the decision by accounts. Numbers about the call, the residency of its operands and the
 * machine go in; seconds and a decision come out (doc/deciding.md). All functions are pure except for the accounts.
 * Thread safe, without locks. Seconds and bytes. */
#ifndef SC_AUTOTUNER_AUTOTUNER_H
#define SC_AUTOTUNER_AUTOTUNER_H

#include <stdbool.h>
#include <stdint.h>

#include "autotuner/machine.h"
#include "base/config.h"
#include "ops/ops.h"
#include "trace/trace.h"

/* The question. The fields before `want` decide, with the settings, the prediction without its history. plan.c compares
 * the fields byte by byte, so padding must be zero (an initializer sets padding to zero). */
struct sc_autotuner_call {
    enum sc_op op;
    enum sc_type type;
    enum sc_columns columns; /* of its matrices; level 3 */
    enum sc_metric metric;   /* what the decision minimises: time, energy * time, energy */
    int side;              /* SYMM, HEMM, TRMM, TRSM: 'L' or 'R' */
    int launches;          /* kernels behind the first: of a batch with products of several shapes */
    char uplo;             /* the triangle of an operation that has one: 'U' or 'L' */
    bool loops;            /* on the host the program has a loop of its own on one processor, not the BLAS */
    int64_t m, n, k;       /* as in struct sc_kernel */
    int64_t chain;         /* rows that wait in a sparse solve; else 0 */
    double terms;          /* products of entries, of a product of two sparse matrices; else 0 */
    uint64_t bytes;        /* of all operands, B */
    uint64_t result_bytes; /* written by the call, a part of `bytes` */
    uint64_t device_bytes; /* valid on some device, a part of `bytes` */
    uint64_t device_only;  /* not valid on the host, a part of `bytes` */
    uint64_t untracked;    /* in memory without tracking, a part of `bytes` */
    uint64_t overwritten;  /* neither resident nor read, but written: no upload; a part of `bytes` */
    uint64_t beside;       /* bytes that go up with the missing elements of strided vectors; not in `bytes` */
    uint64_t reshaped;     /* dirty bytes of matrices of another shape, which are written back first */
    uint64_t largest;      /* bytes of the largest operand; 0: unknown */
    int holders;           /* devices that hold some of the largest operand */
    int arrivals;          /* operands that must be uploaded in part */
    int closings;          /* written operands of which the host has a part: their pages must be closed */
    int openings;          /* read operands of which the host lacks a part, and which devices write again */
    uint64_t go_back;      /* bytes of results with a demand (autotuner/demand.h) */
    uint64_t made_elsewhere; /* made anew on devices in every round, in calls with another key; a part of `device_only`
                              */
    int64_t back;          /* results of `go_back`: written on the host, they must be uploaded again */
    struct sc_machine machine;

    int want;              /* demand for the results, by earlier calls (autotuner/demand.h) */
    uint64_t came_home;    /* bytes of the operands' arrays that the host fetched since the last call with them */
    uint64_t fetches;      /* copies of `came_home` */
    double waited;         /* seconds of the program's waits for these arrays since then */
    bool once;             /* the host uses all operands next, whatever the history of the operands */
    uint64_t key;          /* names the array of the largest operand, which has the account; 0: no array */
    struct sc_autotuner_account *account; /* replaces the account of `key`; NULL: the account of `key` */
    bool chosen;           /* the largest operand is memory that the program has taken for devices */
    bool stays;            /* the main operand is on devices as a derived copy: the call runs on devices */
    bool absent;           /* the main operand is read once and is not resident: the call runs on the host */
    bool divides;          /* the columns of the result are independent: the host may compute some */
    double peers;          /* slowest link between two devices over a link of the host; 0: no link, or unknown */
    int operands;
    const struct sc_view *view; /* the operands; `spread` and tiles are ignored */
};

/* Predicted seconds of a call. */
struct sc_autotuner_prediction {
    double host;   /* on the host, with fetches */
    double alone;  /* computing on the host (a part of `host`) */
    double fetch;  /* fetches of data that is at home afterwards (a part of `host`) */
    double back;   /* after a call on the host: uploads of its results for devices that read them, and closing of pages
                    */
    double device; /* on the devices, with all operands resident */
    double move;   /* uploads of missing operands, once */
    double result; /* fetch of the result, if the host uses the result */
    double overlap; /* the time that `device` and `move` have in common */
    double hideable; /* largest possible `overlap`, by the strips of a product */
    double fetched; /* by the model: fetches of these operands since the last call with them */
    double waited;  /* by the clock: waits of the program for these operands since then */
    bool losing;    /* by the clock, the program as a whole has lost time by its recent calls on devices */
    int distrust;   /* number of such losses, which count as `sales` of every array */
    double weight; /* of a second on the devices in seconds on the host, by the metric; 0: 1 */
    enum sc_metric metric; /* of the question */
    bool kept;      /* the operands live on devices: the host is not expected to use the result */
    bool once;      /* the seconds of the call include all transfers */
    bool chosen;    /* of the question, by sc_decide */
    bool owned;     /* by sc_decide: earlier calls of the array ran on devices */
    bool sold;      /* by sc_decide: a sale, so the whole array is fetched at once */
    double kernels; /* kernels alone, on all devices, each with its part; 0: unknown, or one device */
    int devices;    /* over which the call is spread */
    int planned;    /* devices that new matrices are distributed over; 0: each by its size */
};
/* Seconds of this call on the devices, with transfers. */
double sc_autotuner_now(const struct sc_autotuner_prediction *prediction);
/* Seconds on the host by the sizes, the type and machine.cores alone. */
double sc_autotuner_estimate(const struct sc_autotuner_call *call);
void sc_autotuner_predict(const struct sc_autotuner_call *call, struct sc_autotuner_prediction *out);

/* An array's account, in seconds. All zero: nothing is known of the array. */
struct sc_autotuner_account {
    double loss;    /* sum of the host's losses against the devices' time */
    double balance; /* sum of gains and losses of calls on devices, less fetches */
    bool owned;     /* the last large call ran on devices, and no sale followed */
    int sales;      /* number of sales; each sale doubles the gain that a move needs */
    double measured; /* as `balance` by the clock: host time of the array's calls, less the program's waits */
    double price;    /* by the clock: time of the program for the call that moved the array */
};
/* Ski rental in both directions. Returns 1 for the devices and 0 for the host, and updates the account. */
int sc_autotuner_rent(const struct sc_autotuner_prediction *prediction, struct sc_autotuner_account *account);

/* Decides on a call with operands at home before and after the call, without regard to other calls. Returns 1 if the
 * host takes more than 4 times as long as the devices with the transfers. Transfers count 2^distrust times. */
int sc_autotuner_rent_once(const struct sc_autotuner_prediction *prediction);

/* Enters the measured seconds of a call on the devices. The first call of an array (prediction->owned is false) sets
 * the price of the move; a later call is a gain or a loss. */
void sc_autotuner_paid(struct sc_autotuner_account *account, const struct sc_autotuner_prediction *prediction,
                       double seconds);
/* Does the same for a call that sc_decide has sent to the devices, by the array's key. */
void sc_autotuner_took(uint64_t array, const struct sc_autotuner_prediction *prediction, double seconds);

/* Enters seconds that the program waited for faults and acquisitions of any array. */
void sc_autotuner_waited(double seconds);

/* The reason of a decision, from the account before and after the decision. */
enum sc_trace_reason sc_autotuner_reason(const struct sc_autotuner_prediction *prediction,
                                         const struct sc_autotuner_account *before,
                                         const struct sc_autotuner_account *after, bool devices);

/* Demand of a call on devices for its operands (autotuner/demand.h): the most, if the devices beat a host that has all
 * operands; otherwise one less than the demand for the results. */
int sc_autotuner_wants(const struct sc_autotuner_prediction *prediction, int results);

/* The share of a result's columns for the host BLAS beside the devices: host and devices end at the same time. 0: the
 * gain is below a few percent. Requires independent columns. A value of sc_config.host_share overrides the choice. */
double sc_autotuner_host_share(const struct sc_autotuner_call *call, enum sc_offload mode,
                               const struct sc_autotuner_prediction *prediction);

/* Predicted seconds of the devices alone, and of the devices and the host together with a share of the host. */
struct sc_autotuner_together {
    double share, alone, devices, host;
};
void sc_autotuner_together(const struct sc_autotuner_prediction *prediction, double share,
                           struct sc_autotuner_together *out);
double sc_autotuner_balance(const struct sc_autotuner_prediction *prediction);

/* Returns whether a vector with parts on several devices should be brought to one device for a call of level 1: the
 * transfer at peer_rate bytes/s (0: unknown) takes less time than a launch on every further device. */
bool sc_autotuner_gathers(uint64_t bytes, int devices, double peer_rate, enum sc_offload mode);

/* The gate: work (m n k products, elements of A, or n; level 4, LAPACK: elements of A) below which a call of the level
 * goes to the host without any look-up. */
int64_t sc_autotuner_small(int level);
/* Bytes of the vector (level 1) or matrix (level 2) of calls that no device is faster for while the operands are at
 * home.  0 for other levels, and for metrics other than time. */
int64_t sc_autotuner_short(int level, enum sc_metric metric);

/* Useful floating point operations of a call. A complex product counts 4 and a complex sum 2. */
double sc_autotuner_flops(const struct sc_autotuner_call *call);

/* Forgets accounts, plans, trials and demand (for tests and after a change of devices). */
void sc_autotuner_reset(void);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
