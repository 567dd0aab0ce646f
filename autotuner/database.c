/* The database in memory, and look-ups. */
#include "autotuner/database.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct sc_database *sc_database_new(const char *machine, int devices)
{
    struct sc_database *db = calloc(1, sizeof *db);

    if (!db)
        return NULL;
    snprintf(db->machine, sizeof db->machine, "%s", machine);
    db->devices = devices;
    return db;
}

void sc_database_free(struct sc_database *db)
{
    if (db)
        free(db->kernel);
    free(db);
}

enum sc_status sc_database_add_kernel(struct sc_database *db, const struct sc_database_kernel *kernel)
{
    if (db->kernels == db->room) {
        int room = db->room ? 2 * db->room : 256;
        struct sc_database_kernel *more = realloc(db->kernel, (size_t)room * sizeof *more);

        if (!more)
            return SC_ERR_MEMORY;
        db->kernel = more;
        db->room = room;
    }
    db->kernel[db->kernels++] = *kernel;
    return SC_OK;
}

const struct sc_database_kernel *sc_database_find_kernel(const struct sc_database *db, int place, enum sc_op op,
                                                         enum sc_type type, int64_t size, int64_t thin)
{
    for (int i = 0; i < db->kernels; i++) {
        const struct sc_database_kernel *k = &db->kernel[i];

        if (k->place == place && k->op == op && k->type == type && k->size == size && k->thin == thin)
            return k;
    }
    return NULL;
}

static int compare(const void *a, const void *b)
{
    const struct sc_database_kernel *x = a, *y = b;
    int order = x->place != y->place ? x->place - y->place : x->op != y->op ? x->op - y->op : x->type - y->type;

    order = order ? order : (x->thin > 0) - (y->thin > 0);
    return order ? order : (x->size > y->size) - (x->size < y->size);
}

bool sc_database_index(struct sc_database *db)
{
    if (db->kernels)
        qsort(db->kernel, (size_t)db->kernels, sizeof *db->kernel, compare);
    memset(db->index, 0, sizeof db->index);
    for (int i = 0; i < db->kernels; i++) {
        const struct sc_database_kernel *k = &db->kernel[i];
        bool first = !i || k[-1].place != k->place || k[-1].op != k->op || k[-1].type != k->type;

        if (i && compare(k - 1, k) == 0)
            return false;
        if (first)
            db->index[k->place][k->op][k->type].first = i;
        db->index[k->place][k->op][k->type].thin += k->thin > 0;
        db->index[k->place][k->op][k->type].count += !k->thin;
    }
    return true;
}

/* --- what it says ------------------------------------------------------------------------------------------------- */

static double work_of(const struct sc_database_kernel *k)
{
    double size = (double)k->size;

    return sc_op_work((enum sc_op)k->op, 'L', size, size, size);
}

/* The type whose kernels stand for kernels of this type: the type itself if measured. SC_TYPES: no type was measured.
 */
static enum sc_type type_of(const struct sc_database *db, int place, enum sc_op op, enum sc_type type)
{
    static const enum sc_type order[] = {SC_D, SC_S, SC_Z, SC_C};

    if (db->index[place][op][type].count)
        return type;
    for (int i = 0; i < SC_TYPES; i++)
        if (db->index[place][op][order[i]].count)
            return order[i];
    return SC_TYPES;
}

/* Time of a piece of work of a type relative to double precision: by operations, with twice the rate in single
 * precision, or by bytes. */
static double weight_of(enum sc_op op, enum sc_type type)
{
    static const double operations[SC_TYPES] = {0.5, 1, 2, 4};

    return sc_op_level(op) == 3 ? operations[type] : (double)sc_type_bytes(type) / 8;
}

/* The kernels of the routine, or of a stand-in of the same level, or of another type; *count 0: no kernels. Converts
 * *work into work of the stand-in. */
static const struct sc_database_kernel *rows_of(const struct sc_database *db, int place, enum sc_op op,
                                                enum sc_type type, double *work, int *count)
{
    static const enum sc_op model[4] = {0, SC_OP_DOT, SC_OP_GEMV, SC_OP_GEMM};
    enum sc_type measured;

    if (!db->index[place][op][type].count && db->index[place][model[sc_op_level(op)]][type].count)
        op = model[sc_op_level(op)];
    measured = type_of(db, place, op, type);
    if (measured == SC_TYPES) {
        op = model[sc_op_level(op)];
        measured = type_of(db, place, op, type);
    }
    *count = 0;
    if (measured == SC_TYPES)
        return NULL;
    *work *= weight_of(op, type) / weight_of(op, measured);
    *count = db->index[place][op][measured].count;
    return db->kernel + db->index[place][op][measured].first;
}

static bool suits(const struct sc_database_kernel *k, enum sc_columns columns)
{
    bool odd = (size_t)k->size * sc_type_bytes((enum sc_type)k->type) % 16 != 0;

    return columns == SC_COLUMNS_ANY || odd == (columns == SC_COLUMNS_ODD);
}

/* The next suitable kernel from i on; count: no further kernel. */
static int suitable(const struct sc_database_kernel *row, int i, int count, enum sc_columns columns)
{
    while (i < count && !suits(&row[i], columns))
        i++;
    return i;
}

/* Between two measurements times follow a power law, a line in logarithms. */
static double between(double at, double low, double low_seconds, double high, double high_seconds)
{
    return low_seconds * exp(log(high_seconds / low_seconds) * log(at / low) / log(high / low));
}

/* Below the smallest kernel, a device's time stays the same (the start dominates), and the host's time falls with the
 * work. Beyond the largest kernel, the time grows with the work. */
double sc_database_seconds_of(const struct sc_database *db, int place, enum sc_op op, enum sc_type type, double work,
                              enum sc_columns columns)
{
    const struct sc_database_kernel *row, *below = NULL;
    double low, high;
    int count, i;

    if (!(work > 0))
        return 0;
    row = rows_of(db, place, op, type, &work, &count);
    if (!count)
        return 0;
    if (suitable(row, 0, count, columns) == count)
        columns = SC_COLUMNS_ANY;
    for (i = suitable(row, 0, count, columns); i < count && work_of(&row[i]) < work;
         i = suitable(row, i + 1, count, columns))
        below = &row[i];
    if (!below)
        return place == SC_PLACE_HOST ? row[i].seconds * work / work_of(&row[i]) : row[i].seconds;
    low = work_of(below);
    if (i == count)
        return below->seconds * work / low;
    high = work_of(&row[i]);
    return between(work, low, below->seconds, high, row[i].seconds);
}

double sc_database_seconds(const struct sc_database *db, int place, enum sc_op op, enum sc_type type, double work)
{
    return sc_database_seconds_of(db, place, op, type, work, SC_COLUMNS_ANY);
}

/* Time of a thin kernel of this size. Beyond the largest thin kernel the time grows with the elements of the large
 * operand. */
static double thin_row(const struct sc_database_kernel *row, int count, double size)
{
    const struct sc_database_kernel *last = &row[count - 1];
    int i = 0;

    while (i < count && (double)row[i].size < size)
        i++;
    if (i == 0)
        return row->seconds;
    if (i == count)
        return last->seconds * (size / (double)last->size) * (size / (double)last->size);
    return between(size, (double)row[i - 1].size, row[i - 1].seconds, (double)row[i].size, row[i].seconds);
}

double sc_database_seconds_of_thin(const struct sc_database *db, int place, enum sc_op op, enum sc_type type,
                                   double size, double thin, enum sc_columns columns)
{
    const struct sc_database_kernel *row;
    int count = db->index[place][op][type].thin;
    double least, whole;

    if (!count || !(thin > 0) || thin >= size)
        return 0;
    row = db->kernel + db->index[place][op][type].first + db->index[place][op][type].count;
    if (size <= (double)row->thin)
        return 0;
    least = thin_row(row, count, size);
    whole = sc_database_seconds_of(db, place, op, type, sc_op_work(op, 'L', size, size, size), columns);
    if (whole <= least || thin <= (double)row->thin)
        return least;
    return least + (whole - least) * (thin - (double)row->thin) / (size - (double)row->thin);
}

double sc_database_watts(const struct sc_database *db, int place, enum sc_op op, enum sc_type type, double work)
{
    const struct sc_database_kernel *row;
    double watts = 0, nearest = HUGE_VAL;
    int count;

    row = rows_of(db, place, op, type, &work, &count);
    for (int i = 0; i < count && work > 0; i++) {
        double away = fabs(log(work_of(&row[i]) / work));

        if (row[i].watts > 0 && away < nearest) {
            nearest = away;
            watts = row[i].watts;
        }
    }
    return watts;
}

double sc_database_memory_rate(const struct sc_database *db, int place)
{
    static const enum sc_type order[] = {SC_D, SC_S, SC_Z, SC_C};

    for (int i = 0; i < SC_TYPES; i++) {
        int count = db->index[place][SC_OP_GEMV][order[i]].count;
        const struct sc_database_kernel *k;

        if (!count)
            continue;
        k = &db->kernel[db->index[place][SC_OP_GEMV][order[i]].first + count - 1];
        return (double)k->size * (double)k->size * (double)sc_type_bytes(order[i]) / k->seconds;
    }
    return 0;
}

double sc_database_host_rate(const struct sc_database *db, enum sc_database_set way, int n)
{
    double rate = 0;

    for (int d = 0; d < n && d < db->devices; d++)
        rate += (way == SC_SET_UP ? db->link[d][SC_PLACE_HOST] : db->link[SC_PLACE_HOST][d]).bandwidth;
    for (int m = n; m > 1; m--)
        if (db->set[way][m] > 0)
            return rate < db->set[way][m] * n / m ? rate : db->set[way][m] * n / m;
    return rate;
}

double sc_database_slow(const struct sc_database *db, int link, int other)
{
    double slow = db->slow[link][other];

    return slow > 1 ? slow : 1;
}
/* SPDX-License-Identifier: BSD-2-Clause */
