/* Results of reductions that are known when the program asks: the same reduction again, and the next one.
 *
 * - Again: SciPy's cg computes norm(r), and then the dot product of r with r: the same sum.  Each thread keeps its last
 *   reduction with its result.  When a reduction comes for the second time in a row, its operands are linked
 *   (coherence/derived.h): from then on writes to the operands are noted.
 * - Next: a preconditioned cg computes norm(z), and right after it the dot product of z with r.  The pair is noted.
 *   When the first comes for the third time, the second is computed ahead, and one wait serves both.  The second's
 *   operands are linked, so a write to them before the program asks is noted, and the result is not used. */
#include <string.h>

#include "blas/blas.h"
#include "blas/run/tasks.h"
#include "coherence/derived.h"
#include "trace/trace.h"

enum {
    PAIRS = 64,
    SEEN_ENOUGH = 2, /* times that the pair has come before the second is computed ahead */
    UNSEEN = -16,    /* after a result that was computed ahead and not used */
};

struct question {
    enum sc_op op;
    enum sc_type type;
    int64_t n, incx, incy;
    const void *x, *y;
    double alpha[2];
};

/* A result, good while nobody has written the question's operands since then.  since 0: none. */
struct answer {
    struct question question;
    double value[2];
    uint64_t since;
};

static __thread struct {
    struct answer last, ahead;
    struct question twice;
    uint64_t calls; /* begun when the last reduction was answered */
} asked_ __attribute__((tls_model("initial-exec")));

/* Reductions that came right after another, by the first.  Of all threads: read and written between begin and end. */
static struct pair {
    struct question first, second;
    int seen;
} pairs[PAIRS];

static struct question question_of(const struct sc_blas_job *call)
{
    const struct sc_kernel *k = call->kernel;
    struct question q;

    memset(&q, 0, sizeof q); /* compared as bytes */
    q.op = k->op;
    q.type = k->type;
    q.n = k->n;
    q.incx = k->lda;
    q.x = k->a;
    if (call->operands > 1) {
        q.incy = k->ldb;
        q.y = k->b;
    }
    memcpy(q.alpha, k->alpha, sizeof q.alpha);
    return q;
}

static struct sc_kernel kernel_of(const struct question *q)
{
    return (struct sc_kernel){.op = q->op, .type = q->type, .n = q->n, .a = (void *)q->x, .b = (void *)q->y,
                              .lda = q->incx, .ldb = q->incy, .alpha = {q->alpha[0], q->alpha[1]}};
}

static bool are_equal(const struct question *a, const struct question *b) { return memcmp(a, b, sizeof *a) == 0; }

/* --- links -------------------------------------------------------------------------------------------------------- */

uint64_t sc_blas_recall_link(const struct sc_blas_job *call)
{
    uint64_t since = 0;

    for (int i = 0; i < call->operands; i++) {
        const struct sc_operand *o = &call->operand[i];

        since = o->matrix && o->view.ld == 1 ? sc_coherence_derive(o) : 0;
        if (!since)
            return 0;
    }
    return since;
}

uint64_t sc_blas_recall_from(const struct sc_blas_job *call)
{
    const struct question q = question_of(call);

    return are_equal(&q, &asked_.twice) ? sc_blas_recall_link(call) : 0;
}

static bool is_good(const struct answer *a, const struct question *q, const struct sc_blas_job *call)
{
    if (!a->since || !are_equal(q, &a->question))
        return false;
    for (int i = 0; i < call->operands; i++)
        if (!call->operand[i].matrix || sc_coherence_changed(&call->operand[i], 0, q->n, a->since))
            return false;
    return true;
}

/* --- pairs -------------------------------------------------------------------------------------------------------- */

static struct pair *pair_of(const struct question *first)
{
    uintptr_t key = (uintptr_t)first->x / 64 ^ (uintptr_t)first->y / 4096 ^ (uintptr_t)first->op;

    return &pairs[key % PAIRS];
}

/* The question comes right after the last one. */
static void note_pair(const struct question *q)
{
    struct pair *pair = pair_of(&asked_.last.question);

    if (are_equal(&pair->first, &asked_.last.question) && are_equal(&pair->second, q))
        pair->seen++;
    else
        *pair = (struct pair){.first = asked_.last.question, .second = *q, .seen = 1};
}

/* Bytes that the reduction reads. */
static int64_t reads(const struct question *q)
{
    return q->n * (int64_t)sc_type_bytes(q->type) * (q->y ? 2 : 1);
}

/* The autotuner charges the first's array with the time of both, so a much larger second is computed by itself. */
bool sc_blas_recall_next(const struct sc_blas_job *call, struct sc_kernel *next)
{
    const struct question q = question_of(call);
    const struct pair *pair = pair_of(&q);

    if (sc_coherence_calls() == asked_.calls + 1 && !are_equal(&q, &asked_.last.question))
        note_pair(&q);
    if (pair->seen < SEEN_ENOUGH || !are_equal(&pair->first, &q) || reads(&pair->second) > 2 * reads(&q))
        return false;
    *next = kernel_of(&pair->second);
    return true;
}

/* --- answers ------------------------------------------------------------------------------------------------------ */

static void keep(struct answer *in, const struct question *q, uint64_t since, const double value[2])
{
    *in = (struct answer){.question = *q, .value = {value[0], value[1]}, .since = since};
    asked_.calls = sc_coherence_calls();
}

bool sc_blas_recall(const struct sc_blas_job *call, double value[2])
{
    const struct question q = question_of(call);

    if (asked_.ahead.since) {
        if (is_good(&asked_.ahead, &q, call))
            asked_.last = asked_.ahead;
        else
            pair_of(&asked_.last.question)->seen = UNSEEN;
        asked_.ahead.since = 0;
    }
    if (!is_good(&asked_.last, &q, call))
        return false;
    asked_.calls = sc_coherence_calls();
    memcpy(value, asked_.last.value, sizeof asked_.last.value);
    sc_count(&sc_stats.recalled, 1);
    return true;
}

void sc_blas_recall_later(const struct sc_blas_job *call, uint64_t since, const double value[2])
{
    const struct question q = question_of(call);

    if (are_equal(&q, &asked_.last.question) && memcmp(value, asked_.last.value, sizeof asked_.last.value) == 0)
        asked_.twice = q;
    keep(&asked_.last, &q, since, value);
}

void sc_blas_recall_ahead(const struct sc_blas_job *call, uint64_t since, const double value[2])
{
    const struct question q = question_of(call);

    keep(&asked_.ahead, &q, since, value);
}

void sc_blas_recall_forget(void) { asked_.last.since = asked_.ahead.since = 0; }
/* SPDX-License-Identifier: BSD-2-Clause */
