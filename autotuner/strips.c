#include "autotuner/strips.h"

/* A kernel of so many elements of the result occupies a device: 128 blocks of 128 x 128 on 132 multiprocessors. */
#define FULL ((int64_t)1 << 21)
#define NARROWEST 256
#define NARROWEST_SUM 512 /* where the sum is cut, too: each part reads and writes all of C */
#define ALWAYS 1024   /* this is allowed, however few rows there are */
#define LITTLE 1.005 /* times the least: fewer strips are less work for the host */

/* Without measurements, as elsewhere: predict.c, exchange.c. */
#define LAUNCH 5e-6
#define TASK 8e-6
#define LATENCY 10e-6
#define BANDWIDTH 12e9

int64_t sc_strips_fixed;

static double larger(double a, double b) { return a > b ? a : b; }
static double smaller(double a, double b) { return a < b ? a : b; }
static double known(double value, double otherwise) { return value > 0 ? value : otherwise; }

static double parts_of(int64_t extent, int64_t width) { return (double)((extent + width - 1) / width); }

/* Of blocks whose operands arrive in a strips of A and b of B what is left to be done when the last strip has come. */
static double left_of(double a, double b) { return 1 / a + 1 / b - 1 / (a * b); }

/* Operands arrive under the kernels that have theirs; no kernel begins before the host has enqueued it; and the result
 * goes home part after part: what takes longer hides the other but for one part. */
double sc_strips_seconds(const struct sc_strips *s, int64_t width)
{
    double across = larger(parts_of(s->columns, width), s->parts[1]);
    double along = s->in > 0 ? larger(parts_of(s->sum, width), s->parts[0]) : 1;
    double tasks = across * s->blocks * (along + 1) / 2; /* parts of the sum that have come are joined */
    double chunks = across * s->tiles;
    double run = s->kernel + (along - 1) / 2 * s->again + tasks * s->launch, out = s->out + chunks * s->latency[1], in;

    if (s->in > 0) {
        in = s->in + (across + along) * s->latency[0];
        run += in - (1 - left_of(along, across)) * smaller(in, run);
    }
    run = larger(run, tasks * s->devices * s->task);
    return larger(run, out) + smaller(run, out) / chunks;
}

/* The narrowest that keeps a device occupied, as far as the caller can cut so. */
static int64_t narrowest(const struct sc_strips *s)
{
    int64_t width = s->in > 0 ? NARROWEST_SUM : NARROWEST;

    while (width < ALWAYS && width * s->rows < FULL)
        width *= 2;
    while (width < s->least)
        width *= 2;
    return width;
}

void sc_strips_choose(const struct sc_strips *s, struct sc_strips_choice *out)
{
    int64_t width = sc_strips_fixed ? sc_strips_fixed : narrowest(s), most = s->columns > s->sum ? s->columns : s->sum;
    double least;

    out->count = out->best = 0;
    do {
        out->width[out->count] = width;
        out->seconds[out->count++] = sc_strips_seconds(s, width);
        width *= 2;
    } while (width < 2 * most && out->count < SC_STRIPS_MOST && !sc_strips_fixed);
    least = out->seconds[0];
    for (int i = 1; i < out->count; i++)
        least = smaller(least, out->seconds[i]);
    for (int i = 1; i < out->count; i++)
        if (out->seconds[i] <= LITTLE * least)
            out->best = i;
}

void sc_strips_machine(struct sc_strips *s, const struct sc_database *db, double otherwise, double bytes_in,
                       double bytes_out)
{
    double down = db ? sc_database_host_rate(db, SC_SET_DOWN, s->devices) : 0;
    double up = db ? sc_database_host_rate(db, SC_SET_UP, s->devices) : 0;

    otherwise = s->devices * known(otherwise, BANDWIDTH);
    s->in = bytes_in / known(down, otherwise);
    s->out = bytes_out / known(up, otherwise);
    s->launch = LAUNCH;
    s->task = known(db ? db->enqueue : 0, TASK);
    s->latency[0] = known(db ? db->link[SC_PLACE_HOST][0].latency : 0, LATENCY);
    s->latency[1] = known(db ? db->link[0][SC_PLACE_HOST].latency : 0, LATENCY);
}
