/* Commands with subcommands: `semcache', `semcache trace'. */
#include <string.h>

#include "tools/tool.h"

struct choice {
    const struct sc_tool_menu *menu;
    const struct sc_tool_command *command;
    int at; /* in argv */
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct choice *choice = state->input;
    const struct sc_tool_menu *menu = choice->menu;

    if (key == ARGP_KEY_NO_ARGS)
        argp_error(state, "%s", menu->missing);
    if (key != ARGP_KEY_ARG)
        return ARGP_ERR_UNKNOWN;
    for (int i = 0; i < menu->commands; i++)
        if (strcmp(text, menu->command[i].name) == 0)
            choice->command = &menu->command[i];
    if (!choice->command)
        argp_error(state, "there is no %s %s: %s", menu->kind, text, menu->choices);
    choice->at = state->next - 1;
    state->next = state->argc; /* the remaining arguments belong to the subcommand */
    return 0;
}

int sc_tool_choose(const struct sc_tool_menu *menu, int argc, char **argv)
{
    const struct argp argp = {.parser = parse, .args_doc = menu->args_doc, .doc = menu->doc};
    struct choice choice = {.menu = menu};

    if (sc_tool_completing())
        return sc_tool_complete_menu(menu, argc, argv);
    argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &choice);
    argv[choice.at] = (char *)choice.command->full_name;
    return choice.command->run(argc - choice.at, argv + choice.at);
}
/* SPDX-License-Identifier: BSD-2-Clause */
