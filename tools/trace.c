/* semcache trace dump: prints a trace file as text. */
#include <config.h>

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/tool.h"
#include "trace/trace.h"

static error_t parse(int key, char *text, struct argp_state *state)
{
    switch (key) {
    case ARGP_KEY_ARG:
        if (state->arg_num == 0 && strcmp(text, "dump") != 0)
            argp_error(state, "there is no trace command %s: dump", text);
        if (state->arg_num > 1)
            argp_error(state, "one file at a time");
        *(char **)state->input = text;
        return 0;
    case ARGP_KEY_END:
        if (state->arg_num < 2)
            argp_error(state, "say: dump FILE");
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

int sc_tool_trace(int argc, char **argv)
{
    static const struct argp argp = {.parser = parse,
                                     .args_doc = "dump FILE",
                                     .doc = "Prints a trace, one line an event, in the order of time."};
    char *file = NULL;

    argp_parse(&argp, argc, argv, 0, NULL, &file);
    return sc_trace_dump(file, stdout) == SC_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
