/* Repeated measurements: the mean and its uncertainty. */
#ifndef SC_AUTOTUNER_SAMPLE_H
#define SC_AUTOTUNER_SAMPLE_H

#include <stdbool.h>

struct sc_sample {
    int count;
    double mean, squares; /* sum of squared deviations from the mean (Welford) */
};

void sc_sample_add(struct sc_sample *sample, double value);
/* Half the 95% confidence interval of the mean (Student's t); infinite for less than two values. */
double sc_sample_uncertainty(const struct sc_sample *sample);
/* True for at least `least` values and half an interval within `part` of the mean. */
bool sc_sample_is_good(const struct sc_sample *sample, int least, double part);

/* Least squares of y = a + b x with relative errors (weights 1 / y^2); false when the points do not tell a from b. */
bool sc_sample_line(const double *x, const double *y, int count, double *a, double *b);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
