/* A fuzz target is one file with these two; libFuzzer or runner.c has the main. */
#ifndef SC_TESTS_FUZZ_FUZZ_H
#define SC_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the process when something is wrong, having said so on stdout: on stderr the library says what it refuses, which
 * whoever runs this throws away. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Folders of the source tree with inputs to begin with; NULL at the end. */
extern const char *const fuzz_corpus[];

/* --- file.c ------------------------------------------------------------------------------------------------------- */

/* The bytes as a regular file, by its path; until the next call. */
const char *fuzz_file(const uint8_t *data, size_t size);
/* A stream that takes everything and keeps nothing. */
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
