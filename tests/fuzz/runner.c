/* Runs a target without libFuzzer: on the files of its corpus, and on changed copies that depend only on a seed. */
#include <config.h>

#include <dirent.h>
#include <stdbool.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tests/tap.h"

#define ROUNDS 300
#define CHANGES_MOST 4

static uint64_t state;

static uint64_t random_below(uint64_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return n ? state % n : 0;
}

struct input {
    uint8_t *bytes;
    size_t size, room;
};

/* A value that programs often mishandle, or a random value. */
static uint64_t odd_value(void)
{
    static const uint64_t odd[] = {0, 1, 63, 64, 4096, INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX, UINT64_C(1) << 47};

    if (random_below(2))
        return odd[random_below(sizeof odd / sizeof *odd)];
    return random_below(UINT64_MAX) >> random_below(64);
}

static void move(struct input *in, size_t to, size_t from, size_t length)
{
    if (to + length <= in->room && from + length <= in->size)
        memmove(in->bytes + to, in->bytes + from, length);
}

static void change(struct input *in)
{
    size_t at = random_below(in->size), length = 1 + random_below(64);
    uint64_t value = odd_value();

    switch (random_below(6)) {
    case 0: in->size = at; break;
    case 1: in->bytes[at] ^= (uint8_t)(1u << random_below(8)); break;
    case 2: in->bytes[at] = (uint8_t)value; break;
    case 3: /* a number in a binary file */
        at -= at % 4;
        length = random_below(2) ? 8 : 4;
        if (at + length <= in->size)
            memcpy(in->bytes + at, &value, length);
        break;
    case 4: /* duplicates a part */
        if (at + length <= in->size && in->size + length <= in->room) {
            move(in, at + length, at, in->size - at);
            in->size += length;
        }
        break;
    default: /* removes a part */
        if (at + length <= in->size) {
            move(in, at, at + length, in->size - at - length);
            in->size -= length;
        }
    }
}

static bool load(const char *path, struct input *in)
{
    FILE *file = fopen(path, "re");
    long size = -1;

    if (file && fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    if (size >= 0) {
        rewind(file);
        in->room = (size_t)size + 64 * CHANGES_MOST;
        in->bytes = malloc(in->room);
        in->size = in->bytes ? fread(in->bytes, 1, (size_t)size, file) : 0;
    }
    if (file)
        fclose(file);
    return size >= 0 && in->bytes && in->size == (size_t)size;
}

static void run(const char *path, const char *name)
{
    struct input in = {0}, changed;

    if (!tap_ok(load(path, &in), "%s is read", name))
        return;
    LLVMFuzzerTestOneInput(in.bytes, in.size);
    changed = in;
    changed.bytes = malloc(in.room);
    for (int round = 0; round < ROUNDS; round++) {
        memcpy(changed.bytes, in.bytes, in.size);
        changed.size = in.size;
        for (uint64_t n = 1 + random_below(CHANGES_MOST); n && changed.size; n--)
            change(&changed);
        LLVMFuzzerTestOneInput(changed.bytes, changed.size);
    }
    free(changed.bytes);
    free(in.bytes);
    tap_ok(true, "%s and %d changes of it", name, ROUNDS);
}

static int is_file(const struct dirent *entry) { return entry->d_name[0] != '.'; }

static void run_folder(const char *folder)
{
    const char *top = getenv("top_srcdir");
    struct dirent **list;
    char path[4096];
    int count;

    snprintf(path, sizeof path, "%s/%s", top ? top : ".", folder);
    count = scandir(path, &list, is_file, alphasort);
    tap_ok(count > 0, "%s has inputs", folder);
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s/%s", top ? top : ".", folder, list[i]->d_name);
        run(path, list[i]->d_name);
        free(list[i]);
    }
    if (count >= 0)
        free(list);
}

int main(void)
{
    const char *seed = getenv("SEMCACHE_TEST_SEED");

    state = seed && *seed ? strtoull(seed, NULL, 0) : 1;
    state += !state;
    tap_diag("seed %llu", (unsigned long long)state);
    if (!freopen("/dev/null", "w", stderr))
        return 99;
    for (int i = 0; fuzz_corpus[i]; i++)
        run_folder(fuzz_corpus[i]);
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
