/* The kernels of fft_loop for a GPU. */
#ifndef FFT_LOOP_H
#define FFT_LOOP_H

#include "semcache/tasks.h"

#ifdef TASKS_GPU
#ifdef __cplusplus
extern "C" {
#endif
/* Makes a plan for each device; 0: cuFFT refused. */
int fft_loop_prepare(int devices, int64_t n, int64_t columns);
semcache_function fft_loop_transform_gpu, fft_loop_filter_gpu;
#ifdef __cplusplus
}
#endif
#endif

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
