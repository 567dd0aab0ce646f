/* The small examples of the memory model in doc/tasks.md, with every choice of places.  Started by tasks_run.t. */
#include <pthread.h>

#include "semcache/tasks.h"
#include "tests/tap.h"

/* Two elements of one array: on one page (near), on different pages (far).  Element `size` is beyond both. */
enum { NEAR = 1, FAR = 100000, SIZE = 200000, TIMES = 100 };

static double *array;
static int devices;

/* views[0] := views[1] + amount, or amount without a second view; in READWRITE mode views[0] += amount. */
static void store(const struct semcache_place *place, const struct semcache_view *views, int count, void *arguments)
{
    const double amount = *(const double *)arguments;
    double *to = views[0].memory;

    *to = (views[0].mode == SEMCACHE_READWRITE ? *to : count > 1 ? *(const double *)views[1].memory : 0) + amount;
    (void)place;
}

static void task(int place, double *to, enum semcache_mode mode, double *from, double amount)
{
    struct semcache_region region[2];
    struct semcache_operand operands[2] = {{&region[0], mode}, {&region[1], SEMCACHE_READ}};
    struct semcache_task t = {sizeof t, store, store, operands, from ? 2 : 1, &amount, sizeof amount, place,
                              NULL, 0, 0};

    semcache_region_1d(&region[0], to, SEMCACHE_FLOAT64, 1);
    semcache_region_1d(&region[1], from, SEMCACHE_FLOAT64, 1);
    if (semcache_run(&t, NULL) != SEMCACHE_OK)
        tap_ok(false, "a task runs");
}

/* The array is one matrix, whose elements are 0 on both devices' side and on the host's. */
static void begin(int place)
{
    struct semcache_region all;
    struct semcache_operand operand = {&all, SEMCACHE_READWRITE};
    double nothing = 0;
    struct semcache_task t = {sizeof t, store, store, &operand, 1, &nothing, sizeof nothing, place, NULL, 0, 0};

    for (int i = 0; i < SIZE; i++)
        array[i] = 0;
    semcache_region_1d(&all, array, SEMCACHE_FLOAT64, SIZE);
    semcache_run(&t, NULL);
}

/* Runs the examples with two places and a distance between the elements; returns the number of wrong results. */
static int examples(int first, int second, int64_t distance)
{
    double *x = array, *y = array + distance, seen;
    int wrong = 0;

    begin(first);
    task(first, x, SEMCACHE_WRITE, NULL, 1);
    wrong += *x != 1; /* store, load */

    begin(second);
    task(first, y, SEMCACHE_WRITE, x, 0);
    *x = 1;
    wrong += *y != 0; /* load, store */

    begin(second);
    task(first, x, SEMCACHE_WRITE, NULL, 1);
    task(second, y, SEMCACHE_WRITE, x, 1);
    wrong += *y != 2; /* two devices */

    begin(first);
    task(first, x, SEMCACHE_WRITE, NULL, 1);
    task(second, x, SEMCACHE_WRITE, NULL, 2);
    wrong += *x != 2; /* overwriting */

    begin(first);
    task(first, y, SEMCACHE_WRITE, x, 0);
    task(second, x, SEMCACHE_WRITE, NULL, 1);
    seen = *y;
    wrong += seen != 0 || *x != 1; /* reader, writer */

    begin(second);
    task(first, x, SEMCACHE_WRITE, NULL, 1);
    *y = 1;
    wrong += *x != 1 || *y != 1; /* neighbours */

    begin(first);
    task(first, x, SEMCACHE_WRITE, NULL, 1);
    task(second, y, SEMCACHE_WRITE, NULL, 1);
    wrong += *x != 1 || *y != 1; /* neighbours on devices */
    return wrong;
}

static void *on_the_cpu(void *of)
{
    volatile double *y = of;

    for (int i = 0; i < TIMES; i++)
        *y += 1;
    return NULL;
}

/* Two threads */
static bool together(int first, int second)
{
    pthread_t other;

    begin(first);
    if (pthread_create(&other, NULL, on_the_cpu, array + NEAR))
        return false;
    for (int i = 0; i < TIMES; i++)
        task(i % 2 ? first : second, array, SEMCACHE_READWRITE, NULL, 1);
    pthread_join(other, NULL);
    return array[0] == TIMES && array[NEAR] == TIMES;
}

int main(void)
{
    int wrong = 0, places;
    bool good = true;

    devices = semcache_init() == SEMCACHE_OK ? semcache_device_count() : 0;
    places = devices + 1;
    array = semcache_alloc(SIZE * sizeof *array);
    for (int i = 0; i < places * places; i++) {
        int first = i % places < devices ? i % places : SEMCACHE_HOST;
        int second = i / places < devices ? i / places : SEMCACHE_HOST;

        wrong += examples(first, second, NEAR) + examples(first, second, FAR);
        good = good && together(first, second);
    }
    tap_ok(wrong == 0, "the examples of the memory model on %d places: %d wrong", places, wrong);
    tap_ok(good, "two threads beside each other on one page");
    semcache_free(array);
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
