/* For a program linked with another BLAS before -lsemcache (rule L10 of README.md).  The dynamic linker binds dgemm_
 * to the first library with a definition, here to that BLAS.  This file binds the names of the BLAS again, to this
 * library: the slots of procedure linkage tables and the function pointers of every loaded object,
 * including this library.  The result equals that of the other link order.
 *
 * Three kinds of names stay bound: names of libc also exported by this library, names defined by the program itself,
 * and names bound inside a library (protected symbols, -Bsymbolic). */
#define _GNU_SOURCE
#include <config.h>

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

#include "base/config.h"
#include "base/loader.h"
#include "base/log.h"
#include "base/page.h"
#include "blas/blas.h"
#include "libsemcache/library.h"
#include "trace/trace.h"

struct rebinding {
    void *self, *libc; /* handles of the loader */
    unsigned slots;
    bool refused;
};

/* A loaded object. */
struct object {
    const Elf64_Sym *symbols;
    const char *strings;
    const Elf64_Rela *table[2]; /* relocations of functions, and further relocations */
    size_t bytes[2];
    uintptr_t base, relro, relro_end; /* pages made read-only after relocation */
    bool symbolic, open;              /* open: the pages of relro are writable now */
};

static const void *file_of(const void *address)
{
    struct sc_loader_object object;

    return address && sc_loader_object(address, &object) ? object.base : NULL;
}

static bool is_ours(const void *address) { return file_of(address) == file_of((void *)sc_library_rebind); }

/* --- names -------------------------------------------------------------------------------------------------------- */

/* Whether an address lies in the program, and if so, whether the address is a definition.  (In a program at a fixed
 * address a function's address may be a stub that jumps to the definition.) */
static bool is_in_program(const void *address, bool *definition)
{
    struct sc_loader_object object;
    const Elf64_Sym *symbol = NULL;
    Dl_info info;

    if (!sc_loader_object(address, &object) || *object.map->l_name)
        return false;
    *definition = sc_loader_address(address, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol &&
                  symbol->st_shndx != SHN_UNDEF;
    return true;
}

/* The first definition of the name in the libraries, in loading order, which is also the order of search. */
static void *first_in_libraries(const char *name)
{
    void *program = sc_loader_open(NULL, RTLD_LAZY), *found = NULL;
    struct link_map *map = NULL;

    if (program && dlinfo(program, RTLD_DI_LINKMAP, &map) == 0)
        for (map = map->l_next; map && !found; map = map->l_next) {
            void *library = *map->l_name ? sc_loader_open(map->l_name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
            struct sc_loader_object owner;

            if (!library)
                continue;
            found = sc_loader_symbol(library, name); /* may come from a dependency of this library */
            if (found && (!sc_loader_object(found, &owner) || owner.map != map))
                found = NULL;
            sc_loader_close(library);
        }
    if (program)
        sc_loader_close(program);
    return found;
}

/* Returns the definition bound to the name, or NULL where this library or the program has defined the name. */
static void *others(const char *name)
{
    void *first = sc_loader_symbol(RTLD_DEFAULT, name);
    bool programs;

    if (first && is_in_program(first, &programs))
        first = programs ? NULL : first_in_libraries(name);
    return first && !is_ours(first) ? first : NULL;
}

/* This library's definition of a name to rebind, else NULL. */
static void *ours_instead(struct rebinding *r, const char *name)
{
    void *ours = sc_loader_symbol(r->self, name);

    return is_ours(ours) && !(r->libc && sc_loader_symbol(r->libc, name)) && others(name) ? ours : NULL;
}

/* --- one object --------------------------------------------------------------------------------------------------- */

/* The dynamic linker has made most of these addresses absolute. */
static const void *pointer_of(const struct dl_phdr_info *info, const Elf64_Dyn *entry)
{
    uintptr_t p = entry->d_un.d_ptr;

    return (const void *)(p < info->dlpi_addr ? p + info->dlpi_addr : p);
}

static bool read_object(const struct dl_phdr_info *info, struct object *o)
{
    const Elf64_Dyn *dynamic = NULL;

    *o = (struct object){.base = info->dlpi_addr};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const Elf64_Phdr *p = &info->dlpi_phdr[i];

        if (p->p_type == PT_DYNAMIC)
            dynamic = (const Elf64_Dyn *)(info->dlpi_addr + p->p_vaddr);
        if (p->p_type == PT_GNU_RELRO) {
            o->relro = sc_page_floor(info->dlpi_addr + p->p_vaddr);
            o->relro_end = sc_page_floor(info->dlpi_addr + p->p_vaddr + p->p_memsz);
        }
    }
    for (const Elf64_Dyn *d = dynamic; d && d->d_tag != DT_NULL; d++)
        switch (d->d_tag) {
        case DT_SYMTAB: o->symbols = pointer_of(info, d); break;
        case DT_STRTAB: o->strings = pointer_of(info, d); break;
        case DT_JMPREL: o->table[0] = pointer_of(info, d); break;
        case DT_PLTRELSZ: o->bytes[0] = d->d_un.d_val; break;
        case DT_RELA: o->table[1] = pointer_of(info, d); break;
        case DT_RELASZ: o->bytes[1] = d->d_un.d_val; break;
        case DT_SYMBOLIC: o->symbolic = true; break;
        case DT_FLAGS: o->symbolic |= (d->d_un.d_val & DF_SYMBOLIC) != 0; break;
        default: break;
        }
    return o->symbols && o->strings;
}

/* Atomic, because other threads may be calling through the slot. */
static void set_slot(struct rebinding *r, struct object *o, uintptr_t slot, uintptr_t value)
{
    if (*(uintptr_t *)slot == value)
        return;
    if (slot >= o->relro && slot < o->relro_end && !o->open) {
        if (mprotect((void *)o->relro, o->relro_end - o->relro, PROT_READ | PROT_WRITE) != 0) {
            r->refused = true;
            return;
        }
        o->open = true;
    }
    __atomic_store_n((uintptr_t *)slot, value, __ATOMIC_RELEASE);
    r->slots++;
}

static void rebind_one(struct rebinding *r, struct object *o, const Elf64_Rela *relocation)
{
    const Elf64_Sym *symbol = &o->symbols[ELF64_R_SYM(relocation->r_info)];
    uint64_t type = ELF64_R_TYPE(relocation->r_info);
    bool own = symbol->st_shndx != SHN_UNDEF;
    void *ours;

    if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT && type != R_X86_64_64)
        return;
    if (!symbol->st_name || (own && (o->symbolic || ELF64_ST_VISIBILITY(symbol->st_other) != STV_DEFAULT)))
        return;
    ours = ours_instead(r, o->strings + symbol->st_name);
    if (ours)
        set_slot(r, o, o->base + relocation->r_offset,
                 (uintptr_t)ours + (type == R_X86_64_64 ? (uintptr_t)relocation->r_addend : 0));
}

static int rebind_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct rebinding *r = arg;
    struct object o;

    (void)size;
    if (!read_object(info, &o))
        return 0;
    for (int t = 0; t < 2; t++)
        for (size_t i = 0; o.table[t] && i < o.bytes[t] / sizeof(Elf64_Rela); i++)
            rebind_one(r, &o, &o.table[t][i]);
    if (o.open)
        mprotect((void *)o.relro, o.relro_end - o.relro, PROT_READ);
    return 0;
}

/* --- a BLAS in the program ---------------------------------------------------------------------------------------- */

static bool is_own(const char *name)
{
    const void *first = sc_loader_symbol(RTLD_DEFAULT, name);
    bool definition = false;

    return first && !sc_loader_is_own(first) && is_in_program(first, &definition) && definition;
}

static char own_name[40];
const char *sc_library_own_name(void) { return *own_name ? own_name : NULL; }

static bool find_own_name(void)
{
    static const char *const forms[] = {"%s_", "cblas_%s", "%s_64_"};

    sc_blas_register_names();
    for (int i = 1; i < SC_TRACE_ROUTINES_MAX; i++)
        for (size_t form = 0; sc_trace_routine_name(i) && form < sizeof forms / sizeof *forms; form++) {
            snprintf(own_name, sizeof own_name, forms[form], sc_trace_routine_name(i));
            if (is_own(own_name))
                return true;
        }
    *own_name = '\0';
    return false;
}

/* --- entry point -------------------------------------------------------------------------------------------------- */

void sc_library_rebind(void)
{
    void *other = others("dgemm_"), *other64 = others("dgemm_64_");
    struct rebinding r = {.slots = 0};
    struct sc_loader_object self, file;

    /* Opened by dlopen and not linked with the program: the program's bindings stay. */
    if (others("malloc"))
        return;
    if ((sc_log_threshold >= SC_LOG_INFO || sc_config.summary != SC_SUMMARY_OFF) && find_own_name())
        sc_log(SC_LOG_INFO,
               "the program has a BLAS in itself (%s), linked before -lsemcache: its calls do not come here", own_name);
    other = other ? other : other64;
    if (!other)
        return;
    if (!sc_loader_object((void *)sc_library_rebind, &self) ||
        !(r.self = sc_loader_open(self.path, RTLD_LAZY | RTLD_NOLOAD)))
        return;
    r.libc = sc_loader_open("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    sc_loader_each(rebind_object, &r);
    if (r.libc)
        sc_loader_close(r.libc);
    sc_loader_close(r.self);
    if (!sc_loader_object(other, &file))
        file.path = "another BLAS";
    if (r.refused)
        sc_log(SC_LOG_WARN, "%s comes before semcache and gets the program's calls, which could not be bound again "
                            "(mprotect): link with -lsemcache first, or use semcache run", file.path);
    else
        sc_log(SC_LOG_INFO, "%s comes before semcache: %u references to its names are ours now", file.path,
               r.slots);
}
/* SPDX-License-Identifier: BSD-2-Clause */
