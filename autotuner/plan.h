/* Which devices do a call, and how much of it each: PARALiA's selection (TACO 2023, 3.1 and 3.3), extended by what is
 * where already.  Pure functions of the problem and the database. */
#ifndef SC_AUTOTUNER_PLAN_H
#define SC_AUTOTUNER_PLAN_H

#include "autotuner/linkmap.h"
#include "base/config.h"

struct sc_plan_operand {
    double bytes;
    bool read, written;
    bool whole;           /* every device needs all of it (A of a product that is split by columns) */
    bool goes_home;       /* written: the host will want it */
    double on[SC_PLACES]; /* bytes of it that are valid there */
};

struct sc_plan_problem {
    enum sc_op op;
    enum sc_type type;
    double work, flops; /* sc_op_work; useful operations */
    int operands;
    struct sc_plan_operand operand[3];
    enum sc_metric metric;
    int max_hops;
    bool even; /* equal shares of the first n devices: what a new matrix can be distributed over */
};

struct sc_plan {
    sc_places active;           /* devices, or the host alone; 0: nothing is known of this routine */
    int count;
    double share[SC_PLACES];    /* of the work; sum 1 */
    double seconds;             /* until the last one is done */
    double each[SC_PLACES];     /* until each is done */
    double in;                  /* of these: until all of them have their operands */
    double watts;               /* of all devices meanwhile; 0: not known */
};

/* Fills in a plan for a given set: shares are adjusted until the slowest takes at most 5% longer than the fastest,
 * unless `even` is set.  False: the routine or a link was not measured. */
bool sc_plan_for(const struct sc_database *db, const struct sc_plan_problem *problem, sc_places active,
                 struct sc_plan *plan);

/* The better of two by the metric. */
bool sc_plan_is_better(const struct sc_plan_problem *problem, const struct sc_plan *plan, const struct sc_plan *than);

/* The best set of devices (the host is not among them; plan it alone and compare): all sets of up to 4 devices, beyond
 * that sets that grow by the device that helps most. */
bool sc_plan_best(const struct sc_database *db, const struct sc_plan_problem *problem, struct sc_plan *plan);

/* Forgets the plans of shapes (devices.c). */
void sc_plans_reset(void);

#endif
