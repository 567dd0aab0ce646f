# Makes C of blas/lapack/whole.tab (its head describes the columns).  POSIX awk.
#   awk -v what=functions|names|exports|doc -f whole.awk whole.tab

function is_letter(a) { return a ~ /^(side|uplo|trans|diag|norm|range|job[a-z]*)$/ }
function join(list, more) { return list == "" ? more : list ", " more }
function register(place) { return substr("%rdi%rsi%rdx%rcx%r8 %r9 ", 4 * place - 3, place < 5 ? 4 : 3) }
function place_of(a,   i) { for (i = 1; arg[i] != a; i++) ; return i }

# What a function gives: a real number of the type's precision, if it has no INFO.
function result_of(t) { return arg[nargs] == "info" ? "void, NO_VALUE" : (t ~ /[sc]/ ? "float" : "double") ", VALUE" }

# wide: 64-bit integers.
function caught(name, t, wide,   i, a, own, host, list, fields, lengths, size, symbol, ends) {
    for (i = 1; i <= nargs; i++) {
        a = arg[i]
        own = join(own, (is_letter(a) ? "const char *" : "void *") a)
        list = join(list, a)
        fields = join(fields, "." a " = " a)
        if (is_letter(a)) { lengths = lengths ", size_t"; ends = ends ", 1" }
    }
    split(work, size, "*")
    symbol = name (wide ? "_64_" : "_")
    print "WHOLE(" result_of(t) ", " symbol ", " (wide ? "true" : "false") ", " id ", SC_" toupper(t) ", SC_OP_" op ", SC_WORK_" rule ","
    print "      (" own "), (" own lengths "),"
    print "      (" list ends "), (" fields "),"
    print "      SC_GATE_PRODUCT" (wide ? "64" : "") "(\"" register(place_of(size[1])) "\", \"" \
        register(place_of(size[2])) "\"))"
    print "SC_GATE_NAME(scipy_" symbol ", gate_" symbol ");"
}

BEGIN {
    if (what == "functions" || what == "names")
        print "/* Generated from blas/lapack/whole.tab by blas/lapack/whole.awk: whole routines of LAPACK. */"
    if (what == "names") print "#define SC_LAPACK_NAMES \\"
    if (what == "doc") {
        print "\n## LAPACK\n\nGenerated from `blas/lapack/whole.tab`.  Each routine runs on one device as a whole when that"
        print "pays, under the Fortran names with 32-bit and with 64-bit integers (`dgesv_`, `dgesv_64_`, `scipy_dgesv_`,"
        print "`scipy_dgesv_64_`).\n\n| routine | types | offloaded as |\n| --- | --- | --- |"
    }
    row = 0
}
/^[ \t]*(#|$)/ { next }
{
    op = rule = $2; sub(/\/.*/, "", op); sub(/.*\//, "", rule)
    work = $3; nargs = NF - 3
    for (i = 4; i <= NF; i++) arg[i - 3] = $i
    split($1, part, ":")
    for (i = 1; i <= length(part[1]); i++) {
        t = substr(part[1], i, 1); name = part[2]; sub(/\?/, t, name)
        id = row + (row < 131 ? 376 : 381)
        if (what == "functions") print "_Static_assert(SC_TRACE_LAPACK(" row ") == " id ", \"an id of a trace\");"
        if (what == "functions") { caught(name, t, 0); caught(name, t, 1) }
        else if (what == "names") print "    \"" name "\", \\"
        else if (what == "exports") print name "_\nscipy_" name "_\n" name "_64_\nscipy_" name "_64_"
        row++
    }
    if (what == "doc") print "| `" part[2] "` | " part[1] " | " tolower(op) " |"
}
END { if (what == "names") print "    NULL" }
# SPDX-License-Identifier: BSD-2-Clause
