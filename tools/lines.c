/* Names of lines: of source with debug information, of Python, otherwise functions from the table of symbols. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/dwarf.h"
#include "tools/frames.h"
#include "tools/tool.h"

/* Answers kept for reuse, because the same lines are printed often. */
#define KNOWN 512
static struct known {
    uint64_t ip;
    char *text;
} known[KNOWN];

void sc_tool_forget_lines(void)
{
    for (int i = 0; i < KNOWN; i++) {
        free(known[i].text);
        known[i].text = NULL;
    }
}

static void put_word(FILE *out, const char *text)
{
    sc_trace_put_text(out, (struct sc_trace_text){text, strcspn(text, "\n ")}, "?");
}

/* The file's name without folders, to keep lines short. */
static const char *last_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* False: an address in no known file. */
static bool find(const struct sc_trace_reading *trace, uint64_t ip, struct sc_tool_place *place)
{
    const struct sc_trace_python *line = sc_trace_python_of(trace, ip);

    if (!line)
        return sc_dwarf_places(trace, ip, place, 1) == 1;
    place->line = (int)line->head.line;
    snprintf(place->file, sizeof place->file, "%.*s", (int)line->file.bytes, line->file.at);
    snprintf(place->function, sizeof place->function, "%.*s", (int)line->function.bytes, line->function.at);
    return true;
}

static void look_up(FILE *out, const struct sc_trace_reading *trace, uint64_t ip)
{
    const struct sc_trace_module *module = sc_trace_module_of(trace, ip);
    struct sc_tool_place place;

    if (!find(trace, ip, &place)) {
        fprintf(out, "0x%" PRIx64, ip);
        return;
    }
    put_word(out, last_name(place.file));
    if (place.line) {
        fprintf(out, ":%d", place.line);
        return;
    }
    fprintf(out, "+0x%" PRIx64, ip - (module ? module->head.bias : 0));
    if (*place.function) {
        fputs("(", out);
        put_word(out, place.function);
        fputs(")", out);
    }
}

void sc_tool_put_line(FILE *out, const struct sc_trace_reading *trace, uint64_t ip)
{
    struct known *slot = &known[ip * UINT64_C(0x9e3779b97f4a7c15) >> 55];
    size_t bytes;
    FILE *text;

    if (!slot->text || slot->ip != ip) {
        free(slot->text);
        *slot = (struct known){.ip = ip};
        text = open_memstream(&slot->text, &bytes);
        if (text) {
            look_up(text, trace, ip);
            fclose(text);
        }
    }
    fputs(slot->text ? slot->text : "?", out);
}

bool sc_tool_put_function(FILE *out, const struct sc_trace_reading *trace, uint64_t ip)
{
    struct sc_tool_place place;
    bool found = find(trace, ip, &place) && *place.function;

    if (found)
        put_word(out, place.function);
    return found;
}

/* Text of a foreign file: without control characters. */
static void put_clean(FILE *out, const char *text)
{
    for (text += strspn(text, " \t"); *text && *text != '\n'; text++)
        putc(*text == '\t' ? ' ' : (unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text, out);
}

void sc_tool_put_source(FILE *out, const struct sc_trace_reading *trace, uint64_t ip)
{
    struct sc_tool_place place;
    char *line = NULL;
    size_t room = 0;
    int number = 0;
    FILE *in;

    if (!find(trace, ip, &place) || !place.line)
        return;
    in = fopen(place.file, "re");
    if (!in)
        return;
    while (number < place.line && getline(&line, &room, in) > 0)
        number++;
    if (number == place.line)
        put_clean(out, line);
    free(line);
    fclose(in);
}

const struct sc_trace_names sc_tool_names = {.prepare = sc_tool_set_lines,
                                             .line = sc_tool_put_line,
                                             .function = sc_tool_put_function,
                                             .callers = sc_tool_put_callers,
                                             .source = sc_tool_put_source};
/* SPDX-License-Identifier: BSD-2-Clause */
