# Makes C of blas/lapack/routines.tab (its head describes the columns).  POSIX awk.
# Usage: awk -f blas/lapack/generate.awk ops/operations.tab blas/lapack/routines.tab.

function is_letter(a) { return a ~ /^(side|uplo|trans|transa|transb|diag)$/ }
function is_int(a) { return a ~ /^(n|m|k|nb|ld[a-z]|inc[xy])$/ }
function join(list, more) { return list == "" ? more : list ", " more }
function register(place) { return substr("%rdi%rsi%rdx%rcx%r8 %r9 ", 4 * place - 3, place < 5 ? 4 : 3) }
function place_of(a,   i) { for (i = 1; arg[i] != a; i++) ; return i }

# The operands of an operation as members of struct sc_kernel: B and C by name, an updated matrix behind vectors in c.
function members(   i, a, s, count, list) {
    count = 0
    for (i = 1; i <= nargs; i++) {
        if ((a = arg[i]) !~ /^[APXY]$/) continue
        s = a ~ /[AP]/ && count ? "c" : substr("abc", ++count, 1)
        list = list ", ." s " = " a (a == "P" ? "" : ", .ld" s " = AT(" (a == "A" ? "lda" : "inc" tolower(a)) ")")
    }
    return list
}
function begin_of(t,   p, i) {
    if (begin !~ /\(/)
        return "operands_begin(&(struct sc_kernel){.op = SC_OP_" begin ", .type = SC_" toupper(t) \
            ", .n = AT(n), .beta = {1}" members() "})"
    split(begin, p, /[(,)]/)
    return p[1] "_begin(SC_" toupper(t) ", " p[2] ", AT(" p[3] "), AT(" p[4] "), AT(" p[5] ")" \
        (p[1] == "home" ? ", SC_RDWR)" : ")")
}
# Lengths of strings are passed on, and where they would be on the stack not declared.
function caught(name, t,   i, a, own, host, list, letters, size, fits) {
    for (i = 1; i <= nargs; i++) letters += is_letter(arg[i])
    fits = nargs + letters <= 6
    for (i = 1; i <= nargs; i++) {
        a = arg[i]
        own = join(own, (is_letter(a) ? "const char *" : is_int(a) ? "Int " : "void *") a); list = join(list, a)
    }
    host = own
    for (i = 1; i <= letters; i++) {
        host = host ", size_t" (fits ? " length" i : "")
        if (fits) own = own ", size_t length" i
        list = list ", " (fits ? "length" i : "1")
    }
    split(work, size, "*")
    print "CAUGHT(" name ", (" own "), (" host "), (" list "),"
    if (work == "n") print "       *n < sc_blas_small[1], SC_GATE_SIZE(\"" register(place_of("n")) "\"),"
    else print "       sc_blas_small2(1, *" size[1] ", *" size[2] "), SC_GATE_PRODUCT(\"" \
        register(place_of(size[1])) "\", \"" register(place_of(size[2])) "\"),"
    print "       " begin_of(t) ")"
}

BEGIN { print "/* Generated from blas/lapack/routines.tab by blas/lapack/generate.awk: the routines that are caught. */" }
/^[ \t]*(#|$)/ { next }
FILENAME ~ /operations\.tab$/ {
    for (i = 8; i <= NF; i++) {
        a = $i; sub(/^R:/, "", a); sub(/^trans\/.*/, "trans", a); sub(/:.*/, "", a)
        args[$1] = args[$1] " " a
    }
    next
}
{
    work = $2; begin = $3; list = ""
    for (i = 4; i <= NF; i++) list = list " " $i
    nargs = split(list == "" ? args[begin] : list, arg, " ")
    split($1, part, ":")
    for (i = 1; i <= length(part[1]); i++) {
        name = part[2]; sub(/\?/, substr(part[1], i, 1), name)
        letter = substr(part[1], i, 1)
        caught(name "_", letter)
    }
}
# SPDX-License-Identifier: BSD-2-Clause
