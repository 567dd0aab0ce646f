# What both generators of names (this folder's, cuda-um's) do with ops/operations.tab and routines.tab, in this order:
# for a row of the latter `level`, `result`, `op`, `work`, `rows`, its arguments arg[1..nargs], has[argument], and its
# routines routine[1..routines] of the types type[1..routines], of which `family` is the common name.  POSIX awk.

function fail(text) { print FILENAME ":" FNR ": " text > "/dev/stderr"; failed = 1; exit 1 }
function is_letter(a) { return a ~ /^(side|uplo|trans|transa|transb|diag)$/ }
function is_int(a) { return a ~ /^(n|m|k|kl|ku|lda|ldb|ldc|incx|incy)$/ }
function is_operand(a) { return a ~ /^[ABCPXY]:[ruwb]\(/ }
function tail(a) { return substr(a, index(a, ":") + 1) }

/^[ \t]*(#|$)/ { next }
# An operation: its arguments as a routine has them, and its operands by name.
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
