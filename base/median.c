#include "base/median.h"

#include <stdlib.h>

static int by_size(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

double sc_median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, by_size);
    return values[count / 2];
}

double sc_percentile(double *values, size_t count, int percent)
{
    qsort(values, count, sizeof *values, by_size);
    return values[(count * (size_t)percent + 99) / 100 - 1];
}
/* SPDX-License-Identifier: BSD-2-Clause */
