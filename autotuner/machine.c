#include "autotuner/machine.h"

#include "device/links.h"

#include <string.h>

/* Fallbacks; measured on an H200 where doc/decision-rules.md gives a figure. */
#define CALL_SECONDS 5e-6      /* start of a call */
#define SCALAR_SECONDS 20e-6   /* wait for a scalar result */
#define CLOSING_SECONDS 20e-6  /* pages of an operand */
#define TASK_SECONDS 8e-6      /* of the host, for a task or a copy between devices */
#define LATENCY_SECONDS 10e-6  /* of a transfer */
#define HIDDEN 0.7             /* of the shorter of transfer and kernel */
#define CORE_FLOPS 14e9        /* double precision; OpenBLAS on many processors */
#define CORE_BANDWIDTH 8e9
#define HOST_BANDWIDTH_MAX 300e9
#define LOOP_CACHE 16777216.0  /* bytes that a processor's caches hold */
#define LOOP_BANDWIDTH 20e9    /* of a loop on one processor over so many bytes */
#define DEVICE_FLOPS 5e12
#define DEVICE_BANDWIDTH 500e9
#define PEER_BANDWIDTH 100e9
#define KERNEL_LATENCY 1e-6    /* of a kernel that copies, beyond a copy's */
#define KERNEL_RATE 0.8        /* of a kernel that copies, in the link's rate: its units are lost to other kernels */

const struct sc_database_calls sc_machine_typical_calls = {true, 12e-6, 12e-6, 10e-6, 20e-6, {0.7, 0.4}, 0.9};

static double known(double rate, double otherwise) { return rate > 0 ? rate : otherwise; }
static double larger(double a, double b) { return a > b ? a : b; }
static double smaller(double a, double b) { return a < b ? a : b; }

static double host_flops;
static const struct sc_database *current; /* written once, with release order */

const struct sc_database *sc_autotuner_database(void) { return __atomic_load_n(&current, __ATOMIC_ACQUIRE); }
void sc_machine_use(const struct sc_database *db) { __atomic_store_n(&current, db, __ATOMIC_RELEASE); }

void sc_machine_host_flops(double flops) { __atomic_store(&host_flops, &flops, __ATOMIC_RELAXED); }

void sc_machine_describe(const struct sc_device_properties *device, int devices, int cores, struct sc_machine *out)
{
    memset(out, 0, sizeof *out); /* compared as bytes later */
    out->devices = devices;
    out->cores = cores;
    __atomic_load(&host_flops, &out->host_flops, __ATOMIC_RELAXED);
    out->gemm_flops = device->gemm_flops;
    out->memory_bandwidth = device->memory_bandwidth;
    out->host_bandwidth = device->host_bandwidth;
    out->solve = device->solve;
    out->memory = device->memory;
    out->emulated = device->emulated;
    out->watts_busy = device->watts_busy;
    out->watts_idle = device->watts_idle;
    out->host_watts_busy = device->host_watts_busy;
    out->host_watts_idle = device->host_watts_idle;
    out->database = sc_autotuner_database();
}

/* --- devices ------------------------------------------------------------------------------------------------------ */

double sc_machine_gemm_flops(const struct sc_machine *m) { return known(m->gemm_flops, DEVICE_FLOPS); }

double sc_machine_memory_bandwidth(const struct sc_machine *m) { return known(m->memory_bandwidth, DEVICE_BANDWIDTH); }

double sc_machine_products(const struct sc_device_properties *device, enum sc_type type)
{
    double flops = known(device->gemm_flops, DEVICE_FLOPS) * (type == SC_S || type == SC_C ? 2 : 1);

    return flops / (sc_type_is_complex(type) ? 8 : 2);
}

static uint64_t memory_of(const struct sc_machine *m)
{
    bool is_limited = sc_config.memory_limit && sc_config.memory_limit < m->memory;

    return is_limited ? sc_config.memory_limit : m->memory;
}

uint64_t sc_machine_room(const struct sc_machine *m) { return memory_of(m) / 10 * 7; }

uint64_t sc_machine_room_in_parts(const struct sc_machine *m) { return memory_of(m) / 100 * 94; }

uint64_t sc_machine_tile(const struct sc_machine *m) { return memory_of(m) / SC_TILES_A_DEVICE; }

bool sc_machine_has_room(const struct sc_machine *m, uint64_t bytes) { return bytes <= sc_machine_room(m); }

struct sc_database_calls sc_machine_calls(const struct sc_machine *m)
{
    if (m->database && m->database->calls.known)
        return m->database->calls;
    return (struct sc_database_calls){.start = CALL_SECONDS, .closing = CLOSING_SECONDS, .scalar = SCALAR_SECONDS,
                                      .arrival = sc_machine_latency(m->database, SC_SET_DOWN),
                                      .hidden = {HIDDEN, HIDDEN}, .links = 1};
}

double sc_machine_start(const struct sc_machine *m, enum sc_op op)
{
    struct sc_database_calls calls = sc_machine_calls(m);

    if (m->database && op < SC_OPS && m->database->start[op] > 0)
        return m->database->start[op];
    return calls.start + (sc_op_is_reduction(op) ? calls.scalar : 0);
}

double sc_machine_task(const struct sc_database *db) { return known(db ? db->enqueue : 0, TASK_SECONDS); }

/* --- the host ----------------------------------------------------------------------------------------------------- */

double sc_machine_host_seconds(const struct sc_machine *m, double flops, double bytes)
{
    int cores = m->cores > 0 ? m->cores : 1;
    double bandwidth = smaller(cores * CORE_BANDWIDTH, HOST_BANDWIDTH_MAX);

    return SC_HOST_CALL_SECONDS + larger(flops / known(m->host_flops, cores * CORE_FLOPS), bytes / bandwidth);
}

double sc_machine_loop_seconds(double bytes)
{
    return bytes / (bytes <= LOOP_CACHE ? LOOP_BANDWIDTH : CORE_BANDWIDTH);
}

double sc_machine_host_lapack(enum sc_op op)
{
    switch (op) {
    case SC_OP_POTRF:
    case SC_OP_POSV: return 0.6;
    case SC_OP_GETRF:
    case SC_OP_GESV: return 0.7;
    case SC_OP_SYEVD:
    case SC_OP_SYEVR:
    case SC_OP_SYGVD:
    case SC_OP_SYGVX: return 0.35;
    case SC_OP_GELSD:
    case SC_OP_GESVD: return 0.2;
    case SC_OP_GEEV: return 0.05;
    case SC_OP_GECON:
    case SC_OP_POCON: return 0.02; /* limited by memory */
    default: return 0.5;
    }
}

/* --- energy ------------------------------------------------------------------------------------------------------- */

double sc_machine_watts(const struct sc_machine *m, enum sc_op op, enum sc_type type, double work, int devices)
{
    const struct sc_database *db = m->database;
    double sum = devices ? m->host_watts_idle : m->host_watts_busy;

    if (db)
        sum = known(devices ? db->idle_watts[SC_PLACE_HOST] : sc_database_watts(db, SC_PLACE_HOST, op, type, work),
                    sum);
    if (!devices && sum <= 0)
        return 0;
    for (int d = 0; d < m->devices; d++) {
        double busy = db && d < devices ? sc_database_watts(db, d, op, type, work / devices) : 0;
        double watts = d < devices ? known(busy, m->watts_busy) : known(db ? db->idle_watts[d] : 0, m->watts_idle);

        if (d < devices && watts <= 0)
            return 0;
        sum += watts;
    }
    return sum;
}

/* --- links -------------------------------------------------------------------------------------------------------- */

double sc_machine_host_rate(const struct sc_machine *m, enum sc_database_set way, int n)
{
    double rate = m->database ? sc_database_host_rate(m->database, way, n) : 0;

    return known(rate, n * known(m->host_bandwidth, SC_LINK_UNKNOWN));
}

double sc_machine_latency(const struct sc_database *db, enum sc_database_set way)
{
    if (!db)
        return LATENCY_SECONDS;
    return known(way == SC_SET_DOWN ? db->link[SC_PLACE_HOST][0].latency : db->link[0][SC_PLACE_HOST].latency,
                 LATENCY_SECONDS);
}

double sc_machine_link(const struct sc_device_properties *to, int from)
{
    return known(from == SC_HOST || !to->peer[from] ? to->host_bandwidth : to->peer_bandwidth[from], SC_LINK_UNKNOWN);
}

static struct sc_exchange_link known_link(const struct sc_database_link *measured, double latency, double bandwidth)
{
    bool is_known = measured && measured->bandwidth > 0;

    return (struct sc_exchange_link){is_known ? measured->latency : latency,
                                     is_known ? measured->bandwidth : bandwidth};
}

void sc_machine_exchange(const struct sc_database *db, struct sc_exchange_rates *out)
{
    out->task = sc_machine_task(db);
    for (int from = 0; from < SC_DEVICES_MAX; from++)
        for (int to = 0; to < SC_DEVICES_MAX; to++) {
            struct sc_exchange_link copies = known_link(db ? &db->link[from][to] : NULL, LATENCY_SECONDS,
                                                        PEER_BANDWIDTH);
            double latency = copies.latency + KERNEL_LATENCY, bandwidth = copies.bandwidth * KERNEL_RATE;

            out->copies[from][to] = copies;
            out->pull[from][to] = known_link(db ? &db->pull[from][to] : NULL, latency, bandwidth);
            out->push[from][to] = known_link(db ? &db->push[from][to] : NULL, latency, bandwidth);
        }
}
/* SPDX-License-Identifier: BSD-2-Clause */
