/* Real and complex numbers in the module's kernels. */
#ifndef SC_DEVICE_CUDA_NUMBER_CUH
#define SC_DEVICE_CUDA_NUMBER_CUH

/* Aligned as its parts, because the BLAS asks for no more. */
template <typename Real> struct pair_of {
    Real re, im;
};

static __device__ float product(float a, float b) { return a * b; }
static __device__ double product(double a, double b) { return a * b; }
template <typename Real> static __device__ pair_of<Real> product(pair_of<Real> a, pair_of<Real> b)
{
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static __device__ float sum(float a, float b) { return a + b; }
static __device__ double sum(double a, double b) { return a + b; }
template <typename Real> static __device__ pair_of<Real> sum(pair_of<Real> a, pair_of<Real> b)
{
    return {a.re + b.re, a.im + b.im};
}

static __device__ float conjugate(float a) { return a; }
static __device__ double conjugate(double a) { return a; }
template <typename Real> static __device__ pair_of<Real> conjugate(pair_of<Real> a) { return {a.re, -a.im}; }

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
