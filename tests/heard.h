/* Captures the output on stderr between heard_listen and heard. */
#ifndef SC_TESTS_HEARD_H
#define SC_TESTS_HEARD_H

#include <stdio.h>
#include <unistd.h>

static char said[4096]; /* the beginning of the output, after heard() */
static FILE *heard_spool_;
static int heard_saved_;

static inline void heard_listen(void)
{
    heard_spool_ = tmpfile();
    heard_saved_ = dup(STDERR_FILENO);
    dup2(fileno(heard_spool_), STDERR_FILENO);
}

/* Returns the number of lines. */
static inline int heard(void)
{
    int lines = 0;
    size_t n;

    dup2(heard_saved_, STDERR_FILENO);
    close(heard_saved_);
    rewind(heard_spool_);
    n = fread(said, 1, sizeof said - 1, heard_spool_);
    said[n] = '\0';
    fclose(heard_spool_);
    for (const char *c = said; *c; c++)
        lines += *c == '\n';
    return lines;
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
