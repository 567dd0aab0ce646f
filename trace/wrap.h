/* Text in 80 columns. */
#ifndef SC_TRACE_WRAP_H
#define SC_TRACE_WRAP_H

#include <stddef.h>
#include <stdio.h>

#define SC_TRACE_COLUMNS 80

/* Prints the words of `text` in lines that begin at column `indent`; the first word follows the present output. Ends
 * the line. Changes `text`. */
void sc_trace_put_wrapped(FILE *out, char *text, size_t indent);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
