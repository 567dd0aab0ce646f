/* The settings: one typed table that fills struct sc_config from the environment, and prints itself. */
#ifndef SC_LIBSEMCACHE_CONFIG_H
#define SC_LIBSEMCACHE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/config.h"

enum sc_setting_kind {
    SC_SETTING_DEVICE, /* const char *: auto | none | cuda[:LIST] | emu:MACHINE[:COUNT] */
    SC_SETTING_PATH,   /* const char *; NULL when not given */
    SC_SETTING_CHOICE, /* an enum whose values are the positions in `choices` */
    SC_SETTING_FLAG,   /* int: 0 or 1 */
    SC_SETTING_RANK,   /* const char *: auto | none | RANK/RANKS */
    SC_SETTING_SHARE,  /* int: percent, 0 to 99; -1: auto */
    SC_SETTING_BYTES   /* uint64_t; a number with an optional K, M, G or T */
};

struct sc_setting {
    const char *name; /* of the environment variable */
    enum sc_setting_kind kind;
    size_t field;         /* offset in struct sc_config */
    const char *standard; /* the default, as one would write it; NULL: not set */
    const char *const *place; /* the default is found when the program runs (places.h), and not `standard` */
    const char *values;   /* what may be given, for people */
    const char *help;
    uint64_t least, most; /* bytes */
    const char *choices[8];
};

/* The table; NULL-terminated by name. */
extern const struct sc_setting sc_config_settings[];

/* Fills *config with the defaults and then from `environment` (NULL-terminated, "NAME=VALUE").  A variable that is not
 * in the table, or a value that is not allowed, gives one line on stderr and changes nothing.  Strings are copied and
 * never freed.  With `trusted` false (a set-user-id program) the environment is ignored in silence. */
void sc_config_load(struct sc_config *config, char *const *environment, bool trusted);

/* Sets one field from text; false: the value is not allowed and nothing changed.  Says nothing. */
bool sc_config_set(struct sc_config *config, const struct sc_setting *setting, const char *value);

/* Writes the present value of a setting as one would give it; "" when not set. */
void sc_config_format(const struct sc_config *config, const struct sc_setting *setting, char *text, size_t bytes);

#endif
