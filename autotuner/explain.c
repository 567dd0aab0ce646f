#include "autotuner/explain.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#define ENTRIES_MAX 4096

bool sc_explain_on;

enum where { NOWHERE, PARTLY, THERE };

static struct entry {
    enum sc_op op;
    enum sc_type type;
    int64_t m, n, k;
    enum where where; /* the operands were, on devices */
    bool devices;     /* the choice */
    uint64_t calls, rented; /* rented: chosen because the loss had reached the cost of moving */
    uint64_t measured;
    double host, kernel, move, result, overlap; /* sums of predictions, s */
    double now, seconds;                        /* of those that were measured: predicted, measured */
} *entries;
static int count, dropped;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static __thread struct {
    int entry; /* plus 1; 0: none */
    double now;
} last __attribute__((tls_model("initial-exec")));

static bool is_of(const struct entry *e, const struct entry *like)
{
    return e->op == like->op && e->type == like->type && e->m == like->m && e->n == like->n && e->k == like->k &&
           e->where == like->where && e->devices == like->devices;
}

/* Under the lock; -1: there are too many. */
static int find(const struct entry *like)
{
    for (int i = 0; i < count; i++)
        if (is_of(&entries[i], like))
            return i;
    if (!entries)
        entries = calloc(ENTRIES_MAX, sizeof *entries);
    if (!entries || count == ENTRIES_MAX)
        return -1;
    entries[count] = *like;
    return count++;
}

void sc_explain_decision(const struct sc_autotuner_call *call, const struct sc_autotuner_prediction *p, double loss,
                         bool devices)
{
    enum where where = !call->device_bytes                                     ? NOWHERE
                     : call->device_bytes + call->overwritten >= call->bytes ? THERE : PARTLY;
    struct entry like = {.op = call->op, .type = call->type, .m = call->m, .n = call->n, .k = call->k, .where = where,
                         .devices = devices};
    int at;

    pthread_mutex_lock(&lock);
    at = find(&like);
    if (at >= 0) {
        struct entry *e = &entries[at];

        e->calls++;
        e->rented += devices && sc_autotuner_now(p) > p->host && loss > 0;
        e->host += p->host;
        e->kernel += p->device;
        e->move += p->move;
        e->result += p->kept ? 0 : p->result;
        e->overlap += p->overlap;
    } else {
        dropped++;
    }
    pthread_mutex_unlock(&lock);
    last.entry = at + 1;
    last.now = p->device + p->move - p->overlap; /* results come home when they are touched */
}

void sc_explain_measured(double seconds)
{
    if (!last.entry)
        return;
    pthread_mutex_lock(&lock);
    entries[last.entry - 1].measured++;
    entries[last.entry - 1].now += last.now;
    entries[last.entry - 1].seconds += seconds;
    pthread_mutex_unlock(&lock);
    last.entry = 0;
}

/* --- the table ---------------------------------------------------------------------------------------------------- */

static const char *why(const struct entry *e)
{
    double now = e->kernel + e->move + e->result - e->overlap;

    if (e->devices)
        return e->rented ? "the host had lost what the move costs" : "faster, with the move";
    if (e->kernel >= e->host)
        return "the host is faster";
    return now > e->host ? "the move costs more than one call gains" : "faster";
}

static void line(FILE *out, const struct entry *e)
{
    static const char *const where[] = {"none", "part", "all"};
    double calls = (double)e->calls * 1e-6, measured = (double)e->measured;

    fprintf(out, "%c%-6s %7lld %7lld %7lld %5s %8llu %11.1f %11.1f %11.1f %11.1f %11.1f %-7s ", sc_type_letter(e->type),
            sc_op_name(e->op), (long long)e->m, (long long)e->n, (long long)e->k, where[e->where],
            (unsigned long long)e->calls, e->host / calls, e->kernel / calls, e->move / calls, e->result / calls,
            e->overlap / calls, e->devices ? "devices" : "host");
    if (e->measured)
        fprintf(out, "%11.1f %11.1f %+6.0f%%", e->now / measured * 1e6, e->seconds / measured * 1e6,
                100 * (e->now / e->seconds - 1));
    else
        fprintf(out, "%11s %11s %7s", "-", "-", "-");
    fprintf(out, "  %s\n", why(e));
}

static int by_error(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Each shape counts once, by its mean. */
static void errors(FILE *out)
{
    double *error = malloc((size_t)(count + 1) * sizeof *error);
    int n = 0;

    for (int i = 0; error && i < count; i++)
        if (entries[i].measured)
            error[n++] = fabs(entries[i].now / entries[i].seconds - 1);
    if (n) {
        qsort(error, (size_t)n, sizeof *error, by_error);
        fprintf(out, "# error of the predictions: median %.0f%%, 95th percentile %.0f%%, of %d kinds of calls\n",
                100 * error[n / 2], 100 * error[(n * 95 + 99) / 100 - 1], n);
    }
    free(error);
}

void sc_explain_write(FILE *out)
{
    pthread_mutex_lock(&lock);
    if (!count) {
        pthread_mutex_unlock(&lock);
        return;
    }
    fprintf(out, "# semcache explain 1: microseconds of one call, mean\n");
    fprintf(out, "# there: operands on devices before; predicted: on the devices, without the result's way home\n");
    fprintf(out, "%-7s %7s %7s %7s %5s %8s %11s %11s %11s %11s %11s %-7s %11s %11s %7s  %s\n", "#call", "m", "n", "k",
            "there", "calls", "host", "kernel", "move", "result", "overlap", "choice", "predicted", "measured", "error",
            "why");
    for (int i = 0; i < count; i++)
        line(out, &entries[i]);
    if (dropped)
        fprintf(out, "# %d more calls of other sizes\n", dropped);
    errors(out);
    pthread_mutex_unlock(&lock);
}
