#include "tools/elf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined __aarch64__
#define OWN_MACHINE EM_AARCH64
#else
#define OWN_MACHINE EM_X86_64
#endif

/* False, with errno: the file cannot be read. */
static bool map_file(const char *path, struct sc_elf *elf)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat about;
    void *bytes = MAP_FAILED;

    *elf = (struct sc_elf){0};
    if (fd < 0)
        return false;
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode) || !about.st_size)
        errno = EINVAL;
    else
        bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (bytes == MAP_FAILED)
        return false;
    *elf = (struct sc_elf){.bytes = bytes, .size = (size_t)about.st_size};
    return true;
}

/* The first word after "#!". */
static void take_interpreter(const struct sc_elf *elf, char *interpreter, size_t bytes)
{
    size_t at = 2, length = 0;

    while (at < elf->size && (elf->bytes[at] == ' ' || elf->bytes[at] == '\t'))
        at++;
    while (at + length < elf->size && (unsigned char)elf->bytes[at + length] > ' ')
        length++;
    snprintf(interpreter, bytes, "%.*s", (int)(length < bytes ? length : bytes - 1), elf->bytes + at);
}

static enum sc_elf_kind kind_of(struct sc_elf *elf)
{
    if (elf->size >= 2 && memcmp(elf->bytes, "#!", 2) == 0)
        return SC_ELF_SCRIPT;
    if (elf->size < sizeof elf->header || memcmp(elf->bytes, ELFMAG, SELFMAG) != 0)
        return SC_ELF_OTHER;
    memcpy(&elf->header, elf->bytes, sizeof elf->header);
    if (elf->header.e_ident[EI_CLASS] != ELFCLASS64 || elf->header.e_ident[EI_DATA] != ELFDATA2LSB ||
        elf->header.e_machine != OWN_MACHINE)
        return SC_ELF_FOREIGN;
    return SC_ELF_GOOD;
}

enum sc_elf_kind sc_elf_open(const char *path, struct sc_elf *elf, char *interpreter, size_t bytes)
{
    enum sc_elf_kind kind;

    if (!map_file(path, elf))
        return SC_ELF_FAILED;
    kind = kind_of(elf);
    if (kind == SC_ELF_SCRIPT)
        take_interpreter(elf, interpreter, bytes);
    if (kind != SC_ELF_GOOD)
        sc_elf_close(elf);
    return kind;
}

void sc_elf_close(struct sc_elf *elf)
{
    if (elf->bytes)
        munmap((void *)elf->bytes, elf->size);
    *elf = (struct sc_elf){0};
}

static bool is_inside(const struct sc_elf *elf, uint64_t offset, uint64_t bytes)
{
    return offset <= elf->size && bytes <= elf->size - offset;
}

const char *sc_elf_segment(const struct sc_elf *elf, Elf64_Word type, size_t *bytes)
{
    Elf64_Phdr segment;

    for (unsigned i = 0; i < elf->header.e_phnum; i++) {
        if (!is_inside(elf, elf->header.e_phoff, (i + 1) * sizeof segment))
            return NULL;
        memcpy(&segment, elf->bytes + elf->header.e_phoff + i * sizeof segment, sizeof segment);
        if (segment.p_type == type && is_inside(elf, segment.p_offset, segment.p_filesz)) {
            *bytes = segment.p_filesz;
            return elf->bytes + segment.p_offset;
        }
    }
    return NULL;
}

static bool read_section(const struct sc_elf *elf, unsigned number, Elf64_Shdr *section)
{
    if (number >= elf->header.e_shnum || !is_inside(elf, elf->header.e_shoff, (number + 1) * sizeof *section))
        return false;
    memcpy(section, elf->bytes + elf->header.e_shoff + number * sizeof *section, sizeof *section);
    return section->sh_type == SHT_NOBITS || is_inside(elf, section->sh_offset, section->sh_size);
}

/* The first section of a type, and its table of names. */
static bool find_section(const struct sc_elf *elf, Elf64_Word type, Elf64_Shdr *section, Elf64_Shdr *strings)
{
    *section = (Elf64_Shdr){0};
    for (unsigned i = 0; i < elf->header.e_shnum && section->sh_type != type; i++)
        if (!read_section(elf, i, section))
            return false;
    return section->sh_type == type && read_section(elf, section->sh_link, strings) && strings->sh_size &&
           strings->sh_type == SHT_STRTAB && !elf->bytes[strings->sh_offset + strings->sh_size - 1];
}

bool sc_elf_symbols(const struct sc_elf *elf, Elf64_Word table,
                    bool (*each)(void *context, const char *name, const Elf64_Sym *symbol), void *context)
{
    Elf64_Shdr symbols, strings;
    Elf64_Sym symbol;
    bool go_on = true;

    if (!find_section(elf, table, &symbols, &strings))
        return false;
    for (uint64_t at = 0; go_on && at + sizeof symbol <= symbols.sh_size; at += sizeof symbol) {
        memcpy(&symbol, elf->bytes + symbols.sh_offset + at, sizeof symbol);
        if (symbol.st_name && symbol.st_name < strings.sh_size)
            go_on = each(context, elf->bytes + strings.sh_offset + symbol.st_name, &symbol);
    }
    return true;
}
/* SPDX-License-Identifier: BSD-2-Clause */
