# Reads ops/operations.tab and then routines.tab, for the generators of this folder and of cuda-um.  POSIX awk.
# For each row of routines.tab sets
#   `level`, `result`, `op`, `work`, `rows`;
#   arg[1..nargs] and has[argument], the arguments;
#   routine[1..routines] and type[1..routines], the routines of the row and their types;
#   `family`, the common name of the routines.

function fail(text) { print FILENAME ":" FNR ": " text > "/dev/stderr"; failed = 1; exit 1 }
function is_letter(a) { return a ~ /^(side|uplo|trans|transa|transb|diag)$/ }
function is_int(a) { return a ~ /^(n|m|k|kl|ku|lda|ldb|ldc|incx|incy)$/ }
function is_operand(a) { return a ~ /^[ABCPXY]:[ruwb]\(/ }
function tail(a) { return substr(a, index(a, ":") + 1) }

/^[ \t]*(#|$)/ { next }
# A row of ops/operations.tab: keeps the arguments in the form of routines.tab, and the operands by name.
FILENAME ~ /operations\.tab$/ {
    op_level[$1] = $2; op_result[$1] = $3; op_args[$1] = ""
    for (i = 8; i <= NF; i++) {
        a = $i
        if (a ~ /^trans/) sub(/\/.*/, "", a)
        if (match(a, /\)\/[a-zA-Z].*$/)) a = substr(a, 1, RSTART)
        if (a ~ /^(alpha|beta)$/) a = "T:" a
        if (a == "param") a = "&T:param"
        if (is_operand(a)) op_operand[$1, substr(a, 1, 1)] = a
        op_args[$1] = op_args[$1] " " a
    }
    next
}
{
    op = $2; work = $3; rows = $4
    if (op != "-" && !(op in op_level)) fail("unknown operation " op)
    level = op == "-" ? 1 : op_level[op]; result = op == "-" ? "-" : op_result[op]
    list = ""
    for (i = 5; i <= NF; i++) {
        if ($i ~ /^returns:/) result = tail($i)
        else list = list " " ((op, $i) in op_operand ? op_operand[op, $i] : $i)
    }
    nargs = split(list == "" ? op_args[op] : list, arg, " ")
    split("", has)
    for (i = 1; i <= nargs; i++) {
        has[arg[i]] = 1
        if (!is_letter(arg[i]) && !is_int(arg[i]) && !is_operand(arg[i]) && arg[i] !~ /^&?[TR]:/)
            fail("unknown argument " arg[i])
    }
    count = split($1, group, ",")
    routines = 0
    for (g = 1; g <= count; g++) {
        if (split(group[g], part, ":") != 2) fail("bad name " group[g])
        for (i = 1; i <= length(part[1]); i++) {
            type[++routines] = substr(part[1], i, 1)
            routine[routines] = part[2]
            sub(/\?/, type[routines], routine[routines])
        }
    }
    family = part[2]; sub(/\?/, "", family); if (family in seen) family = routine[1]; seen[family] = 1
}
# SPDX-License-Identifier: BSD-2-Clause
