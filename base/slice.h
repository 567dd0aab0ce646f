/* The time slice of a thread that other threads wait for. */
#ifndef SC_BASE_SLICE_H
#define SC_BASE_SLICE_H

/* Asks the kernel for the shortest slice (0.1 ms) for the calling thread. The thread then runs soon after it wakes up,
 * even beside busy threads on every processor. New threads of the caller have the usual slice. Linux from 6.12 on, and
 * policies without real time; elsewhere without effect. Keeps errno. */
void sc_slice_shorten(void);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
