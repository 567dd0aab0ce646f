# Writes semcache(3) from the headers of include/semcache: comments are the text, declarations the synopsis.
# A comment line "--- title ---" begins a section.
BEGIN {
    print ".\\\" Generated from the headers of include/semcache by libsemcache/manual.awk."
    print ".TH SEMCACHE 3 \"\" \"semcache\" \"Library Functions\""
    print ".SH NAME\nsemcache \\- control of the library from a program"
    print ".SH LIBRARY\nlibsemcache (\\fB\\-lsemcache\\fR; \\fBpkg-config \\-\\-libs semcache\\fR)"
    print ".SH SYNOPSIS\n.nf\n.B #include <semcache/semcache.h>\n.B #include <semcache/tasks.h>\n.B #include <semcache/directives.h>\n.fi\n.SH DESCRIPTION"
}

function plain(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    gsub(/`/, "\\(ga", text)
    sub(/^[.']/, "\\\\\\&&", text)
    return text
}

function paragraph(text) {
    gsub(/[ \t]+/, " ", text)
    sub(/^ /, "", text)
    sub(/ $/, "", text)
    if (text != "")
        print ".PP\n" plain(text)
}

# The text of a comment follows the declarations below the comment; the first comment is about all of them.
function comment(text) {
    flush()
    if (text ~ /SPDX-/)
        return
    if (text ~ /^ *--- .* ---+ *$/) {
        gsub(/^ *--- *| *-+ *$/, "", text)
        print ".SH \"" toupper(text) "\""
        return
    }
    held = text
    if (!comments++)
        flush()
}

function flush(    part, parts, i) {
    parts = split(held, part, "\n\n")
    for (i = 1; i <= parts; i++) {
        gsub(/\n/, " ", part[i])
        paragraph(part[i])
    }
    held = ""
}

function declaration(text) {
    gsub(/SEMCACHE_API /, "", text)
    print ".PP\n.in +4n\n.nf\n" plain(text) "\n.fi\n.in"
}

FNR == 1 && NR > 1 { # the next header
    flush()
    comments = 0
    print ++headers == 1 ? ".SH TASKS" : ".SH DIRECTIVES"
}
/^#(ifndef SEMCACHE_[A-Z]*_H|define SEMCACHE_[A-Z]*_H|include|if|else|endif)/ { skipping = /^#if / || /^#ifdef/; next }
/^#define SEMCACHE_API/ || /^extern "C"/ { next }

# Comments that begin a line; blank lines in them part paragraphs.
!inside && /^\/\*/ { inside = 1; text = ""; sub(/^\/\*/, " *") }
inside {
    ends = /\*\/[ \t]*$/
    sub(/\*\/[ \t]*$/, "")
    sub(/^ \*/, "")
    text = text (text == "" ? "" : "\n") ($0 ~ /^[ \t]*$/ ? "" : $0)
    if (ends) {
        inside = 0
        comment(text)
    }
    next
}

# Functions that a header defines: their declarations.
/^static inline/ { defined = 1 }
/^{$/ { skipped = 1 }
/^}$/ { skipped = 0; next }
skipped { next }
defined {
    declared = declared (declared == "" ? "" : "\n") $0
    if ($0 ~ /\)$/) {
        sub(/^static inline /, "", declared)
        declaration(declared ";")
        declared = ""
        defined = 0
    }
    next
}

# Declarations, up to the semicolon that ends them.
declared != "" || /^(SEMCACHE_API|enum|struct|typedef|#define)/ {
    declared = declared (declared == "" ? "" : "\n") $0
    if ($0 ~ /^#define/ || $0 ~ /};$/ || ($0 ~ /;$/ && declared !~ /{/)) {
        declaration(declared)
        declared = ""
    }
}

END {
    flush()
    print ".SH EXAMPLE\n.nf"
    print "double *a = semcache_alloc(n * n * sizeof *a);"
    print "/* ... fill a, call dgemm_() ... */"
    print "semcache_sync(a, n * n * sizeof *a);   /* one wait in place of many faults */"
    print "send_to_network_card(a);"
    print "semcache_free(a);\n.fi"
    print ".SH SEE ALSO\n.BR semcache (1),\n.BR semcache (7)"
}
# SPDX-License-Identifier: BSD-2-Clause
