/* Numbers of the kernels (device/cuda/number.cuh) in tests on the host.  Included behind the kernels. */
#include <complex>
#include <cstdint>

typedef std::complex<double> value;

static value value_of(float x) { return x; }
static value value_of(double x) { return x; }
template <typename Real> static value value_of(pair_of<Real> x) { return value(x.re, x.im); }

static void set(float *x, value v) { *x = (float)v.real(); }
static void set(double *x, value v) { *x = v.real(); }
template <typename Real> static void set(pair_of<Real> *x, value v) { *x = {(Real)v.real(), (Real)v.imag()}; }

// Numbers with few digits: sums and products of them are exact.
static value small(int64_t i) { return value((double)(i * 7 % 11 - 5), (double)(i * 5 % 7 - 3)); }
/* SPDX-License-Identifier: BSD-2-Clause */
