/* An ELF file of this machine's class, for reading.  Nothing in the file is trusted. */
#ifndef SC_TOOLS_ELF_FILE_H
#define SC_TOOLS_ELF_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>

struct sc_elf {
    const char *bytes; /* the whole file */
    size_t size;
    Elf64_Ehdr header;
};

enum sc_elf_kind {
    SC_ELF_GOOD,    /* to be closed; every other kind is closed */
    SC_ELF_FAILED,  /* errno says why the file cannot be read */
    SC_ELF_SCRIPT,  /* "#!" and an interpreter */
    SC_ELF_FOREIGN, /* of another architecture, or of 32 bits */
    SC_ELF_OTHER    /* no ELF file */
};
/* SCRIPT: `interpreter` receives the path after "#!". */
enum sc_elf_kind sc_elf_open(const char *path, struct sc_elf *elf, char *interpreter, size_t bytes);
void sc_elf_close(struct sc_elf *elf);

/* The contents of the first segment of a type (PT_INTERP...), or NULL. */
const char *sc_elf_segment(const struct sc_elf *elf, Elf64_Word type, size_t *bytes);

/* Calls `each` for the symbols of one table (SHT_DYNSYM, SHT_SYMTAB) until `each` returns false.  False: the file has
 * no such table. */
bool sc_elf_symbols(const struct sc_elf *elf, Elf64_Word table,
                    bool (*each)(void *context, const char *name, const Elf64_Sym *symbol), void *context);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
