/* The middle and the upper end of a few numbers. */
#ifndef SC_BASE_MEDIAN_H
#define SC_BASE_MEDIAN_H

#include <stddef.h>

/* These sort the values, of which there is at least one: the upper median, and the least that `percent` (1 to 100) of
 * them are not above. */
double sc_median(double *values, size_t count);
double sc_percentile(double *values, size_t count, int percent);

#endif
