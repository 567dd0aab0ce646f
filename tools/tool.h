/* The command's parts. */
#ifndef SC_TOOLS_TOOL_H
#define SC_TOOLS_TOOL_H

/* Each runs one subcommand; argv[0] is its full name ("semcache run").  Returns the exit status. */
int sc_tool_run(int argc, char **argv);
int sc_tool_info(int argc, char **argv);
int sc_tool_trace(int argc, char **argv);

/* Sets a variable for the settings to be read; a value that is not allowed ends the tool, with status 2. */
void sc_tool_set(const char *tool, const char *name, const char *value);

/* Where the library is (never freed).  In the build tree also sets the variables that find the machine files and device
 * modules there, unless they are set: call it before the settings are read. */
const char *sc_tool_library(void);

#endif
