#include "autotuner/strips.h"

#include <math.h>

/* A kernel of so many elements of the result occupies a device: 128 blocks of 128 x 128 on 132 multiprocessors. */
#define FULL ((int64_t)1 << 21)
#define NARROWEST 256
#define NARROWEST_SUM 512 /* where the sum is cut, too: each part reads and writes all of C */
#define ALWAYS 1024   /* this is allowed, however few rows there are */
#define HALVINGS_MOST 3 /* of the last strip: an eighth is left of what goes home after all kernels */
#define BETTER 0.94 /* than all columns at once, where tiles are dealt out as a grid, of which the model knows less */
#define LITTLE 1.005 /* times the least: fewer strips are less work for the host */

int64_t sc_strips_fixed;

static double larger(double a, double b) { return a > b ? a : b; }
static double smaller(double a, double b) { return a < b ? a : b; }

static double parts_of(int64_t extent, int64_t width) { return (double)((extent + width - 1) / width); }

/* Of blocks whose operands arrive in a strips of A and b of B what is left to be done when the last strip has come. */
static double left_of(double a, double b) { return 1 / a + 1 / b - 1 / (a * b); }

/* A call cut into strips: how many of the columns, of the sum, and of the columns that come along with A; how often the
 * last one is halved. */
struct cut {
    double across, along, with;
    int halvings;
};

/* Kernels of so many strips of the columns, whose sums are in so many parts on the mean; `halves`: the last one is
 * among them.  *tasks: how many. */
static double run_seconds(const struct sc_strips *s, const struct cut *c, double strips, bool halves, double parts,
                          double *tasks)
{
    double share = strips / c->across, count = (strips + (halves ? c->halvings : 0)) * s->blocks * parts;

    *tasks += count;
    return share * (s->kernel + (parts - 1) * s->again) + count * s->launch;
}

/* What of the last of so many parts is not home when it is computed: of halves the last, if the others have gone home
 * under the kernels of those after them, whose transfers take as long as their own. */
static double left_out(double run, double out, double chunks, int halvings)
{
    return larger(ldexp(out, -halvings), smaller(out, 2 * out - run)) / chunks;
}

/* The result goes home part after part: what takes longer hides the other but for one part. */
static double with_result(double run, double out, double chunks, int halvings)
{
    return run < out ? out + run / chunks : run + left_out(run, out, chunks, halvings);
}

/* All is there. */
static double run_only(const struct sc_strips *s, const struct cut *c, double out)
{
    double tasks = 0, run = run_seconds(s, c, c->across, true, 1, &tasks);

    return with_result(larger(run, tasks * s->devices * s->task), out, c->across * s->tiles, c->halvings);
}

/* Parts of a sum on the mean: while strips arrive, for a part of the work, those that have come are joined, which is
 * half of them; afterwards all. */
static double parts_while(const struct sc_strips *s, const struct cut *c, double part)
{
    return s->parts[0] + part * larger((c->along + 1) / 2 - s->parts[0], 0);
}

/* Operands arrive under the kernels that have theirs; no kernel begins before the host has enqueued it.  First A and
 * some of B; when these are there, the first columns of the result are finished and go home, while the rest of B
 * arrives for one column after the other. */
static double arriving(const struct sc_strips *s, const struct cut *c, double out)
{
    double share = c->with / c->across, chunks = c->across * s->tiles, tasks = 0;
    double in = s->in_all + share * (s->in - s->in_all) + (c->with + c->along) * s->latency[0];
    double parts = parts_while(s, c, smaller(in / (share * s->kernel), 1));
    double first = run_seconds(s, c, c->with, share >= 1, parts, &tasks);
    double rest = run_seconds(s, c, c->across - c->with, share < 1, s->parts[0], &tasks);
    double all_in = s->in + (c->across + c->along) * s->latency[0];
    double run = in + first - (1 - left_of(c->along, c->with)) * smaller(in, first) + rest;

    if (c->with < c->across)
        run = larger(run, all_in + rest / (c->across - c->with));
    run = larger(run, tasks * s->devices * s->task);
    return larger(in + out, run + left_out(s->kernel, out, chunks, c->halvings));
}

/* Strips of the columns. */
static double across(const struct sc_strips *s, int64_t width)
{
    return larger(larger(parts_of(s->columns, width), s->parts[1]), 1);
}

static double seconds_of(const struct sc_strips *s, int64_t width, double first, int halvings)
{
    struct cut c = {.across = across(s, width), .along = 1, .halvings = halvings};
    double out = s->out + (c.across + halvings) * s->tiles * s->latency[1];

    if (s->in <= 0)
        return run_only(s, &c, out);
    c.along = larger(parts_of(s->sum, width), s->parts[0]);
    c.with = s->apart ? larger(ceil(first * c.across), 1) : c.across;
    return arriving(s, &c, out);
}

/* The narrowest that keeps a device occupied, of these and twice as wide ones and so on. */
static int64_t occupying(const struct sc_strips *s, int64_t width)
{
    while (width < ALWAYS && width * s->rows < FULL)
        width *= 2;
    return width;
}

/* With the last strip halved as often as is best: *last is how narrow it becomes, 0 if it stays. */
static double halved_seconds(const struct sc_strips *s, int64_t width, double first, int64_t *last)
{
    int64_t half = occupying(s, NARROWEST), strip = s->columns / (int64_t)across(s, width);
    double least = seconds_of(s, width, first, 0);

    half = half > s->half ? half : s->half;
    *last = 0;
    for (int i = 1; i <= HALVINGS_MOST && s->half && !sc_strips_fixed && strip >> i >= half; i++) {
        double seconds = seconds_of(s, width, first, i);

        *last = seconds < least ? strip >> i : *last;
        least = smaller(seconds, least);
    }
    return least;
}

int64_t sc_strips_last(const struct sc_strips *s, int64_t width, double first)
{
    int64_t last;

    halved_seconds(s, width, first, &last);
    return last;
}

double sc_strips_seconds(const struct sc_strips *s, int64_t width, double first)
{
    return seconds_of(s, width, first, 0);
}

/* As if the result stayed. */
double sc_strips_computed(const struct sc_strips *s, int64_t width, double first)
{
    struct sc_strips stays = *s;

    stays.out = stays.latency[1] = 0;
    return sc_strips_seconds(&stays, width, first);
}

/* Seconds; *first: the share of the columns that comes first, the best one with the last strip halved, the larger of
 * those that are about as good.  All, if nothing is much better. */
static double best_share(const struct sc_strips *s, int64_t width, double *first)
{
    static const double shares[] = {0.875, 0.75, 0.625, 0.5, 0.375, 0.25, 0.125, 0};
    int64_t last;
    double whole = halved_seconds(s, width, *first = 1, &last), least = s->blocks > 1 ? BETTER * whole : whole;

    for (size_t i = 0; i < sizeof shares / sizeof *shares && s->apart && s->in > 0; i++) {
        double seconds = halved_seconds(s, width, shares[i], &last);

        if (seconds < least / LITTLE) {
            least = seconds;
            *first = shares[i];
        }
    }
    return sc_strips_seconds(s, width, *first);
}

/* All of A comes behind the first strip of B, of which kernels have done what they can when the last of A is there; the
 * others come under the kernels of those before them. */
double sc_strips_in_turn(double kernel, double a_in, double b_in, int a, int b)
{
    double strip = kernel / b, first = b_in / b + larger(a_in + strip / a, a_in / a + strip);

    return larger(first + (b - 1) * strip, a_in + b_in + (b > 1 ? strip : 0));
}

/* Of the widths that are thought of, as far as the caller can cut so. */
static int64_t narrowest(const struct sc_strips *s)
{
    int64_t width = occupying(s, s->in > 0 ? NARROWEST_SUM : NARROWEST);

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
        out->seconds[out->count] = best_share(s, width, &out->first[out->count]);
        out->count++;
        width *= 2;
    } while (width < 2 * most && out->count < SC_STRIPS_MOST && !sc_strips_fixed);
    least = out->seconds[0];
    for (int i = 1; i < out->count; i++)
        least = smaller(least, out->seconds[i]);
    for (int i = 1; i < out->count; i++)
        if (out->seconds[i] <= LITTLE * least)
            out->best = i;
}

void sc_strips_machine(struct sc_strips *s, const struct sc_machine *machine, double bytes_in, double bytes_all,
                       double bytes_out)
{
    double down = sc_machine_host_rate(machine, SC_SET_DOWN, s->devices);

    s->in = bytes_in / down;
    s->in_all = bytes_all / down;
    s->out = bytes_out / sc_machine_host_rate(machine, SC_SET_UP, s->devices);
    s->launch = SC_LAUNCH_SECONDS;
    s->task = sc_machine_task(machine->database);
    s->latency[0] = sc_machine_latency(machine->database, SC_SET_DOWN);
    s->latency[1] = sc_machine_latency(machine->database, SC_SET_UP);
}
