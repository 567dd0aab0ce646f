/* Time of LAPACK's routines on a device: figures of cuSOLVER 12 on an H200 (bench/lapack_rates), operands resident,
 * scaled by the rate of the device's matrix product.  The time of a size between two measured sizes follows a power of
 * the arithmetic. */
#include <math.h>

#include "device/device.h"

#define MEASURED_GEMM 60e12 /* flop/s of dgemm on the device of the figures */

/* n and seconds, in double precision; n = 0 ends a row. */
struct figure {
    double n, seconds;
};
static const struct figure
    potrf[] = {{200, 1e-4}, {500, 2e-4}, {1000, 4.3e-4}, {2000, 9e-4}, {4000, 1.75e-3}, {10000, 11.1e-3},
               {20000, 61.7e-3}, {0, 0}},
    potrs[] = {{1000, 9.6e-4}, {4000, 5.8e-3}, {0, 0}}, /* with n right sides */
    potri[] = {{1000, 1.37e-3}, {4000, 12.7e-3}, {0, 0}},
    trtri[] = {{1000, 1.1e-3}, {4000, 10.6e-3}, {0, 0}},
    getrf[] = {{200, 3e-4}, {500, 9e-4}, {1000, 2.2e-3}, {2000, 5.4e-3}, {4000, 13.2e-3}, {10000, 53.3e-3},
               {20000, 0.210}, {0, 0}},
    getrs[] = {{1000, 1.35e-3}, {4000, 9.2e-3}, {0, 0}}, /* with n right sides, of which an inverse is made */
    geqrf[] = {{1000, 4e-3}, {2000, 9.7e-3}, {4000, 23.8e-3}, {10000, 0.105}, {20000, 0.491}, {0, 0}},
    orgqr[] = {{1000, 6.5e-4}, {4000, 5e-3}, {0, 0}},
    syevd[] = {{200, 1.7e-3}, {500, 4.6e-3}, {1000, 10.4e-3}, {2000, 25.8e-3}, {4000, 0.104}, {10000, 0.894},
               {20000, 5.54}, {0, 0}},
    sygvd[] = {{1000, 12.2e-3}, {4000, 0.118}, {0, 0}},
    gesvd[] = {{1000, 34e-3}, {3000, 0.159}, {6000, 0.625}, {0, 0}}, /* by the polar decomposition */
    geev[] = {{1000, 0.25}, {4000, 1.71}, {0, 0}}, /* with right vectors */
    gecon[] = {{1000, 2.5e-3}, {4000, 13e-3}, {10000, 40e-3}, {0, 0}}, /* not measured: five solutions of one side */
    lange[] = {{1000, 4e-5}, {4000, 1e-4}, {10000, 4e-4}, {0, 0}}; /* not measured: the memory's rate */

/* The figures, and the operation that they belong to.  Another operation takes the time of equal arithmetic. */
static const struct {
    enum sc_op op, of;
    const struct figure *figures;
} rows[] = {
    {SC_OP_POTRF, SC_OP_POTRF, potrf}, {SC_OP_LAUUM, SC_OP_POTRF, potrf}, {SC_OP_POTRS, SC_OP_POTRS, potrs},
    {SC_OP_POTRI, SC_OP_POTRI, potri}, {SC_OP_TRTRI, SC_OP_TRTRI, trtri}, {SC_OP_GETRF, SC_OP_GETRF, getrf},
    {SC_OP_GETRS, SC_OP_GETRS, getrs}, {SC_OP_GETRI, SC_OP_GETRI, getrs},
    {SC_OP_GEQRF, SC_OP_GEQRF, geqrf}, {SC_OP_ORGQR, SC_OP_ORGQR, orgqr},
    {SC_OP_ORMQR, SC_OP_ORGQR, orgqr}, {SC_OP_SYEVD, SC_OP_SYEVD, syevd}, {SC_OP_SYGVD, SC_OP_SYGVD, sygvd},
    {SC_OP_GESVD, SC_OP_GESVD, gesvd}, {SC_OP_GEEV, SC_OP_GEEV, geev}, {SC_OP_GESV, SC_OP_GETRF, getrf},
    {SC_OP_POSV, SC_OP_POTRF, potrf}, {SC_OP_SYEVR, SC_OP_SYEVD, syevd}, {SC_OP_GELSD, SC_OP_GESVD, gesvd},
    {SC_OP_SYGVX, SC_OP_SYGVD, sygvd}, {SC_OP_GELS, SC_OP_GEQRF, geqrf}, {SC_OP_SYTRF, SC_OP_GETRF, getrf},
    {SC_OP_SYTRS, SC_OP_GETRS, getrs}, {SC_OP_SYSV, SC_OP_GETRF, getrf},
    {SC_OP_GECON, SC_OP_GECON, gecon}, {SC_OP_POCON, SC_OP_GECON, gecon},
    {SC_OP_LANGE, SC_OP_LANGE, lange}, {SC_OP_LANSY, SC_OP_LANGE, lange}, {SC_OP_LANHE, SC_OP_LANGE, lange},
    {SC_OP_LANTR, SC_OP_LANGE, lange},
};

static const struct figure *figures_of(enum sc_op op, enum sc_op *of)
{
    size_t i = sizeof rows / sizeof *rows - 1;

    while (i && rows[i].op != op)
        i--;
    *of = rows[i].of;
    return rows[i].figures;
}

static double flops_of(enum sc_op op, double n) { return sc_op_work(op, 'L', n, n, n) * sc_op_rate[op]; }

double sc_device_lapack_seconds(enum sc_op op, double flops, double gemm_flops)
{
    enum sc_op of;
    const struct figure *f = figures_of(op, &of);
    double scale = MEASURED_GEMM / gemm_flops, power;

    if (flops <= flops_of(of, f->n)) /* the length of the chain of small steps */
        return scale * f->seconds * cbrt(flops / flops_of(of, f->n));
    while (f[1].n > 0 && flops > flops_of(of, f[1].n))
        f++;
    power = f[1].n > 0 ? log(f[1].seconds / f->seconds) / log(flops_of(of, f[1].n) / flops_of(of, f->n)) : 1;
    return scale * f->seconds * pow(flops / flops_of(of, f->n), power);
}
/* SPDX-License-Identifier: BSD-2-Clause */
