#include <config.h>

#include "trace/wrap.h"

#include <stdbool.h>
#include <string.h>

void sc_trace_put_wrapped(FILE *out, char *text, size_t indent)
{
    size_t column = indent;
    bool first = true;

    for (char *rest = text, *word; (word = strtok_r(rest, " ", &rest)) != NULL; first = false) {
        size_t length = strlen(word);

        if (!first && column + 1 + length > SC_TRACE_COLUMNS) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!first) {
            putc(' ', out);
            column++;
        }
        fputs(word, out);
        column += length;
    }
    putc('\n', out);
}
/* SPDX-License-Identifier: BSD-2-Clause */
