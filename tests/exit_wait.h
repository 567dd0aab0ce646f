/* What the program of exit_wait.t and its BLAS tell each other; the environment has the address (EXIT_FLAGS). */
#ifndef SC_TESTS_EXIT_WAIT_H
#define SC_TESTS_EXIT_WAIT_H

#define LONG_WAIT 10000000 /* ns; polls are shorter */

struct exit_flags {
    int waits;      /* the thread waits for the results of the devices */
    int waits_long; /* the thread waits for the end of the process */
    int entered;    /* the thread is in the BLAS after it has waited */
    int stop;       /* the thread is to end */
};

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
