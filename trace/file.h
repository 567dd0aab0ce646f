/* Files written by the library and the command for their user. */
#ifndef SC_TRACE_FILE_H
#define SC_TRACE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Each kind of file has its own first bytes.  A file with other first bytes is foreign, and is never replaced. */
enum sc_file_kind {
    SC_FILE_TRACE,
    SC_FILE_STATISTICS,
    SC_FILE_EXPLANATION,
    SC_FILE_MEASUREMENTS,
    SC_FILE_PICTURE, /* of links (semcache info --svg) */
    SC_FILE_KINDS
};

/* The first line of a picture of links. */
#define SC_FILE_PICTURE_BEGIN "<!-- semcache links -->\n"

/* The reason why `path` may not be replaced by a file of this kind, or NULL. Permitted are a free name, an empty
 * regular file, and a file of the same kind. The file must belong to the user, be writable, have one name and be
 * reached without a link. "%p" in the path of a trace, of statistics or of an explanation stands for the process id. */
const char *sc_trace_file_refusal(const char *path, enum sc_file_kind kind);

/* Creates a new file at `path`, replacing a file that sc_trace_file_refusal permits. Open descriptors of the old
 * file keep the old file. Returns a descriptor for reading and writing, closed on exec and with a large number, or
 * -1 after one line in the log. */
int sc_trace_create_file(const char *path, mode_t mode, enum sc_file_kind kind);

/* Replaces a file by `text`.  On failure (one line in the log) the old file is unchanged. */
bool sc_trace_write_file(const char *path, mode_t mode, enum sc_file_kind kind, const char *text, size_t bytes);

/* Replaces NAME in a folder (a descriptor, or AT_FDCWD) in one step, without a look at the old file.  False, with
 * errno: the folder is unchanged. */
bool sc_trace_replace_file(int folder, const char *name, mode_t mode, const char *text, size_t bytes);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
