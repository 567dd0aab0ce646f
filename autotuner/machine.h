/* The machine of the decisions. A rate comes from the database if measured, otherwise from the devices' properties,
 * otherwise from a constant of machine.c. No other file has a fallback. Pure functions.
 *
 * Seconds, bytes/s and flop/s. `way` is SC_SET_DOWN (host to devices) or SC_SET_UP (devices to host). */
#ifndef SC_AUTOTUNER_MACHINE_H
#define SC_AUTOTUNER_MACHINE_H

#include "autotuner/database.h"
#include "device/device.h"
#include "device/exchange.h"

/* Constants of the host and the driver, which no database has; doc/decision-rules.md gives their measurements. */
#define SC_FAULT_SECONDS 30e-6      /* first touch of a result by the host */
#define SC_HOST_CALL_SECONDS 1e-6   /* a call of the host BLAS */
#define SC_INTERRUPT_SECONDS 1.3e-6 /* of one processor, when pages are closed */
#define SC_TERM_HOST_SECONDS 10e-9  /* per product of two entries of sparse matrices, with the sort; one processor */
#define SC_TERM_SECONDS 1e-9        /* the same on a device */
#define SC_TERMS_SECONDS 1e-3       /* passes over two sparse matrices, and queries of buffer sizes */
#define SC_ANALYSIS_SOLVES 10       /* a device analyses a triangular matrix as long */
#define SC_LAUNCH_SECONDS 5e-6      /* start of a kernel on a device */
#define SC_REFLECTORS 0.3           /* rate of ormqr on a device, in the rate of its products (bench/lapack_rates) */
#define SC_PAGEABLE_BANDWIDTH 7.8e9 /* copies of untracked memory, in one direction */
#define SC_PIPELINE_BYTES (UINT64_C(16) << 20) /* with fewer missing bytes a call is not cut into strips */

/* Properties as reported by the devices and the host; 0: unknown. */
struct sc_machine {
    int devices;             /* available */
    int cores;               /* of the host */
    double host_flops;       /* of all processors together in a double-precision product, measured; 0: not known */
    double gemm_flops;       /* of one device, double precision, flop/s */
    double memory_bandwidth; /* of one device, bytes/s */
    double host_bandwidth;   /* of one device's link to the host, bytes/s */
    double solve;            /* of one device, s for each SC_SOLVE_ROWS rows of the triangle of trsm */
    uint64_t memory;         /* of one device, bytes */
    bool emulated;           /* the clock of the devices does not count the host's work */
    double watts_busy, watts_idle;           /* of one device */
    double host_watts_busy, host_watts_idle; /* of the host without devices */
    const struct sc_database *database; /* NULL: nothing was measured */
};

/* The database in use; NULL: no database. Valid until the process ends. */
const struct sc_database *sc_autotuner_database(void);
/* Sets the database alone; sc_autotuner_use also forgets predictions by an older database. */
void sc_machine_use(const struct sc_database *db);

/* Fills in the machine by the properties of its first device and the database in use. */
void sc_machine_describe(const struct sc_device_properties *device, int devices, int cores, struct sc_machine *out);

/* --- devices ------------------------------------------------------------------------------------------------------ */

double sc_machine_gemm_flops(const struct sc_machine *machine);
double sc_machine_memory_bandwidth(const struct sc_machine *machine);
/* Products of numbers per second of one device in a matrix product, as reported by the device. */
double sc_machine_products(const struct sc_device_properties *device, enum sc_type type);
/* Bytes of operands that stay on a device during a call: 70% of its memory. */
uint64_t sc_machine_room(const struct sc_machine *machine);
/* The same for a call that runs in parts: 94% of the memory, because a part needs little memory beside its operands. */
uint64_t sc_machine_room_in_parts(const struct sc_machine *machine);
/* Bytes of the largest matrix in one piece. */
uint64_t sc_machine_tile(const struct sc_machine *machine);
bool sc_machine_has_room(const struct sc_machine *machine, uint64_t bytes);
/* Seconds that the host takes to start a call of a routine, with the wait for a scalar result. */
double sc_machine_start(const struct sc_machine *machine, enum sc_op op);
/* Costs of calls beside kernels and bytes. */
struct sc_database_calls sc_machine_calls(const struct sc_machine *machine);
/* Such costs on an H200, for a database that is measured in a program: the first calls cannot measure their own costs.
 * Calls with 1 to 3 small operands took 40 to 120 us. */
extern const struct sc_database_calls sc_machine_typical_calls;
/* Seconds of the host for a task, or for a copy between devices with a wait and a mark. */
double sc_machine_task(const struct sc_database *db);

/* --- the host ----------------------------------------------------------------------------------------------------- */

/* Roofline of the host BLAS; flops of double precision, bytes of the operands. */
double sc_machine_host_seconds(const struct sc_machine *machine, double flops, double bytes);
/* A loop of the program on one processor over so many bytes. */
double sc_machine_loop_seconds(double bytes);
/* Rate of a routine of the host's LAPACK in the rate of its matrix products, for large sizes and nominal arithmetic
 * (ops/operations.tab): OpenBLAS on 16 processors (bench/lapack_rates). */
double sc_machine_host_lapack(enum sc_op op);
/* Sets flop/s of the host BLAS in a double-precision product; 0 (the state at the start): a guess by the number of
 * processors. */
void sc_machine_host_flops(double flops);

/* Watts of the whole machine while `work` of a routine (sc_op_work) runs on the first `devices` devices, or on
 * the host (0).  0: not known. */
double sc_machine_watts(const struct sc_machine *machine, enum sc_op op, enum sc_type type, double work, int devices);

/* --- links -------------------------------------------------------------------------------------------------------- */

/* Bytes/s between the host and the first n devices together. */
double sc_machine_host_rate(const struct sc_machine *machine, enum sc_database_set way, int n);
double sc_machine_latency(const struct sc_database *db, enum sc_database_set way);
/* Bytes/s from a place to a device, as reported by the device. */
double sc_machine_link(const struct sc_device_properties *to, int from);
/* Rates of copies between devices. */
void sc_machine_exchange(const struct sc_database *db, struct sc_exchange_rates *out);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
