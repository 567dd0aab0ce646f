/* Files that the library and the command write for their user. */
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

/* Why `path` may not be replaced by a file of this kind, NULL: it may.  A name may be free, or of an empty regular
 * file, or of one of the same kind; the file is the user's own, writable, has one name and is reached without a link.
 * "%p" in the path of a trace, of statistics or of an explanation stands for the process id. */
const char *sc_trace_file_refusal(const char *path, enum sc_file_kind kind);

/* Puts a new file at `path`, in the place of one that sc_trace_file_refusal has nothing against.  Who has the old file
 * open keeps it.  Returns a descriptor for reading and writing, closed on exec and out of the way of programs that
 * count theirs, or -1 (after one line in the log). */
int sc_trace_create_file(const char *path, mode_t mode, enum sc_file_kind kind);

/* Replaces a file by `text`.  On failure (one line in the log) the old file is unchanged. */
bool sc_trace_write_file(const char *path, mode_t mode, enum sc_file_kind kind, const char *text, size_t bytes);

/* Replaces NAME in a folder (a descriptor, or AT_FDCWD) in one step, without a look at the old file.  False, with
 * errno: the folder is unchanged. */
bool sc_trace_replace_file(int folder, const char *name, mode_t mode, const char *text, size_t bytes);

#endif
