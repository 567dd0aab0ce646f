#define _GNU_SOURCE
#include "host/next.h"

#include <string.h>

#include "base/loader.h"

void *sc_host_next_find(void **slot, const char *name)
{
    void *next = sc_loader_symbol(RTLD_NEXT, name);

    __atomic_store_n(slot, next, __ATOMIC_RELAXED);
    return next;
}

/* --- many functions ----------------------------------------------------------------------------------------------- */

/* Some C libraries add the base address to these pointers, others do not. */
static const void *pointer_of(const struct link_map *map, const ElfW(Dyn) *entry)
{
    ElfW(Addr) at = entry->d_un.d_ptr;

    return (const void *)(at < map->l_addr ? at + map->l_addr : at);
}

static bool read_symbols(const struct link_map *map, struct sc_host_symbols *t)
{
    *t = (struct sc_host_symbols){.base = map->l_addr};
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++)
        switch (d->d_tag) {
        case DT_GNU_HASH: t->hash = pointer_of(map, d); break;
        case DT_SYMTAB: t->symbols = pointer_of(map, d); break;
        case DT_STRTAB: t->names = pointer_of(map, d); break;
        case DT_VERSYM: t->version = pointer_of(map, d); break;
        }
    return t->hash && t->symbols && t->names;
}

static uint32_t hash_of(const char *name)
{
    uint32_t hash = 5381;

    for (; *name; name++)
        hash = 33 * hash + (unsigned char)*name;
    return hash;
}

#define OLDER 0x8000 /* of a version: not the version for new programs */

/* The symbol of a name; NULL: the file does not define it. */
static const ElfW(Sym) *symbol_of(const struct sc_host_symbols *t, const char *name, uint32_t hash)
{
    enum { BITS = 8 * sizeof(ElfW(Addr)) };
    const uint32_t buckets = t->hash[0], first = t->hash[1], words = t->hash[2], shift = t->hash[3];
    const ElfW(Addr) *filter = (const ElfW(Addr) *)&t->hash[4];
    const uint32_t *bucket = (const uint32_t *)&filter[words], *chain = &bucket[buckets];
    const ElfW(Sym) *symbol = t->symbols;
    ElfW(Addr) word = filter[hash / BITS % words];
    uint32_t i;

    if (!(word >> hash % BITS & word >> (hash >> shift) % BITS & 1))
        return NULL;
    i = bucket[hash % buckets];
    for (bool more = i >= first; more; i++) {
        uint32_t other = chain[i - first];

        if ((other | 1) == (hash | 1) && symbol[i].st_shndx != SHN_UNDEF &&
            !(t->version && t->version[i] & OLDER) && strcmp(t->names + symbol[i].st_name, name) == 0)
            return &symbol[i];
        more = !(other & 1);
    }
    return NULL;
}

/* The kernel's page of functions is in the list of files, and in no order of libraries. */
static bool is_file(const struct link_map *map) { return strchr(map->l_name, '/') != NULL; }

static bool has_libc(const struct link_map *map, const struct link_map *libc)
{
    while (map && map != libc)
        map = map->l_next;
    return map != NULL;
}

/* Where this library was opened later than libc, the order of libraries is not the order of the list. */
void sc_host_nexts_open(struct sc_host_nexts *nexts)
{
    struct sc_loader_object own, libc;

    nexts->count = 0;
    if (!sc_loader_object(&sc_object_begin, &own) || !sc_loader_object((const void *)strerror, &libc) ||
        !has_libc(own.map, libc.map))
        return;
    for (const struct link_map *map = own.map->l_next; map; map = map->l_next) {
        if (!is_file(map))
            continue;
        if (nexts->count == SC_HOST_NEXTS_MAX || !read_symbols(map, &nexts->file[nexts->count])) {
            nexts->count = 0;
            return;
        }
        nexts->count++;
    }
}

void *sc_host_nexts_find(const struct sc_host_nexts *nexts, const char *name)
{
    uint32_t hash = hash_of(name);

    for (int i = 0; i < nexts->count; i++) {
        const ElfW(Sym) *symbol = symbol_of(&nexts->file[i], name, hash);

        if (symbol)
            return (symbol->st_info & 15) == STT_FUNC ? (void *)(nexts->file[i].base + symbol->st_value) : NULL;
    }
    return NULL;
}
/* SPDX-License-Identifier: BSD-2-Clause */
