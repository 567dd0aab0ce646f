/* Text in 80 columns. */
#ifndef SC_TRACE_WRAP_H
#define SC_TRACE_WRAP_H

#include <stddef.h>
#include <stdio.h>

#define SC_TRACE_COLUMNS 80

/* Prints words, the first one at column `indent`, where following lines begin, too; ends the line.  Changes `text`. */
void sc_trace_put_wrapped(FILE *out, char *text, size_t indent);

#endif
