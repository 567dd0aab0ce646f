/* Where a call runs.  The one place where this is decided: numbers about the call, the residency of its operands and
 * the machine go in; a decision comes out (doc/deciding.md).  Pure functions but for the accounts of
 * sc_autotuner_offload.  Thread safe, no locks. */
#ifndef SC_AUTOTUNER_AUTOTUNER_H
#define SC_AUTOTUNER_AUTOTUNER_H

#include <stdbool.h>
#include <stdint.h>

#include "autotuner/machine.h"
#include "base/config.h"
#include "ops/ops.h"
#include "trace/trace.h"

/* The question.  The fields before `want` decide, with the settings, all of a prediction but its history, and are
 * compared byte by byte: an initializer sets padding to zero. */
struct sc_autotuner_call {
    enum sc_op op;
    enum sc_type type;
    enum sc_columns columns; /* of its matrices, level 3 */
    char side;             /* SYMM, HEMM, TRMM, TRSM: 'L' or 'R' */
    int64_t m, n, k;       /* as in struct sc_kernel */
    double terms;          /* products of entries, of a product of two sparse matrices; else 0 */
    uint64_t bytes;        /* of all operands */
    uint64_t result_bytes; /* of those: written by the call */
    uint64_t device_bytes; /* of those: valid on some device */
    uint64_t device_only;  /* of those: not valid on the host */
    uint64_t untracked;    /* of those: in memory that cannot be tracked */
    uint64_t overwritten;  /* of those: not on devices, and written without being read: they need not go there */
    uint64_t reshaped;     /* device-only bytes of matrices of another shape, which are written back first */
    uint64_t largest;      /* of the largest operand; 0: not known */
    int holders;           /* devices that have some of that */
    int arrivals;          /* operands of which something has to be brought */
    int closings;          /* operands that are written and that the host has some of */
    int openings;          /* operands that are only read, that the host lacks some of, and that devices write again */
    uint64_t go_back;      /* bytes of the results that devices want (autotuner/demand.h) */
    uint64_t made_elsewhere; /* of device_only: what devices make in calls with another key, each time anew */
    int64_t back;          /* operands that `go_back` is of: written on the host they have to go to devices again */
    struct sc_machine machine;

    int want;              /* how much devices want its results, by earlier calls (autotuner/demand.h) */
    uint64_t came_home;    /* bytes of the operands' arrays that the host fetched since the last call with them, */
    uint64_t fetches;      /* in so many copies */
    double waited;         /* seconds that the program waited for faults and acquisitions of the operands meanwhile */
    bool once;             /* the host uses all operands next, whatever was known of them */
    uint64_t key;          /* names the array that the largest operand is of: whose account this is; 0: none */
    struct sc_autotuner_account *account; /* of the question itself, in place of the key's; NULL: the key's */
    bool stays;            /* devices have the main operand in a form of their own: the call runs on devices */
    bool absent;           /* the main operand is read once, and not on devices: the call runs on the host */
    bool divides;          /* columns of the result do not depend on each other: the host may compute some */
    double peers;          /* slowest link between two devices over a link of the host; 0: none, or unknown */
    int operands;
    const struct sc_view *view; /* operands; `spread` and tiles are not looked at */
};

/* Seconds that a call would take. */
struct sc_autotuner_prediction {
    double host;   /* on the host, with what it has to fetch */
    double alone;  /* of that: computing */
    double fetch;  /* of that: fetching what would be at home then, and stay there */
    double back;   /* beside that, afterwards: what it writes goes to the devices, if they read it; pages are closed */
    double device; /* on the devices, everything there already */
    double move;   /* once: what the devices lack */
    double result; /* bringing the result home, if the host is where it is used */
    double overlap; /* of device and move: what is done at the same time */
    double hideable; /* what could be at best, by the strips that products are cut into */
    double fetched; /* what fetching has taken since the last call with these operands, by the model */
    double waited;  /* seconds that the program has waited for these operands meanwhile, by the clock */
    bool losing;    /* by the clock the program as a whole has lost time lately by its calls on devices */
    int distrust;   /* how often it was found to lose: as `sales` of every array */
    double weight; /* of a second on the devices in one on the host, by sc_config.metric; 0: as 1 */
    bool kept;      /* the operands live on devices: the result is not expected to be wanted on the host */
    bool once;      /* of the call: its seconds include all transfers */
    bool owned;     /* by sc_autotuner_decide: the array's calls ran there before */
    bool sold;      /* by sc_autotuner_decide: they do no more, and all of the array is to be fetched at once */
    int devices;    /* that it is spread over */
    int planned;    /* devices that new matrices are distributed over; 0: each by its size */
};
/* All of it: this call on the devices. */
double sc_autotuner_now(const struct sc_autotuner_prediction *prediction);
/* Seconds on the host, by the sizes, the type and machine.cores alone. */
double sc_autotuner_estimate(const struct sc_autotuner_call *call);
/* Seconds of the kernels of 1 / `parts` of a call on one device: the one model of kernels. */
double sc_autotuner_kernels(const struct sc_autotuner_call *call, int parts);
void sc_autotuner_predict(const struct sc_autotuner_call *call, struct sc_autotuner_prediction *out);

/* What is known of an array from the calls so far, in seconds.  All zero: nothing. */
struct sc_autotuner_account {
    double loss;    /* on the host: what calls there have cost beyond the devices' time */
    double balance; /* on devices: what calls there have gained or lost, less what fetching has taken since */
    bool owned;     /* the last large call ran there, and it has not been sold since */
    int sales;      /* how often that was a loss; each doubles what moving has to gain */
    double measured; /* as balance, by the clock: the host's time of its calls less what the program has waited */
    double price;    /* what the call that moved the array took the program, by the clock */
};
/* Ski rental, to the devices and back.  Returns 1 for the devices, 0 for the host, and the account after this call. */
int sc_autotuner_rent(const struct sc_autotuner_prediction *prediction, struct sc_autotuner_account *account);

/* The same for a call whose operands are all at home before and after it, so that no other call matters: 1 if the host
 * takes more than 4 times as long as the devices with all transfers.  Transfers count 2^distrust times. */
int sc_autotuner_rent_once(const struct sc_autotuner_prediction *prediction);

/* A call on the devices took the program's thread so many seconds.  The first of an array (prediction->owned is false)
 * is the price of moving the array; a later one is a gain or a loss. */
void sc_autotuner_paid(struct sc_autotuner_account *account, const struct sc_autotuner_prediction *prediction,
                       double seconds);
/* The same for a call that sc_autotuner_decide has sent to the devices. */
void sc_autotuner_took(uint64_t array, const struct sc_autotuner_prediction *prediction, double seconds);

/* The program has waited so long for faults and acquisitions of any array. */
void sc_autotuner_waited(double seconds);

/* Why it did, in a word: from the account before and after. */
enum sc_trace_reason sc_autotuner_reason(const struct sc_autotuner_prediction *prediction,
                                         const struct sc_autotuner_account *before,
                                         const struct sc_autotuner_account *after, bool devices);

/* How much a call on devices wants what it reads (autotuner/demand.h): most, if devices do it sooner than a host that
 * has everything, else for the sake of those that want its results so much. */
int sc_autotuner_wants(const struct sc_autotuner_prediction *prediction, int results);

/* Of a call that runs on the devices and whose result has columns that do not depend on each other: the part of them
 * that the host BLAS should compute meanwhile, so that both are done at the same time; 0 where that gains less than a
 * few percent.  sc_config.host_share goes before that. */
double sc_autotuner_host_share(const struct sc_autotuner_call *call, enum sc_offload mode,
                               const struct sc_autotuner_prediction *prediction);

/* What that is chosen from: seconds of the devices alone, and of both, each with its share. */
struct sc_autotuner_together {
    double share, alone, devices, host;
};
void sc_autotuner_together(const struct sc_autotuner_prediction *prediction, double share,
                           struct sc_autotuner_together *out);
double sc_autotuner_balance(const struct sc_autotuner_prediction *prediction);

/* Whether the devices are to be opened for a call that is large enough to be offloaded and would take the host so many
 * seconds: when the host has spent so long in such calls (1 s) that opening them, half a second of a processor, makes
 * little difference to the whole. */
enum sc_autotuner_opening {
    SC_OPENS_NOT,
    SC_OPENS_SOON, /* while this call and others run on the host, which they do in less time */
    SC_OPENS_NOW   /* for this call */
};
enum sc_autotuner_opening sc_autotuner_opens(double host_seconds);
double sc_autotuner_spent(void); /* seconds of these calls */

/* A vector of which several devices have parts, and which is asked for as a whole (level 1): whether bringing it to one
 * of them at peer_rate bytes/s (0: not known) takes less time than one launch on each of the others. */
bool sc_autotuner_gathers(uint64_t bytes, int devices, double peer_rate, enum sc_offload mode);

/* Work (m n k products, or elements of A, or n) below which a call of this level goes to the host without any
 * look-up. */
int64_t sc_autotuner_small(int level);

/* Useful floating point operations of a call (a complex product counts 4, a complex sum 2). */
double sc_autotuner_flops(const struct sc_autotuner_call *call);

/* Forgets accounts, plans, trials and readers (tests; a change of devices). */
void sc_autotuner_reset(void);

#endif
