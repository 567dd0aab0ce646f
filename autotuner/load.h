/* The time model of a call on several devices. Devices work side by side. On a device kernels, transfers in and
 * transfers out overlap. No other file composes times of devices. Seconds. */
#ifndef SC_AUTOTUNER_LOAD_H
#define SC_AUTOTUNER_LOAD_H

/* The work of one device in a call. */
struct sc_load {
    double run, in, out; /* kernels, transfers in, transfers out */
};

/* Seconds until the device is done, if all of its transfers overlap with its kernels. */
static inline double sc_load_seconds(const struct sc_load *load)
{
    double transfers = load->in > load->out ? load->in : load->out;

    return load->run > transfers ? load->run : transfers;
}

/* Seconds until the last device is done. */
static inline double sc_loads_seconds(const struct sc_load *load, int devices)
{
    double last = 0;

    for (int d = 0; d < devices; d++)
        last = sc_load_seconds(&load[d]) > last ? sc_load_seconds(&load[d]) : last;
    return last;
}

/* The same, task by task: the device has computed until load->run, and takes the next task when the task's operands are
 * there (`arrival`, after the begin of the call). */
static inline void sc_load_task(struct sc_load *load, double arrival, double seconds)
{
    load->in = arrival > load->in ? arrival : load->in;
    load->run = (arrival > load->run ? arrival : load->run) + seconds;
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
