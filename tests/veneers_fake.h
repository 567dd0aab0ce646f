/* Of the library behind the veneers: offers are counted, and all are answered alike. */
#ifndef TESTS_VENEERS_FAKE_H
#define TESTS_VENEERS_FAKE_H

#include "blas/veneers/prototypes.h"

static int offers;
static bool offload_answer;

uint64_t sc_blas_copy_ahead(const struct sc_kernel *kernel, bool by_rows, int64_t done)
{
    return (void)kernel, (void)by_rows, (void)done, 0;
}

bool sc_blas_offload(int routine, const struct sc_kernel *kernel, bool once, struct sc_blas_home *home)
{
    (void)routine, (void)kernel, (void)once, (void)home;
    offers++;
    return offload_answer;
}

void sc_blas_host_operands(const struct sc_view *operands, int count) { (void)operands, (void)count; }

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
