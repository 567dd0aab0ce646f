/* Median and percentiles of a few numbers. */
#ifndef SC_BASE_MEDIAN_H
#define SC_BASE_MEDIAN_H

#include <stddef.h>

/* Both functions sort `values`, with count >= 1.  sc_median returns the upper median; sc_percentile returns the least
 * value v such that at least `percent` (1 to 100) percent of the values are at most v. */
double sc_median(double *values, size_t count);
double sc_percentile(double *values, size_t count, int percent);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
