# Makes C of ops/operations.tab (its head describes the columns).  POSIX awk.
#   awk -v what=enum|tables|calls -f generate.awk operations.tab

function fail(text) { print "operations.tab:" FNR ": " text > "/dev/stderr"; failed = 1; exit 1 }
function is_letter(a) { return a ~ /^(side|uplo|trans|transa|transb|diag)$/ }
function is_size(a) { return a ~ /^(m|n|k|kl|ku)$/ }
function is_step(a) { return a ~ /^(lda|ldb|ldc|incx|incy)$/ }
function is_scalar(a) { return a ~ /^(R:)?(alpha|beta)$/ || a == "param" }
function is_operand(a) { return a ~ /^[ABCEPXY]:[ruwb]\(/ }
# Of LAPACK: letters of a job, O(n) results in host memory, pivots.
function is_lapack(a) { return a == "job" || a ~ /^(small:[TRG]|pivots:)\([a-z]+\)$/ }
function field(a) { sub(/^R:/, "", a); return a == "trans" ? "transa" : a }

# The slot of struct sc_kernel that the i-th operand (from 0) of this name has.
function slot(name, i) {
    return name ~ /[BC]/ ? tolower(name) : name ~ /[APE]/ && i ? "c" : substr("abc", i + 1, 1)
}
# An operand's token in its parts: operand, access, shape, trait[].
function take(a,   close_, n, t, i) {
    for (close_ = length(a); substr(a, close_, 1) != ")"; close_--) ;
    for (i = 5; i <= close_; i++) if (substr(a, i, 3) ~ /\)\/[a-zA-Z]/) { close_ = i; break }
    operand = substr(a, 1, 1); access = substr(a, 3, 1); shape = substr(a, 5, close_ - 5)
    split("", trait)
    n = split(substr(a, close_ + 2), t, "/")
    for (i = 1; i <= n; i++) {
        if (t[i] !~ /^(half|whole|band|apart|cols|LR\((rows|cols),(rows|cols)\))$/) fail("unknown trait " t[i])
        trait[t[i] ~ /^LR/ ? "LR" : t[i]] = t[i]
    }
}
function c_access() {
    return access == "r" ? "SC_READ" : access == "w" ? "SC_WRITE" : access == "u" ? "SC_RDWR" : "sc_kernel_output(r)"
}
# How a new matrix is split; `trans`: the condition under which it is stored transposed, or "".
function c_split(trans,   s) {
    if ("LR" in trait) s = trait["LR"] ~ /\(rows/ ? "LR(SC_SPLIT_ROWS, SC_SPLIT_COLS)" : "LR(SC_SPLIT_COLS, SC_SPLIT_ROWS)"
    else s = "cols" in trait ? "SC_SPLIT_COLS" : "SC_SPLIT_ROWS"
    if (trans == "") return s
    return trans "(" s ", " (s ~ /COLS/ ? "SC_SPLIT_ROWS" : "SC_SPLIT_COLS") ")"
}
function views(   i, count, body, trans, used, p, s, name, value) {
    used = ""; count = 0
    for (i = 1; i <= nargs; i++) {
        if (!is_operand(arg[i])) continue
        take(arg[i])
        trans = shape ~ /^opb\(/ ? "NB" : shape ~ /^op\(/ ? "NT" : ""
        s = shape; used = used " " s " "
        sub(/n\*\(n\+1\)\/2/, "sc_op_packed(n)", s)
        gsub(/,/, ", ", s); gsub(/[+*\/]/, " & ", s); sub(/^opb\(/, "OPB(", s); sub(/^op\(/, "OP(", s)
        p = slot(operand, count)
        body = body "    v[" count "] = sc_op_" (operand ~ /[ABC]/ ? "matrix" : "vector") "(r, r->" p ", " s ", " \
            (operand ~ /[PE]/ ? "1" : "r->ld" p) ", " c_access() \
            (operand ~ /[ABC]/ ? ", " c_split(trans) : "") ");\n"
        if ("half" in trait) body = body "    v[" count "].half = true;\n"
        if ("whole" in trait) body = body "    v[" count "].whole = true;\n"
        count++
    }
    print "static int views_" tolower(op) "(const struct sc_kernel *r, struct sc_view v[3])\n{"
    split("m n k kl ku o entries columns ucols vrows lcols rcols most found", name, " ")
    split("r->m r->n r->k r->kl r->ku LR(r->m,r->n) r->csr.nonzeros r->csr.end-r->csr.first " \
        "JOB(0,r->m) JOB(1,r->n) JOB(0,r->n) JOB(1,r->n) MOST JOB(0,r->k)", value, " ")
    for (i = 1; i <= 14; i++)
        if (used ~ ("[^a-z]" name[i] "[^a-z]")) print "    const int64_t " name[i] " = " value[i] ";"
    print "\n" body "    return " count ";\n}\n"
}

# The routine's name in each of the types.
function hosts(   n, i, j, group, part, name, list) {
    n = split(made ? substr(host, 2) : host, group, ",")
    for (i = 1; i <= n; i++) {
        if (split(group[i], part, ":") != 2) fail("bad name " group[i])
        for (j = 1; j <= length(part[1]); j++) {
            name = part[2]; sub(/\?/, substr(part[1], j, 1), name)
            list = list (list == "" ? "" : ", ") "[SC_" toupper(substr(part[1], j, 1)) "] = \"" (name == "-" ? "" : name "_") "\""
        }
    }
    return list
}
# The number of elements of `small` or `pivots`.
function counted(a) {
    sub(/^[^(]*\(/, "", a); sub(/\)$/, "", a)
    smalls = smalls "    case SC_OP_" op ": return " (a == "least" ? "r->m < r->n ? r->m : r->n" : "r->" a) ";\n"
}
function info(   i, letters, slots, line, r, scales, part) {
    line = ".name = \"" tolower(op) "\", .level = " level ", .result = '" (result == "-" ? "\\0" : result) "', .host = {" hosts() "}"
    for (i = 1; i <= nargs; i++) {
        if (is_letter(arg[i])) line = line ", ." field(arg[i]) " = true"
        else if (arg[i] == "m" || arg[i] == "k") line = line ", ." arg[i] " = true"
        else if (is_operand(arg[i])) {
            take(arg[i]); slots = slots slot(operand, length(letters)); letters = letters operand
            r = r || access == "r"
            if (operand == "P") line = line ", .packed = true"
            if (operand == "E") line = line ", .sparse = true"
            if ("band" in trait) line = line ", .banded = true"
            if ("apart" in trait) line = line ", .apart = true"
        } else if (field(arg[i]) == "alpha") scales = 1
        else if (arg[i] ~ /^small:/) { line = line ", .small = '" substr(arg[i], 7, 1) "'"; counted(arg[i]) }
        else if (arg[i] ~ /^pivots:/) { line = line ", .pivots = true"; counted(arg[i]) }
    }
    if (values) line = line ", .trans = \"" values "\""
    if (scales && r && !sparse) line = line ", .scales = true"
    if (level == 4 && run != "-") {
        if (split(toupper(run), part, "+") != 2) fail("bad parts " run)
        line = line ", .made = true, .parts = {SC_OP_" part[1] ", SC_OP_" part[2] "}"
    }
    table = table "    [SC_OP_" op "] = {" line ",\n        .letters = \"" letters "\", .slots = \"" slots "\", .views = views_" tolower(op) "},\n"
}

# The host's Fortran routine, called with a record's arguments; one function for all operations with the same arguments.
function call(   i, a, p, count, type, list, lengths, key) {
    count = 0
    for (i = 1; i <= nargs; i++) {
        a = field(arg[i])
        if (is_letter(a)) { type = type "const char *, "; list = list ", &k->" a; lengths = lengths ", size_t" }
        else if (is_size(a)) { type = type "const int64_t *, "; list = list ", &g->" a }
        else if (a == "param") { type = type "const void *, "; list = list ", g->param" }
        else if (is_scalar(arg[i])) { type = type "const void *, "; list = list ", &g->" a }
        else if (is_operand(a)) {
            take(a); p = slot(operand, count++)
            type = type "void *, " (operand == "P" ? "" : "const int64_t *, ")
            list = list ", g->" p (operand == "P" ? "" : ", &g->ld" p)
        }
    }
    sub(/, $/, "", type); sub(/^, /, "", list)
    key = type list
    if (!(key in calls)) {
        calls[key] = "call_" tolower(op)
        print "static void " calls[key] "(routine f, const struct sc_kernel *k, const struct arguments *g)\n{"
        print "    typedef void " tolower(op) "(" type lengths ");\n"
        if (lengths == "") print "    (void)k;"
        gsub(/size_t/, "1", lengths)
        print "    ((" tolower(op) " *)f)(" list lengths ");\n}\n"
    }
    called = called " \\\n    [SC_OP_" op "] = " calls[key] ","
}

function begin_file(text) { print "/* Generated from ops/operations.tab by ops/generate.awk: " text " */" }
BEGIN {
    if (what == "enum") {
        begin_file("the operations.")
        print "#ifndef SC_OPS_OPERATIONS_H\n#define SC_OPS_OPERATIONS_H\n"
        print "/* Operations of a device.  x, y: vectors.  A, B, C: column-major matrices.  \"b=y\": operand y is in field b of\n * sc_kernel. */"
        print "enum sc_op {"
    } else if (what == "tables") {
        begin_file("shapes and classes.")
        print "#include \"ops/ops.h\"\n"
        print "#define NT(p, q) (r->transa == 'N' ? (p) : (q))"
        print "#define NB(p, q) (r->transb == 'T' || r->transb == 'C' ? (q) : (p))"
        print "#define LR(p, q) (r->side == 'R' ? (q) : (p))"
        print "#define MOST (r->m > r->n ? r->m : r->n)"
        print "#define JOB(i, all) sc_op_vectors(r, i, all)"
        print "#define OP(p, q) NT(p, q), NT(q, p)\n#define OPB(p, q) NB(p, q), NB(q, p)\n"
    } else if (what == "calls") begin_file("calls of the host's routines, for device/kernel_host.c.")
}
# The row before is complete when its meaning has been read.
function end_row() {
    if (op == "") return
    if (what == "enum" && sparse && !dense_end) { print "    SC_OPS,"; dense_end = 1; first = " = SC_OPS" }
    if (what == "enum") print "    SC_OP_" op first "," (meaning == "" ? "" : " /* " meaning " */")
    first = meaning = op = ""
}
/^[ \t]+#/ { meaning = $0; sub(/^[ \t]*# /, "", meaning); next }
/^[ \t]*(#|$)/ { next }
{
    end_row()
    op = $1; level = $2; result = $3; run = $4; work = $5; flops = $6; host = $7; nargs = NF - 7; sparse = made = 0
    made = host ~ /^\*/; values = ""
    for (i = 8; i <= NF; i++) {
        arg[i - 7] = $i
        if ($i ~ /^trans[ab]?(\/[NTCntc]+)?$/) {
            if ($i ~ /^transa?(\/|$)/) values = $i ~ /\// ? substr($i, index($i, "/") + 1) : "NTC"
            sub(/\/.*/, "", arg[i - 7])
        }
        if (!is_letter(arg[i - 7]) && !is_size($i) && !is_step($i) && !is_scalar($i) && !is_operand($i) &&
            !is_lapack($i)) fail("unknown argument " $i)
        if ($i ~ /^E:/) sparse = 1
    }
    if (what == "enum" && run != "-" && level < 4) decomposed = decomposed " \\\n    [SC_OP_" op "] = sc_blas_" run ","
    else if (what == "tables") {
        views(); info()
        gsub(/[+*\/]/, " & ", work)
        works = works "    case SC_OP_" op ": return " work ";\n"
        rate = rate " [SC_OP_" op "] = " flops ","
    } else if (what == "calls" && !made && result == "-") call()
}
END {
    if (failed) exit 1
    end_row()
    if (what == "enum") {
        print "    SC_OPS_ALL\n};\n"
        print "/* By operation, what runs it (blas/run/offload.c); none: a reduction. */\n#define SC_OP_DECOMPOSITIONS" decomposed
        print "\n#endif"
    } else if (what == "tables") {
        print "const struct sc_op_info sc_ops[SC_OPS_ALL] = {\n" table "};\n"
        print "const uint8_t sc_op_rate[SC_OPS_ALL] = {" rate "};\n"
        print "double sc_op_work(enum sc_op op, char side, double m, double n, double k)\n{"
        print "    const double o = side == 'R' ? n : m, least = m < n ? m : n, most = m < n ? n : m;\n\n    switch (op) {\n" works "    default: return 0;\n    }\n}\n"
        print "int64_t sc_kernel_small(const struct sc_kernel *r)\n{\n    switch (r->op) {\n" smalls "    default: return 0;\n    }\n}"
    } else if (what == "calls") print "#define SC_OP_CALLS" called
}
# SPDX-License-Identifier: BSD-2-Clause
