/* semcache completion: candidates for the last word of a command line, for the completion of shells.  Sources are the
 * tables of commands, options and settings. */
#include <config.h>

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libsemcache/config.h"
#include "libsemcache/places.h"
#include "tools/tool.h"

/* Names of arguments in tables of options, and the settings whose values are allowed there. */
static const struct {
    const char *argument, *setting;
} values_of[] = {{"DEVICE", "SEMCACHE_DEVICE"}, {"WHICH", "SEMCACHE_OFFLOAD"}, {"FORM", "SEMCACHE_SUMMARY"}};

static bool completing;

/* A line on stdout if `prefix` and `word` together continue `typed`. */
static void offer(const char *typed, const char *prefix, const char *word, const char *end)
{
    size_t length = strlen(prefix), have = strlen(typed);

    if (strncmp(typed, prefix, have < length ? have : length) == 0 &&
        (have <= length || strncmp(typed + length, word, have - length) == 0))
        printf("%s%s%s\n", prefix, word, end);
}

/* The machine files, as emu:NAME. */
static void offer_machines(const char *typed, const char *prefix)
{
    DIR *folder;
    struct dirent *entry;
    char word[300], *dot;

    sc_places_find(sc_tool_library());
    folder = opendir(sc_places.machines);
    while (folder && (entry = readdir(folder))) {
        snprintf(word, sizeof word, "emu:%s", entry->d_name);
        dot = strrchr(word, '.');
        if (dot && strcmp(dot, ".machine") == 0) {
            *dot = '\0';
            offer(typed, prefix, word, "");
        }
    }
    if (folder)
        closedir(folder);
}

/* `values`: as in struct sc_setting, for example "auto, none, emu:MACHINE[:COUNT]". */
static void offer_values(const char *typed, const char *prefix, const char *values)
{
    char word[64];

    for (const char *at = values; at; at = strstr(at, ", ") ? strstr(at, ", ") + 2 : NULL) {
        snprintf(word, sizeof word, "%.*s", (int)strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789-:"), at);
        if (strcmp(word, "emu:") == 0)
            offer_machines(typed, prefix);
        else if (*word)
            offer(typed, prefix, word, "");
    }
}

static void offer_argument(const char *typed, const char *prefix, const struct argp_option *option)
{
    for (size_t i = 0; i < sizeof values_of / sizeof *values_of; i++)
        if (strcmp(option->arg, values_of[i].argument) == 0)
            for (const struct sc_setting *setting = sc_config_settings; setting->name; setting++)
                if (strcmp(setting->name, values_of[i].setting) == 0)
                    offer_values(typed, prefix, setting->values);
}

static bool is_option(const struct argp_option *option)
{
    return (option->name || option->key) && !(option->flags & (OPTION_HIDDEN | OPTION_DOC));
}

/* The option of a word: "--name", "--name=VALUE" (`length` of "--name") or "-n". */
static const struct argp_option *find(const struct argp *argp, const char *word, size_t length)
{
    const struct argp_option *found = NULL;

    for (const struct argp_option *o = argp->options; o && (o->name || o->key || o->doc) && !found; o++)
        if (is_option(o) && ((length == 2 && word[1] == o->key) ||
                             (o->name && strlen(o->name) + 2 == length && strncmp(word + 2, o->name, length - 2) == 0)))
            found = o;
    for (const struct argp_child *child = argp->children; child && child->argp && !found; child++)
        found = find(child->argp, word, length);
    return found;
}

static void offer_options(const struct argp *argp, const char *typed)
{
    for (const struct argp_option *o = argp->options; o && (o->name || o->key || o->doc); o++)
        if (is_option(o) && o->name)
            offer(typed, "--", o->name, o->arg && !(o->flags & OPTION_ARG_OPTIONAL) ? "=" : "");
    for (const struct argp_child *child = argp->children; child && child->argp; child++)
        offer_options(child->argp, typed);
}

/* The option that takes the next word as its argument; NULL: none does. */
static const struct argp_option *expects(const struct argp *argp, const char *word)
{
    const struct argp_option *option = word[0] == '-' && !strchr(word, '=') ? find(argp, word, strlen(word)) : NULL;

    return option && option->arg && !(option->flags & OPTION_ARG_OPTIONAL) ? option : NULL;
}

/* Completes the last of the words after a command. */
static void complete(const struct argp *argp, bool in_order, int words, char **word)
{
    const struct argp_option *waiting = NULL, *option;
    const char *typed = word[words - 1], *equals = strchr(typed, '=');
    char prefix[64];

    for (int i = 0; i < words - 1; i++) {
        if (!waiting && word[i][0] != '-' && in_order)
            return; /* the rest is the program's */
        waiting = waiting ? NULL : expects(argp, word[i]);
    }
    if (waiting) {
        offer_argument(typed, "", waiting);
    } else if (typed[0] == '-' && equals) {
        option = find(argp, typed, (size_t)(equals - typed));
        snprintf(prefix, sizeof prefix, "%.*s", (int)(equals + 1 - typed), typed);
        if (option && option->arg)
            offer_argument(typed, prefix, option);
    } else if (typed[0] == '-') {
        offer_options(argp, typed);
        offer(typed, "--", "help", "");
        offer(typed, "--", "usage", "");
    } else if (argp->args_doc && strncmp(argp->args_doc, "PROGRAM", strlen("PROGRAM")) == 0) {
        puts(":command");
    }
}

void sc_tool_parse(const struct argp *argp, int argc, char **argv, unsigned flags, void *input)
{
    if (!completing) {
        argp_parse(argp, argc, argv, flags, NULL, input);
        return;
    }
    complete(argp, flags & ARGP_IN_ORDER, argc - 1, argv + 1);
    exit(EXIT_SUCCESS);
}

int sc_tool_complete_menu(const struct sc_tool_menu *menu, int argc, char **argv)
{
    for (int i = 0; i < menu->commands; i++)
        if (argc == 2)
            offer(argv[1], "", menu->command[i].name, "");
        else if (strcmp(argv[1], menu->command[i].name) == 0)
            return menu->command[i].run(argc - 1, argv + 1);
    if (argc == 2) {
        offer(argv[1], "--", "help", "");
        offer(argv[1], "--", "version", "");
    }
    return EXIT_SUCCESS;
}

bool sc_tool_completing(void)
{
    return completing;
}

int sc_tool_completion(const struct sc_tool_menu *menu, int argc, char **argv)
{
    static char nothing[] = "", *none[] = {nothing, nothing, NULL};

    completing = true;
    return argc < 2 ? sc_tool_complete_menu(menu, 2, none) : sc_tool_complete_menu(menu, argc, argv);
}
/* SPDX-License-Identifier: BSD-2-Clause */
