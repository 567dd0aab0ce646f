/* Databases of measurements: an accepted database can be queried; written, read and written again, its text is the
 * same. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "autotuner/database.h"
#include "tests/fuzz/fuzz.h"

const char *const fuzz_corpus[] = {"tests/fuzz/corpus/database", NULL};

static struct sc_database *read_bytes(const void *bytes, size_t size)
{
    FILE *file = fmemopen((void *)bytes, size, "r");
    struct sc_database *db;

    FUZZ_MUST(file);
    db = sc_database_read(file, "fuzz", false);
    fclose(file);
    return db;
}

static char *written(const struct sc_database *db, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);

    FUZZ_MUST(out);
    sc_database_write(db, out, false);
    fclose(out);
    return text;
}

static void ask(const struct sc_database *db)
{
    for (int place = 0; place <= db->devices; place++) {
        FUZZ_MUST(!isnan(sc_database_memory_rate(db, place)));
        for (int to = 0; to <= db->devices; to++)
            FUZZ_MUST(db->link[place][to].bandwidth >= 0 && db->link[place][to].latency >= 0);
        for (int op = 0; op < SC_OPS; op++)
            for (double work = 1; work < 1e18; work *= 1e6)
                FUZZ_MUST(sc_database_seconds(db, place, (enum sc_op)op, SC_D, work) >= 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sc_database *db, *again;
    char *text, *twice;
    size_t length, length_twice;

    if (!size || !(db = read_bytes(data, size)))
        return 0;
    ask(db);
    text = written(db, &length);
    again = read_bytes(text, length);
    FUZZ_MUST(again);
    twice = written(again, &length_twice);
    FUZZ_MUST(length == length_twice && memcmp(text, twice, length) == 0);
    free(text);
    free(twice);
    sc_database_free(db);
    sc_database_free(again);
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
