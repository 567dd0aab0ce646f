/* The database: a written database reads back the same; a damaged database is refused in one line; the cache's
 * folder. */
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "autotuner/database.h"
#include "autotuner/measure_int.h"
#include "autotuner/sample.h"
#include "autotuner/store.h"
#include "base/median.h"
#include "tests/heard.h"
#include "tests/tap.h"

static struct sc_database *example(void)
{
    struct sc_database *db = sc_database_new("some machine, with blanks", 2);

    db->link[SC_PLACE_HOST][0] = (struct sc_database_link){1e-5, 12e9};
    db->link[SC_PLACE_HOST][1] = (struct sc_database_link){2e-5, 11e9};
    db->link[0][SC_PLACE_HOST] = (struct sc_database_link){1e-5, 13e9};
    db->link[0][1] = (struct sc_database_link){8e-6, 48e9};
    db->pull[0][1] = (struct sc_database_link){9e-6, 40e9};
    db->push[0][1] = (struct sc_database_link){7e-6, 30e9};
    db->enqueue = 4e-6;
    db->slow[sc_link(SC_PLACE_HOST, 0)][sc_link(SC_PLACE_HOST, 1)] = 1.75f;
    db->slow[sc_link(SC_PLACE_HOST, 1)][sc_link(SC_PLACE_HOST, 0)] = 1.75f;
    db->set[SC_SET_DOWN][2] = 13e9;
    db->calls = (struct sc_database_calls){true, 1e-5, 2e-5, 0, 3e-5, {0.75, 0.5}, 0.875};
    db->start[SC_OP_GER] = 7e-6;
    db->idle_watts[1] = 40;
    for (int i = 0; i < 4; i++)
        sc_database_add_kernel(db, &(struct sc_database_kernel){.place = 1, .op = SC_OP_GEMM, .type = SC_D,
                                                                .size = 2048 >> i, .seconds = 0.008 / (1 << 3 * i),
                                                                .watts = i ? 0 : 250});
    sc_database_add_kernel(db, &(struct sc_database_kernel){.place = SC_PLACE_HOST, .op = SC_OP_GEMV, .type = SC_S,
                                                            .size = 1000, .seconds = 1e-4});
    for (int i = 0; i < 2; i++)
        sc_database_add_kernel(db, &(struct sc_database_kernel){.place = 1, .op = SC_OP_GEMM, .type = SC_D, .thin = 64,
                                                                .size = 1024 << i, .seconds = 0.0002 * (1 + i)});
    sc_database_index(db);
    return db;
}

static char *text_of(const struct sc_database *db, bool partial)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    sc_database_write(db, out, partial);
    fclose(out);
    return text;
}

static struct sc_database *read_text(const char *text, size_t bytes, bool partial)
{
    FILE *in = fmemopen((char *)text, bytes ? bytes : 1, "r");
    struct sc_database *db = sc_database_read(in, "test", partial);

    fclose(in);
    return db;
}

static void test_round_trip(void)
{
    struct sc_database *db = example(), *again;
    char *text = text_of(db, false), *second;

    again = read_text(text, strlen(text), false);
    tap_ok(again != NULL, "what is written is read");
    second = text_of(again, false);
    tap_ok(strcmp(text, second) == 0, "and written as it was");
    tap_ok(again->slow[sc_link(SC_PLACE_HOST, 1)][sc_link(SC_PLACE_HOST, 0)] == 1.75f &&
               again->set[SC_SET_DOWN][2] == 13e9 && again->idle_watts[1] == 40 && again->kernels == 7 &&
               again->calls.scalar == 3e-5 && again->calls.hidden[1] == 0.5 && again->calls.links == 0.875 &&
               again->start[SC_OP_GER] == 7e-6 && again->start[SC_OP_GEMM] == 0 &&
               again->pull[0][1].bandwidth == 40e9 && again->push[0][1].latency == 7e-6 && again->enqueue == 4e-6,
           "with all that was in it");
    free(second);
    free(text);
    sc_database_free(again);
    sc_database_free(db);
}

/* Every prefix of a file is refused as a whole database, and yields its complete lines as a part. */
static void test_torn(void)
{
    struct sc_database *db = example(), *part;
    char *text = text_of(db, false);
    size_t length = strlen(text), head = (size_t)(strstr(text, "idle") - text), refused = 0, taken = 0, begun = 0;

    heard_listen();
    for (size_t cut = 0; cut < length; cut++) {
        part = read_text(text, cut, false);
        refused += part == NULL;
        sc_database_free(part);
        if (cut < head || strstr(text, "end ") < text + cut)
            continue;
        begun++;
        part = read_text(text, cut, true);
        taken += part && part->kernels <= 7;
        sc_database_free(part);
    }
    heard();
    tap_ok(refused == length, "none of the %zu beginnings of a file is taken for the whole", length);
    tap_ok(taken == begun, "a partial file may break off anywhere behind its head");
    free(text);
    sc_database_free(db);
}

static void test_refused(void)
{
    static const struct {
        const char *line, *why;
    } bad[] = {
        {"link 0 2 1e-6 1e9", "whole number from 0 to 1"},
        {"link 0 0 1e-6 1e9", "two ends"},
        {"link 0 1 1e-6", "takes 4 words"},
        {"link 0 1 -1 1e9", "not a number from"},
        {"link 0 1 nan 1e9", "not a number from"},
        {"link 0 1 1e-6 inf", "not a number from"},
        {"link 0 1 1e-6 12GB", "not a number from"},
        {"link 0 1 1e-6 1e9\nlink 0 1 1e-6 1e9", "said twice"},
        {"pull 0 1 1e-6 1e9\npull 0 1 1e-6 1e9", "said twice"},
        {"push 1 1 1e-6 1e9", "two ends"},
        {"enqueue 0", "not a number from"},
        {"enqueue 1e-6\nenqueue 1e-6", "said twice"},
        {"pair 0 1 host 0 2.5", "from 1 to 2"},
        {"pair 0 1 0 1 1.5", "one link"},
        {"set sideways 2 1e9", "no set of links"},
        {"set down 3 1e9", "from 1 to 2"},
        {"kernel 0 d gemm 100", "takes a place"},
        {"kernel 0 q gemm 100 1", "no type"},
        {"kernel 0 d gemms 100 1", "no routine"},
        {"kernel 0 d gemm 1e3 1", "whole number"},
        {"kernel 0 d gemm 100 0", "not a number from"},
        {"kernel 0 d gemm 100 1 0", "not a number from"},
        {"kernel 0 d gemm 100 1\nkernel 0 d gemm 100 2", "said twice"},
        {"kernel 9 d gemm 100 1", "from 0 to 1"},
        {"thin 0 d gemm 100 1", "takes 6 words"},
        {"thin 0 d gemv 100 10 1", "not of level 3"},
        {"thin 0 d gemm 100 100 1", "100 is not less than 100"},
        {"thin 0 d gemm 100 10 1\nthin 0 d gemm 100 11 2", "said twice"},
        {"calls 1 2 3", "takes 7 words"},
        {"start gemv", "takes 2 words"},
        {"start gemn 1e-6", "is no routine"},
        {"start gemv 0", "not a number from"},
        {"start gemv 1e-6\nstart gemv 1e-6", "said twice"},
        {"calls 1e-6 -1e-6 0 0 0 0 1", "not a number from 0 to 1"},
        {"calls 1e-6 0 0 0 2 0 1", "not a number from 0 to 1"},
        {"calls 1e-6 0 0 0 1 0 1\ncalls 1e-6 0 0 0 1 0 1", "said twice"},
        {"speed 100", "no statement 'speed'"},
        {"end 7", "a part is missing"},
        {"end 3\nset down 2 1e9", "follows the end"},
        {"devices 3", "said twice"},
        {"machine other", "said twice"},
        {"a b c d e f g h i j k l m n", "too many words"},
    };
    char text[1024];

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct sc_database *db;
        int lines;

        snprintf(text, sizeof text, "semcache-database 5\nmachine m\nmade full\ndevices 2\n%s\nend %d\n", bad[i].line,
                 strchr(bad[i].line, '\n') ? 5 : 4);
        heard_listen();
        db = read_text(text, strlen(text), false);
        lines = heard();
        if (!tap_ok(!db && lines == 1 && strstr(said, bad[i].why) && strstr(said, "test:"), "refused: %.40s",
                    bad[i].line))
            tap_diag("%s", said);
        sc_database_free(db);
    }
}

static void test_heads(void)
{
    static const char *const bad[] = {"", "\n", "semcache-database 5\n", "semcache-machine 1\n", "\177ELF\1\2\n",
                                      "semcache-database 5\nend 0\n", "semcache-database 5\ndevices 99\n",
                                      "semcache-database 1\nmachine m\nend 1\n",
                                      "semcache-database 5\nmachine m\nend 1\n"};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct sc_database *db;
        int lines;

        heard_listen();
        db = read_text(bad[i], strlen(bad[i]), false);
        lines = heard();
        tap_ok(!db && lines == 1, "refused in one line: %.*s", (int)strcspn(bad[i], "\n\177"), bad[i]);
        sc_database_free(db);
    }
}

/* --- look-ups ----------------------------------------------------------------------------------------------------- */

static double cube(double n) { return n * n * n; }

static bool near(double a, double b) { return fabs(a - b) <= 1e-9 * fabs(b); }

/* Products with two equal extents and a thin one: as measured at 64, at equal extents, and interpolated in between. */
static void test_thin(void)
{
    struct sc_database *db = example();
    double at_64 = sc_database_seconds_of_thin(db, 1, SC_OP_GEMM, SC_D, 1024, 64, SC_COLUMNS_ANY);
    double at_544 = sc_database_seconds_of_thin(db, 1, SC_OP_GEMM, SC_D, 1024, 544, SC_COLUMNS_ANY);

    tap_ok(near(at_64, 0.0002), "a thin one that was measured");
    tap_ok(near(at_544, 0.0006), "half way to equal extents: the mean");
    tap_ok(near(sc_database_seconds_of_thin(db, 1, SC_OP_GEMM, SC_D, 1024, 8, SC_COLUMNS_ANY), 0.0002),
           "not less for still thinner ones, which start and go through memory all the same");
    tap_ok(near(sc_database_seconds_of_thin(db, 1, SC_OP_GEMM, SC_D, 1448.1546878700494, 64, SC_COLUMNS_ANY),
                0.0002 * sqrt(2)), "between two sizes");
    tap_ok(near(sc_database_seconds_of_thin(db, 1, SC_OP_GEMM, SC_D, 4096, 64, SC_COLUMNS_ANY), 4 * 0.0004),
           "beyond the last: by elements");
    tap_ok(sc_database_seconds_of_thin(db, 1, SC_OP_GEMM, SC_D, 1024, 1024, SC_COLUMNS_ANY) == 0 &&
               sc_database_seconds_of_thin(db, 1, SC_OP_SYRK, SC_D, 1024, 64, SC_COLUMNS_ANY) == 0 &&
               sc_database_seconds_of_thin(db, 1, SC_OP_GEMM, SC_S, 1024, 64, SC_COLUMNS_ANY) == 0,
           "nothing is made up where nothing is thin, or nothing was measured");
    tap_ok(near(sc_database_seconds(db, 1, SC_OP_GEMM, SC_D, cube(1024)), 0.001),
           "those of equal extents are not mixed with thin ones");
    sc_database_free(db);
}

static void test_seconds(void)
{
    struct sc_database *db = example();

    tap_ok(near(sc_database_seconds(db, 1, SC_OP_GEMM, SC_D, cube(1024)), 0.001), "a size that was measured");
    tap_ok(near(sc_database_seconds(db, 1, SC_OP_GEMM, SC_D, cube(1500)), 0.008 * cube(1500.0 / 2048)),
           "a size between two");
    tap_ok(near(sc_database_seconds(db, 1, SC_OP_GEMM, SC_D, cube(4096)), 0.064), "a larger one");
    tap_ok(near(sc_database_seconds(db, 1, SC_OP_GEMM, SC_D, 1), 0.008 / 512), "no kernel is faster than the smallest");
    tap_ok(near(sc_database_seconds(db, 1, SC_OP_SYMM, SC_D, cube(1024)), 0.001), "gemm stands for its level");
    tap_ok(near(sc_database_seconds(db, SC_PLACE_HOST, SC_OP_SYMV, SC_S, 1e4), 1e-6),
           "on the host small calls are faster");
    tap_ok(near(sc_database_seconds(db, 1, SC_OP_GEMM, SC_Z, cube(1024)), sc_database_seconds(db, 1, SC_OP_GEMM, SC_D,
                                                                                            4 * cube(1024))),
           "a type that was not measured: by its operations");
    tap_ok(near(sc_database_seconds(db, SC_PLACE_HOST, SC_OP_SYMV, SC_D, 1e6), 2e-4), "or by its bytes");
    tap_ok(sc_database_seconds(db, 0, SC_OP_GEMM, SC_D, 1e9) == 0 &&
               sc_database_seconds(db, 1, SC_OP_DOT, SC_D, 1e9) == 0,
           "what was not measured is not known");
    tap_ok(sc_database_watts(db, 1, SC_OP_GEMM, SC_D, 1e6) == 250, "watts of the nearest size that has them");
    tap_ok(near(sc_database_memory_rate(db, SC_PLACE_HOST), 4e10), "the rate of memory is that of gemv");
    tap_ok(near(db->link[0][1].bandwidth, 48e9) && near(db->link[0][1].latency, 8e-6) && !db->link[1][0].bandwidth,
           "a link has its latency and bandwidth, and a link without measurements has none");
    sc_database_free(db);
}

static void test_samples(void)
{
    struct sc_sample s = {0};
    double many[20];
    double x[] = {8, 1 << 20, 1 << 24}, y[3], a, b;

    sc_sample_add(&s, 10);
    tap_ok(isinf(sc_sample_uncertainty(&s)), "one value says nothing of its uncertainty");
    sc_sample_add(&s, 12);
    tap_ok(near(s.mean, 11) && fabs(sc_sample_uncertainty(&s) - 12.706) < 1e-3, "Student's t of two values");
    for (int i = 0; i < 30; i++)
        sc_sample_add(&s, i & 1 ? 12 : 10);
    tap_ok(fabs(sc_sample_uncertainty(&s) - 2.086 / sqrt(31)) < 1e-3, "and of many");
    tap_ok(sc_sample_is_good(&s, 10, 0.05) && !sc_sample_is_good(&s, 10, 0.01) && !sc_sample_is_good(&s, 40, 0.05),
           "good enough is a matter of number and interval");
    for (int i = 0; i < 3; i++)
        y[i] = 1e-5 + x[i] / 12e9;
    tap_ok(sc_sample_line(x, y, 3, &a, &b) && fabs(a - 1e-5) < 1e-9 && fabs(b * 12e9 - 1) < 1e-6,
           "a line through latency and bandwidth");
    tap_ok(!sc_sample_line(x, y, 1, &a, &b), "one point is no line");
    for (int i = 0; i < 20; i++)
        many[i] = (i * 7) % 20 + 1;
    tap_ok(sc_median(many, 20) == 11 && sc_percentile(many, 20, 95) == 19 && sc_percentile(many, 20, 100) == 20 &&
               sc_median(many + 4, 1) == 5, "the median, and what 95 of 100 are not above");
}

/* --- where it is kept --------------------------------------------------------------------------------------------- */

static char folder_path[] = "/tmp/semcache-test-XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[128];

    snprintf(path, sizeof path, "%s/cache/semcache/%s", folder_path, name);
    return path;
}

static bool is_used(int folder, const char *key, int *lines)
{
    struct sc_database *db;

    heard_listen();
    db = sc_store_read(folder, "x.database", key, false);
    *lines = heard();
    sc_database_free(db);
    return db != NULL;
}

static void test_store(void)
{
    struct sc_database *db = example();
    char path[128], target[128];
    struct stat about;
    int folder, lines;

    if (!mkdtemp(folder_path)) {
        tap_ok(0, "a folder for the test");
        return;
    }
    snprintf(path, sizeof path, "%s/cache/semcache", folder_path);
    folder = sc_store_folder(path, false);
    tap_ok(folder >= 0 && stat(path, &about) == 0 && (about.st_mode & 0777) == 0700,
           "the folder is made, for its user only");
    tap_ok(!is_used(folder, db->machine, &lines) && lines == 0, "no file: no line");
    tap_ok(sc_store_write(folder, "x.database", db, false) == SC_OK && stat(in_folder("x.database"), &about) == 0 &&
               (about.st_mode & 0777) == 0600, "a file is its user's alone");
    tap_ok(is_used(folder, db->machine, &lines) && lines == 0, "and is read");
    tap_ok(!is_used(folder, "another machine", &lines) && lines == 1, "but not on another machine");
    chmod(in_folder("x.database"), 0620);
    tap_ok(!is_used(folder, db->machine, &lines) && lines == 1, "nor when others may write it");
    chmod(in_folder("x.database"), 0600);

    snprintf(target, sizeof target, "%s/target", folder_path);
    rename(in_folder("x.database"), target);
    tap_ok(symlink(target, in_folder("x.database")) == 0 && !is_used(folder, db->machine, &lines) && lines == 1,
           "nor through a link");
    stat(target, &about);
    tap_ok(sc_store_write(folder, "x.database", db, false) == SC_OK && lstat(in_folder("x.database"), &about) == 0 &&
               S_ISREG(about.st_mode) && about.st_nlink == 1, "a link is replaced, not followed");
    unlink(in_folder("x.database"));
    mkfifo(in_folder("x.database"), 0600);
    tap_ok(!is_used(folder, db->machine, &lines) && lines == 1, "a pipe holds nobody");
    unlink(in_folder("x.database"));
    lines = sc_store_lock(folder);
    tap_ok(lines >= 0 && sc_store_lock(folder) < 0, "one process measures at a time");
    close(lines);
    close(folder);
    chmod(path, 0770);
    heard_listen();
    folder = sc_store_folder(path, false);
    tap_ok(heard() == 1 && folder < 0, "a folder that others may write to is not used");
    unlink(in_folder("lock"));
    unlink(target);
    rmdir(path);
    snprintf(path, sizeof path, "%s/cache", folder_path);
    tap_ok(rmdir(path) == 0 && rmdir(folder_path) == 0, "nothing is left behind");
    sc_database_free(db);
}

/* Every third try is disturbed. */
static double disturbed(struct sc_bench *b, void *tries)
{
    (void)b;
    return (*(int *)tries)++ % 3 == 2 ? 1 : 1e-5;
}

static void test_disturbed(void)
{
    const struct sc_device_ops ops = {0}; /* a real clock, not a virtual clock */
    const struct sc_measure quick = {.ops = &ops, .quick = true};
    struct sc_bench b = {.how = &quick};
    int tries = 0;
    double seconds = sc_bench_mean(&b, disturbed, &tries, true);

    tap_ok(seconds == 1e-5, "few values, one of them disturbed: %g s", seconds);
}

int main(void)
{
    test_disturbed();
    test_round_trip();
    test_torn();
    test_refused();
    test_heads();
    test_seconds();
    test_thin();
    test_samples();
    test_store();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
