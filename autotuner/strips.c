#include "autotuner/strips.h"

#include <math.h>

/* A kernel of so many elements of the result occupies a device: 128 blocks of 128 x 128 on 132 multiprocessors. */
#define FULL ((int64_t)1 << 21)
#define NARROWEST 256
#define NARROWEST_SUM 512 /* with cuts of the sum: a part of the sum reads and writes all of C */
#define ALWAYS 1024   /* allowed for any number of rows */
#define HALVINGS_MOST 3 /* of the last strip; an eighth of the strip is left to go home after the last kernel */
#define BETTER 0.94 /* times the time of a single round, for tiles dealt out as a grid, where the model is less exact */
#define LITTLE 1.005 /* times the least: fewer strips are less work for the host */

int64_t sc_strips_fixed;

static double larger(double a, double b) { return a > b ? a : b; }
static double smaller(double a, double b) { return a < b ? a : b; }

static double parts_of(int64_t extent, int64_t width) { return (double)((extent + width - 1) / width); }

/* Work left after the last strip has arrived, as a fraction, for blocks with a strips of A and b strips of B. */
static double left_of(double a, double b) { return 1 / a + 1 / b - 1 / (a * b); }

/* A call cut into strips: number of strips along the columns, along the sum, and of the columns that arrive with A;
 * number of halvings of the last strip. */
struct cut {
    double across, along, with;
    int halvings;
};

/* Seconds of the kernels of so many strips of the columns, with sums in so many parts on average. `halves`: including
 * the last strip. Adds the number of tasks to *tasks. */
static double run_seconds(const struct sc_strips *s, const struct cut *c, double strips, bool halves, double parts,
                          double *tasks)
{
    double share = strips / c->across, count = (strips + (halves ? c->halvings : 0)) * s->blocks * parts;

    *tasks += count;
    return share * (s->kernel + (parts - 1) * s->again) + count * s->launch + strips * s->strip;
}

/* Seconds of the result's transfer after the last kernel. Of a halved strip the last half is left, if the other halves
 * have gone home under the kernels of their successors. */
static double left_out(double run, double out, double chunks, int halvings)
{
    return larger(ldexp(out, -halvings), smaller(out, 2 * out - run)) / chunks;
}

/* Seconds with the result on its way home part by part: the longer of kernels and transfers hides the shorter except
 * for one part. */
static double with_result(double run, double out, double chunks, int halvings)
{
    return run < out ? out + run / chunks : run + left_out(run, out, chunks, halvings);
}

/* With resident operands. */
static double run_only(const struct sc_strips *s, const struct cut *c, double out)
{
    double tasks = 0, run = run_seconds(s, c, c->across, true, 1, &tasks);

    return with_result(larger(run, tasks * s->devices * s->task), out, c->across * s->tiles, c->halvings);
}

/* Parts of a sum on average. While strips arrive, for a part of the work, the arrived strips are joined, which leaves
 * half; afterwards all strips are joined. */
static double parts_while(const struct sc_strips *s, const struct cut *c, double part)
{
    return s->parts[0] + part * larger((c->along + 1) / 2 - s->parts[0], 0);
}

/* Operands arrive under the kernels whose operands are there, and no kernel starts before the host has enqueued it. A
 * and some of B arrive first. Then the first columns of the result are finished and go home, while the rest of B
 * arrives column by column. */
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

/* Number of strips of the columns. */
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

/* The narrowest occupying width among width, 2 * width, 4 * width... */
static int64_t occupying(const struct sc_strips *s, int64_t width)
{
    while (width < ALWAYS && width * s->rows < FULL)
        width *= 2;
    return width;
}

/* Seconds with the best number of halvings of the last strip. *last: width of the last half; 0: no halving. */
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

/* Seconds without the result's way home. */
double sc_strips_computed(const struct sc_strips *s, int64_t width, double first)
{
    struct sc_strips stays = *s;

    stays.out = stays.latency[1] = 0;
    return sc_strips_seconds(&stays, width, first);
}

/* Seconds with the best share of columns that arrive with A, in *first. The last strip is halved. Of shares with about
 * the same time the larger one counts; 1 if no share is much better. */
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

/* A arrives behind the first strip of B. When the last of A is there, the kernels of that strip have used the rest. The
 * other strips of B arrive under the kernels of their predecessors. */
double sc_strips_in_turn(double kernel, double a_in, double b_in, int a, int b)
{
    double strip = kernel / b, first = b_in / b + larger(a_in + strip / a, a_in / a + strip);

    return larger(first + (b - 1) * strip, a_in + b_in + (b > 1 ? strip : 0));
}

/* --- rank updates on one device ---------------------------------------------------------------------------------- */

#define MEANWHILE_MOST 0.75
#define SHARES 8 /* that are compared, where C arrives, too */
#define DIAGONAL 2048 /* columns of a diagonal block that fills a device; a narrower block takes longer per product */

/* Share of a triangle in the columns [at, at + width), counted from the shortest column. */
static double rank_share(const struct sc_strips_rank *r, int64_t at, int64_t width)
{
    return (double)(2 * at + width) * (double)width / ((double)r->order * (double)r->order);
}

static double rank_kernel(const struct sc_strips_rank *r, int64_t at, int64_t width)
{
    double idle = width < DIAGONAL ? DIAGONAL / (double)width - 1 : 0;

    return r->kernel * (rank_share(r, at, width) + idle * rank_share(r, 0, width));
}

double sc_strips_along_seconds(const struct sc_strips_rank *r, double share, int64_t width)
{
    double parts = larger((double)r->sum / SC_STRIPS_USUAL, 1), first = share * r->kernel, device, link, home;

    link = share * r->result_in + r->in;
    device = link - r->in + larger(r->in, r->in / parts + first * (1 - 1 / parts)) + first / parts;
    home = device + share * r->out;
    for (int64_t end = (int64_t)(sqrt(1 - share) * (double)r->order), at; end > 0; end = at) {
        at = end > width + width / 2 ? end - width : 0;
        link += r->result_in * rank_share(r, at, end - at);
        device = larger(device, link) + rank_kernel(r, at, end - at);
        home = larger(home, device) + r->out * rank_share(r, at, end - at);
    }
    return home;
}

double sc_strips_across_seconds(const struct sc_strips_rank *r, int64_t width)
{
    double link = 0, device = 0, home = 0;

    for (int64_t at = 0, end; at < r->order; at = end) {
        double share;

        end = r->order - at >= width + width / 2 ? at + width : r->order;
        share = rank_share(r, at, end - at);
        link += r->in * (double)(end - at) / (double)r->order + r->result_in * share;
        device = larger(device, link) + rank_kernel(r, at, end - at);
        home = larger(home, device) + r->out * share;
    }
    return home;
}

typedef double rank_seconds(const struct sc_strips_rank *r, double share, int64_t width);

static double rank_across(const struct sc_strips_rank *r, double share, int64_t width)
{
    (void)share;
    return sc_strips_across_seconds(r, width);
}

/* The best of `least` and its multiples up to the width of a diagonal block that fills a device. */
static double best_width(const struct sc_strips_rank *r, rank_seconds *of, double share, int64_t least, int64_t *width)
{
    double shortest = INFINITY;

    *width = least;
    for (int64_t w = least; w <= DIAGONAL; w *= 2) {
        double seconds = of(r, share, w);

        if (seconds < shortest) {
            shortest = seconds;
            *width = w;
        }
    }
    return shortest;
}

struct sc_strips_along sc_strips_along_choose(const struct sc_strips_rank *r, int64_t least)
{
    double most = smaller(r->in / r->kernel, MEANWHILE_MOST), shortest = INFINITY;
    struct sc_strips_along best = {.share = most, .width = least};

    for (int i = SHARES; i > 0 && (i == SHARES || r->result_in > 0); i--) {
        struct sc_strips_along way = {.share = most * i / SHARES};
        double seconds = best_width(r, sc_strips_along_seconds, way.share, least, &way.width);

        if (seconds < shortest) {
            shortest = seconds;
            best = way;
        }
    }
    return best;
}

int64_t sc_strips_across_width(const struct sc_strips_rank *r, int64_t least)
{
    int64_t width;

    best_width(r, rank_across, 0, least, &width);
    return width;
}

/* --- symm, trmm, trsm --------------------------------------------------------------------------------------------- */

#define TURNS_WIDEST 4 /* times the usual width */

/* Share of the first `part` parts of A in a total of bytes or work, which grow (1), shrink (-1) or stay the same (0)
 * from part to part. */
static double share_of(const struct sc_strips_turns *t, int growth, int part)
{
    double x = (double)part / t->parts;

    return growth > 0 ? x * x : growth < 0 ? 1 - (1 - x) * (1 - x) : x;
}

/* The share of part `i` alone. */
static double part_of(const struct sc_strips_turns *t, int growth, int i)
{
    return share_of(t, growth, i + 1) - share_of(t, growth, i);
}

double sc_strips_turns_seconds(const struct sc_strips_turns *t, int64_t first, int64_t width)
{
    double column = 1 / (double)t->columns, part = (double)first * column;
    double link = part * t->b, device = 0, home;

    for (int i = 0; i < t->parts; i++) {
        link += t->a * part_of(t, t->arrival, i);
        device = larger(device, link) + t->strip / t->parts + part * t->kernel * part_of(t, t->growth, i);
    }
    home = device + part * t->out;
    for (int64_t at = first, next; at < t->columns; at = next) {
        next = at + width < t->columns - width / 2 ? at + width : t->columns;
        part = (double)(next - at) * column;
        link += part * t->b;
        device = larger(device, link) + t->strip + part * t->kernel;
        home = larger(home, device) + part * t->out;
    }
    return home;
}

void sc_strips_turns_choose(const struct sc_strips_turns *t, int64_t *first, int64_t *width)
{
    double least = sc_strips_turns_seconds(t, *first = t->columns, *width = t->columns);

    for (int64_t w = SC_STRIPS_USUAL; w <= TURNS_WIDEST * SC_STRIPS_USUAL; w *= 2)
        for (int64_t f = SC_STRIPS_USUAL; f < t->columns; f += SC_STRIPS_USUAL) {
            double seconds = sc_strips_turns_seconds(t, f, w);

            if (seconds < least) {
                least = seconds;
                *first = f;
                *width = w;
            }
        }
}

/* The narrowest candidate width that the caller can cut. */
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
/* SPDX-License-Identifier: BSD-2-Clause */
