/* The command's parts. */
#ifndef SC_TOOLS_TOOL_H
#define SC_TOOLS_TOOL_H

#include <argp.h>

#include "trace/read.h"

/* Each runs one subcommand; argv[0] is its full name ("semcache run").  Returns the exit status. */
int sc_tool_run(int argc, char **argv);
int sc_tool_info(int argc, char **argv);
int sc_tool_trace(int argc, char **argv);

/* Sets a variable for the settings to be read; a value that is not allowed ends the tool, with status 2. */
void sc_tool_set(const char *tool, const char *name, const char *value);

/* The options that set variables for a program that is run under the library. */
extern const struct argp sc_tool_settings;
/* Has the library preloaded in what is executed next; -1 when it is not there (one line says so). */
int sc_tool_preload(const char *tool);

/* `semcache trace replay': the program that replays, in the environment as it is, and then the report on stdout. */
int sc_tool_replay(const char *tool, const char *file);

/* Prints the place of an address of code: "file.c:12" where debug information says so, else "program+0x12". */
void sc_tool_put_line(FILE *out, const struct sc_trace_reading *trace, uint64_t ip);

/* The program that replays a trace (never freed), found as the library is. */
const char *sc_tool_replayer(void);

/* Where the library is (never freed).  In the build tree also sets the variables that find the machine files and device
 * modules there, unless they are set: call it before the settings are read. */
const char *sc_tool_library(void);

#endif
