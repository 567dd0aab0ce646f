/* A fuzz target is one file that defines LLVMFuzzerTestOneInput and fuzz_corpus; main is in libFuzzer or in
 * runner.c. */
#ifndef SC_TESTS_FUZZ_FUZZ_H
#define SC_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Aborts on a failure, after a line on stdout: stderr is discarded, since the library reports rejected inputs there. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Folders of the source tree with inputs to begin with; NULL at the end. */
extern const char *const fuzz_corpus[];

/* --- file.c ------------------------------------------------------------------------------------------------------- */

/* The path of a regular file with these bytes, valid until the next call. */
const char *fuzz_file(const uint8_t *data, size_t size);
/* A stream that discards the output. */
FILE *fuzz_nowhere(void);

#define FUZZ_MUST(what)                                                            \
    do {                                                                           \
        if (!(what)) {                                                             \
            printf("# %s:%d: not so: %s\n", __FILE__, __LINE__, #what);            \
            fflush(stdout);                                                        \
            abort();                                                               \
        }                                                                          \
    } while (0)

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
