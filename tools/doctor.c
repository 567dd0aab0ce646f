/* semcache doctor: why a program gains nothing, or less than possible, one finding a line, with a remedy. */
#include <config.h>

#include <argp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/doctor.h"
#include "tools/tool.h"

enum { PID = 256, JSON };

struct arguments {
    const char *file;
    pid_t pid;
    bool json;
};

/* --- findings ----------------------------------------------------------------------------------------------------- */

static bool as_json;
static int findings, failures;

static void put_json(const char *verdict, const char *check, const char *text, const char *remedy)
{
    printf("{\"verdict\": \"%s\", \"check\": ", verdict);
    sc_stats_put_string(stdout, check);
    fputs(", \"text\": ", stdout);
    sc_stats_put_string(stdout, text);
    fputs(", \"remedy\": ", stdout);
    if (remedy)
        sc_stats_put_string(stdout, remedy);
    else
        fputs("null", stdout);
    fputs("}\n", stdout);
}

static void put_line(const char *verdict, const char *check, const char *text, const char *remedy)
{
    printf("%-5s %s: %s\n", verdict, check, text);
    if (remedy)
        printf("      %s\n", remedy);
}

void sc_doctor_say(enum sc_verdict verdict, const char *check, const char *remedy, const char *format, ...)
{
    static const char *const json_names[] = {"ok", "note", "fail"}, *const names[] = {"ok", "note", "FAIL"};
    char text[8192];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (as_json)
        put_json(json_names[verdict], check, text, remedy);
    else
        put_line(names[verdict], check, text, remedy);
    fflush(stdout); /* a driver may take its time, or end the process */
    findings++;
    failures += verdict == SC_VERDICT_FAIL;
}

static struct {
    enum sc_verdict verdict;
    const char *check, *remedy;
    int messages;
} heard;

static void hear(enum sc_log_level level, const char *text)
{
    if (level > SC_LOG_WARN)
        return;
    heard.messages++;
    sc_doctor_say(heard.verdict, heard.check, heard.remedy, "%s", text);
}

void sc_doctor_listen(enum sc_verdict verdict, const char *check, const char *remedy)
{
    heard.verdict = verdict;
    heard.check = check;
    heard.remedy = remedy;
    heard.messages = 0;
    sc_log_receiver = hear;
}

int sc_doctor_heard(void)
{
    sc_log_receiver = NULL;
    return heard.messages;
}

/* --- the command -------------------------------------------------------------------------------------------------- */

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct arguments *a = state->input;
    char *end;

    switch (key) {
    case 'd': sc_tool_set(state->name, "SEMCACHE_DEVICE", text); return 0;
    case JSON: a->json = true; return 0;
    case PID:
        a->pid = (pid_t)strtol(text, &end, 10);
        if (*end || a->pid <= 0)
            argp_error(state, "%s is not the number of a process", text);
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            argp_error(state, "one program or trace at a time");
        a->file = text;
        return 0;
    case ARGP_KEY_END:
        if (a->file && a->pid)
            argp_error(state, "either a program, or a trace, or --pid");
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

/* What a program that is started now would get. */
static void look_here(const char *file)
{
    sc_doctor_settings(environ);
    if (file)
        sc_doctor_program(file);
    if (sc_doctor_limits("self", 0))
        sc_doctor_machine();
}

int sc_tool_doctor(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"device", 'd', "DEVICE", 0, "look at these devices instead of SEMCACHE_DEVICE", 0},
        {"pid", PID, "NUMBER", 0, "look at this running process", 0},
        {"json", JSON, NULL, 0, "an object of JSON a line", 0},
        {0}};
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "[PROGRAM|TRACE]",
        .doc = "Says what keeps a program's calls from the devices: checks settings, limits, host BLAS and devices, "
               "and the program, process or trace that is given.\v"
               "Each finding is `ok', `note' or `FAIL', with a remedy below.  The status is 1 after a FAIL."};
    struct arguments a = {0};

    sc_tool_parse(&argp, argc, argv, 0, &a);
    as_json = a.json;
    if (a.pid) {
        if (sc_doctor_process(a.pid))
            sc_doctor_machine();
    } else if (a.file && sc_doctor_is_trace(a.file))
        sc_doctor_trace(a.file);
    else
        look_here(a.file);
    if (!as_json && failures)
        printf("%d of %d findings are failures\n", failures, findings);
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
/* SPDX-License-Identifier: BSD-2-Clause */
