/* The settings: one typed table.  The table fills struct sc_config from the environment and prints the values. */
#ifndef SC_LIBSEMCACHE_CONFIG_H
#define SC_LIBSEMCACHE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/config.h"

enum sc_setting_kind {
    SC_SETTING_DEVICE, /* const char *: SC_DEVICE_VALUES (device/backend.h) */
    SC_SETTING_PATH,   /* const char *; NULL if not set */
    SC_SETTING_CHOICE, /* an enum with values equal to the positions in `choices` */
    SC_SETTING_FLAG,   /* int: 0 or 1 */
    SC_SETTING_RANK,   /* const char *: auto | none | RANK/RANKS */
    SC_SETTING_SHARE,  /* int: percent, 0 to 99; -1: auto */
    SC_SETTING_BYTES   /* uint64_t; a number with an optional K, M, G or T */
};

struct sc_setting {
    const char *name; /* name of the environment variable */
    enum sc_setting_kind kind;
    size_t field;         /* offset in struct sc_config */
    const char *standard; /* default value as text; NULL: not set */
    /* Default value determined at run time (places.h), in place of `standard`. */
    const char *const *place;
    const char *values;   /* allowed values, for people */
    const char *help;
    uint64_t least, most; /* bytes */
    const char *choices[12]; /* ended by NULL */
};

/* The table; NULL-terminated by name. */
extern const struct sc_setting sc_config_settings[];

/* Fills *config with the defaults, then from `environment` ("NAME=VALUE", ended by NULL).  An unknown variable or an
 * invalid value gives one line on stderr and changes no setting.  Strings are copied and never freed.  With `trusted`
 * false (a set-user-id program) the environment is silently ignored. */
void sc_config_load(struct sc_config *config, char *const *environment, bool trusted);

/* Sets a field from text.  Returns false without a message, and without a change, if the value is invalid. */
bool sc_config_set(struct sc_config *config, const struct sc_setting *setting, const char *value);

/* Writes the present value of a setting in the syntax of the environment; "" if not set. */
void sc_config_format(const struct sc_config *config, const struct sc_setting *setting, char *text, size_t bytes);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
