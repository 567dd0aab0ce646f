#include "autotuner/sample.h"

#include <math.h>

void sc_sample_add(struct sc_sample *s, double value)
{
    double away = value - s->mean;

    s->count++;
    s->mean += away / s->count;
    s->squares += away * (value - s->mean);
}

/* 97.5% quantiles of Student's distribution. The last row of the table is a safe bound beyond the table. */
static double student(int freedom)
{
    static const double t[] = {0,     12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                               2.201, 2.179,  2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086};
    int last = (int)(sizeof t / sizeof *t) - 1;

    return t[freedom < last ? freedom : last];
}

double sc_sample_uncertainty(const struct sc_sample *s)
{
    if (s->count < 2)
        return HUGE_VAL;
    return student(s->count - 1) * sqrt(s->squares / (s->count - 1) / s->count);
}

bool sc_sample_is_good(const struct sc_sample *s, int least, double part)
{
    return s->count >= least && sc_sample_uncertainty(s) <= part * fabs(s->mean);
}

bool sc_sample_line(const double *x, const double *y, int count, double *a, double *b)
{
    double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0, det;

    for (int i = 0; i < count; i++) {
        double weight = 1 / (y[i] * y[i]);

        w += weight;
        wx += weight * x[i];
        wy += weight * y[i];
        wxx += weight * x[i] * x[i];
        wxy += weight * x[i] * y[i];
    }
    det = w * wxx - wx * wx;
    if (!(det > 1e-12 * w * wxx))
        return false;
    *b = (w * wxy - wx * wy) / det;
    *a = (wy - *b * wx) / w;
    return isfinite(*a) && isfinite(*b);
}
/* SPDX-License-Identifier: BSD-2-Clause */
