/* Settings, one NAME=VALUE a line: an accepted value prints in a form that is accepted again, with the same result. */
#include <config.h>

#include <string.h>

#include "libsemcache/config.h"
#include "tests/fuzz/fuzz.h"

const char *const fuzz_corpus[] = {"tests/fuzz/corpus/settings", NULL};

#define ENTRIES 64

static void look(const struct sc_config *config)
{
    for (const struct sc_setting *s = sc_config_settings; s->name; s++) {
        struct sc_config again = *config;
        char text[1024], twice[1024];

        sc_config_format(config, s, text, sizeof text);
        if (strlen(text) + 1 == sizeof text || !*text)
            continue; /* cut off, or not set */
        FUZZ_MUST(sc_config_set(&again, s, text));
        sc_config_format(&again, s, twice, sizeof twice);
        FUZZ_MUST(strcmp(text, twice) == 0);
        if (s->kind == SC_SETTING_DEVICE || s->kind == SC_SETTING_PATH)
            free(*(char **)((char *)&again + s->field)); /* a copy made by sc_config_set */
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *entries[ENTRIES + 1] = {NULL};
    struct sc_config config;
    int count = 0;

    FUZZ_MUST(text);
    memcpy(text, data, size);
    text[size] = '\0';
    for (char *line = strtok(text, "\n"); line && count < ENTRIES; line = strtok(NULL, "\n"))
        entries[count++] = line;
    sc_config_load(&config, entries, true);
    look(&config);
    sc_config_load(&config, entries, false);
    look(&config);
    free(text);
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
