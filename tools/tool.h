/* The command's parts. */
#ifndef SC_TOOLS_TOOL_H
#define SC_TOOLS_TOOL_H

#include <argp.h>
#include <stdbool.h>

#include "autotuner/database.h"
#include "device/device.h"
#include "trace/file.h"
#include "trace/read.h"

/* Runs a subcommand; argv[0] is the full name ("semcache run").  Returns the exit status. */
int sc_tool_run(int argc, char **argv);
int sc_tool_info(int argc, char **argv);
int sc_tool_trace(int argc, char **argv);
int sc_tool_tune(int argc, char **argv);
int sc_tool_doctor(int argc, char **argv);
int sc_tool_stat(int argc, char **argv);

/* A command with subcommands: finds the subcommand in argv, passes the remaining arguments on, and returns the
 * status. */
struct sc_tool_menu {
    const struct sc_tool_command {
        const char *name, *full_name; /* "trace", "semcache trace" */
        int (*run)(int argc, char **argv);
    } *command;
    int commands;
    const char *missing;       /* printed without a subcommand */
    const char *kind, *choices; /* "there is no KIND NAME: CHOICES" */
    const char *args_doc, *doc; /* as argp has them */
};
int sc_tool_choose(const struct sc_tool_menu *menu, int argc, char **argv);

/* `semcache completion WORD...': prints what the last word, empty or begun, may become: one candidate a line, in full;
 * ":command" stands for any program.  No line: the name of a file, or nothing known.  An exit status. */
int sc_tool_completion(const struct sc_tool_menu *menu, int argc, char **argv);
/* The part of sc_tool_completion for a command made of commands. */
int sc_tool_complete_menu(const struct sc_tool_menu *menu, int argc, char **argv);
bool sc_tool_completing(void);
/* argp_parse for a command: while completing, prints candidates from the tables of `argp` instead, and exits. */
void sc_tool_parse(const struct argp *argp, int argc, char **argv, unsigned flags, void *input);

/* Prints the LinkMap and, when `svg` is not NULL, draws it there; an exit status. */
int sc_tool_links(const char *svg);

/* `semcache tune`'s bar on a terminal. */
void sc_tool_progress(void *arg, const char *what, int done, int total);
/* `semcache tune --check`: predicts and times a mix of calls, prints the errors; each: of every call, too. Closes the
 * devices; returns an exit status. */
int sc_tool_check(const struct sc_device_ops *ops, int devices, int calls, uint64_t seed, bool each,
                  bool (*stop)(void *arg));
/* Fills in db->calls by calls through the started library (trial.h), which uses `db`. */
bool sc_tool_calibrate(struct sc_database *db);

/* Reads the settings like a program started now. */
void sc_tool_load(void);
/* Opens the devices of the settings; NULL: no devices, or (after a line) a failure. */
const struct sc_device_ops *sc_tool_open(int *devices);
extern const struct sc_device_host sc_tool_device_host;

/* Sets a variable before the settings are read; a forbidden value ends the tool with status 2. */
void sc_tool_set(const char *tool, const char *name, const char *value);

/* Notes the name of a file to write while options are parsed; does not keep `path`. A name like an option ends the tool
 * with status 2. */
void sc_tool_output(const char *tool, const char *option, enum sc_file_kind kind, const char *path);
/* After parsing, before any writing: a name of a foreign file, of `input` (NULL: no input) or of two outputs ends the
 * tool, with a line and status 2. */
void sc_tool_outputs_check(const char *tool, const char *input);
/* Removes old files of the same kinds under these names. */
void sc_tool_outputs_clear(void);

/* The options that set variables for a program under the library. */
extern const struct argp sc_tool_settings;
/* Writes to `path` the file that execvp would run; false: there is none. */
bool sc_tool_find_program(const char *name, char *path, size_t bytes);
/* One line on stderr if the program of this path takes no preloaded library. */
void sc_tool_warn_program(const char *tool, const char *path);
/* False, with the cause: the library cannot be preloaded. */
bool sc_tool_can_preload(char *why, size_t bytes);
/* Has the library preloaded in the program that is executed next; -1 and one line when the library is missing. */
int sc_tool_preload(const char *tool);

/* `semcache trace replay': runs the replaying program in the present environment, and prints the report to stdout. */
int sc_tool_replay(const char *tool, const char *file);

/* Prints the place of an address of code: "file.c:12" with debug information, else "program+0x12". */
void sc_tool_put_line(FILE *out, const struct sc_trace_reading *trace, uint64_t ip);
/* Names of the lines of a trace, for the functions that print traces. */
extern const struct sc_trace_names sc_tool_names;

/* Path of the replaying program (never freed), found like the library. */
const char *sc_tool_replayer(void);

/* Writes the path of a file of the adapters to `out`.  library: among the libraries, else among the data.  False: there
 * is no such file. */
bool sc_tool_adapter(const char *name, bool library, char *out, size_t bytes);
/* Sets the variables by which libraries of the program start their adapters, unless SEMCACHE_ADAPTERS is 0.  arguments:
 * of the program, which may start another program (mpirun); ended by NULL. */
void sc_tool_adapt(const char *program, char **arguments);

/* Path of the library (never freed). */
const char *sc_tool_library(void);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
