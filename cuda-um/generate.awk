# Generates the cuBLAS functions from the rows that blas/veneers/rows.awk reads.  POSIX awk.
#   awk -v what=functions|exports|checks -f blas/veneers/rows.awk -f cuda-um/generate.awk ops/operations.tab \
#       blas/veneers/routines.tab
#
# cuBLAS has the arguments in Fortran's order, scalars behind pointers, the result last, and trmm out of place.

function real_of(t) { return t == "s" || t == "c" ? "float" : "double" }
function type_of(t) { return t == "c" ? "cuComplex" : t == "z" ? "cuDoubleComplex" : real_of(t) }
function is_address(a) { return a ~ /^&/ }
function name_of(a) { return is_operand(a) ? substr(a, 1, 1) : a ~ /:/ ? substr(a, index(a, ":") + 1) : a }
function held(a, t) { return a ~ /^&?R:/ ? real_of(t) : type_of(t) }
function join(list, more) { return list == "" ? more : list ", " more }
function letter_of(a) { return a ~ /^trans/ ? "trans" : a }
function enum_of(a) {
    return a ~ /^trans/ ? "cublasOperation_t" : a == "side" ? "cublasSideMode_t" : \
        a == "uplo" ? "cublasFillMode_t" : "cublasDiagType_t"
}
# Routines absent from cuBLAS.
function is_left_out(r) { return r ~ /^(dsdot|sdsdot)$/ || r ~ /^.axpby$/ || r ~ /^.gemmt$/ }
function is_trmm(r) { return r ~ /^.trmm$/ }
function int_type(wide) { return wide ? "int64_t" : "int" }
# Read-only addresses: rotm's parameters, the input scalar of rotmg.
function is_input(a, r) { return a ~ /^[TR]:/ || r ~ /rotm$/ && name_of(a) == "param" }
function result_of(t, wide) {
    return result == "-" ? "" : result == "I" ? int_type(wide) : result == "R" ? real_of(t) : type_of(t)
}
function upper(r) { return toupper(substr(r, 1, 1)) substr(r, 2) }
function cublas_name(r, wide) { return "cublas" upper(r) (r ~ /gemm3m$/ ? "" : "_v2") (wide ? "_64" : "") }

function params(r, t, wide,   i, a, l) {
    l = "cublasHandle_t handle"
    for (i = 1; i <= nargs; i++) {
        a = arg[i]
        if (is_letter(a)) l = l ", " enum_of(a) " " a
        else if (is_int(a)) l = l ", " int_type(wide) " " a
        else if (is_operand(a)) l = l ", " (a ~ /:r/ || is_trmm(r) ? "const " : "") type_of(t) " *" name_of(a)
        else l = l ", " (is_input(a, r) ? "const " : "") held(a, t) " *" name_of(a)
    }
    if (is_trmm(r)) l = l ", " type_of(t) " *C, " int_type(wide) " ldc"
    return result == "-" ? l : l ", " result_of(t, wide) " *result"
}
function names(r,   i, l) {
    l = "handle"
    for (i = 1; i <= nargs; i++) l = l ", " name_of(arg[i])
    if (is_trmm(r)) l = l ", C, ldc"
    return result == "-" ? l : l ", result"
}
function listed(kind, r,   i, l) {
    l = ""
    for (i = 1; i <= nargs; i++) {
        if (is_operand(arg[i]) ? kind != "memory" : !(arg[i] ~ /:/) || kind != "scalars") continue
        l = join(l, name_of(arg[i]))
    }
    if (is_trmm(r) && kind == "memory") l = l ", C"
    if (result != "-" && kind == "scalars") l = join(l, "result")
    return l == "" ? "NULL" : l
}

# The rows covered by a leading dimension; letters are those of the call.
function rows_of(a,   sh, p) {
    sh = substr(a, 5, length(a) - 5)
    sub(/^opb\(/, "NB(", sh); sub(/^op\(/, "NT(", sh); sub(/^o,/, "LR(m,n),", sh)
    if (sh ~ /^(NT|NB|LR)\(/) {
        split(substr(sh, 4), p, /[,)]/)
        return "(" (sh ~ /^LR/ ? "side_ == 'L'" : sh ~ /^NB/ ? "transb_ == 'N'" : "trans" \
            (has["transa"] ? "a" : "") "_ == 'N'") " ? " p[1] " : " p[2] ")"
    }
    sub(/,.*/, "", sh)
    return sh
}
function checks(r, t,   i, a, l) {
    l = "1"
    for (i = 1; i <= nargs; i++) {
        a = arg[i]
        if (a ~ /^(m|n|k|kl|ku)$/ && level > 1) l = l " && " a " >= 0"
        if (a ~ /^inc/ && level > 1) l = l " && " a " != 0"
        if (a ~ /^[ABC]:/) l = l " && ld" tolower(name_of(a)) " >= sc_um_most(1, " rows_of(a) ")"
        if (a ~ /^[ABCPXY]:/) l = l " && (" name_of(a) " || " empty(r) ")"
    }
    if (is_trmm(r)) l = l " && ldc >= sc_um_most(1, m) && (C || " empty(r) ")"
    if (rows ~ /!syrk/ && (t == "c" || t == "z")) l = l " && trans_ != 'C'"
    if (rows ~ /!herk/) l = l " && trans_ != 'T'"
    if (result != "-") l = l " && result"
    for (i = 1; i <= nargs; i++) if (is_address(arg[i])) l = l " && " name_of(arg[i])
    return l
}
function empty(r) { return has["m"] && has["n"] ? "m <= 0 || n <= 0" : has["n"] ? "n <= 0" : "0" }

function fortran_param(a, r, t) {
    if (is_letter(a)) return "const char *"
    if (is_int(a)) return "const int64_t *"
    if (is_operand(a)) return (a ~ /:r/ ? "const " : "") "void *"
    return (is_input(a, r) ? "const " : "") "void *"
}
function fortran_value(a, r) {
    if (is_letter(a) || is_int(a)) return "&" name_of(a) "_"
    if (is_operand(a)) return is_trmm(r) && name_of(a) == "B" ? "C" : name_of(a)
    return is_input(a, r) ? name_of(a) "_" : name_of(a)
}
function routine_call(r, t,   i, p, v, ret, value, a) {
    if (result == "T" && (t == "c" || t == "z")) {
        print "    static void *found;"
        print "    void (*routine)(int64_t, const void *, int64_t, const void *, int64_t, void *) ="
        print "        sc_um_need(&call, &found, \"cblas_" r "_sub64_\");"
        print "    " type_of(t) " value;\n"
        print "    if (call.status == CUBLAS_STATUS_SUCCESS) {\n        routine(n, X, incx, Y, incy, &value);"
        return
    }
    for (i = 1; i <= nargs; i++) {
        a = arg[i]
        if (is_trmm(r) && a == "ldb") { v = join(v, "&ldc_"); p = join(p, "const int64_t *"); continue }
        p = join(p, fortran_param(a, r, t)); v = join(v, fortran_value(a, r))
    }
    ret = result == "-" ? "void" : result == "I" ? "int64_t" : result == "R" ? real_of(t) : type_of(t)
    print "    static void *found;"
    print "    " ret " (*routine)(" p ") =\n        sc_um_need(&call, &found, \"" r "_64_\");"
    if (is_trmm(r)) {
        print "    static void *found_copy;"
        print "    sc_um_copy_routine *copy = sc_um_need(&call, &found_copy, \"" t "copy_64_\");\n"
        print "    sc_um_copy_matrix(&call, copy, m, n, B, ldb, C, ldc, sizeof *C);"
    } else print ""
    print "    if (call.status == CUBLAS_STATUS_SUCCESS) {"
    if (ret == "void") print "        routine(" v ");"
    else print "        " result_of(t, wide_now) " value = (" result_of(t, wide_now) ")routine(" v ");\n"
}

function one(r, t, wide,   i, a, slot, l, n) {
    wide_now = wide; slot = 0
    print "SC_UM_EXPORT cublasStatus_t " cublas_name(r, wide) "(" params(r, t, wide) ")\n{"
    l = listed("memory", r)
    print "    const void *const memory[] = {" l "}, *const scalars[] = {" listed("scalars", r) "};"
    print "    struct sc_um_call call;\n"
    # Level 1 routines with scalar operands only are semcache's if the scalars are managed.
    print "    if (!sc_um_begin(&call, SC_UM_CALLER, handle, " (l == "NULL" ? "scalars" : "memory") \
        ", (int)(sizeof " (l == "NULL" ? "scalars" : "memory") " / sizeof *memory), scalars,\n" \
        "                     (int)(sizeof scalars / sizeof *scalars)))"
    print "        return sc_um_passed(&call, SC_UM_BEHIND(" cublas_name(r, wide) ")(" names(r) "));"
    for (i = 1; i <= nargs; i++) {
        a = arg[i]
        if (is_letter(a)) print "    const char " a "_ = sc_um_" letter_of(a) "(&call, " a ");"
        else if (is_int(a) && !(result == "T" && (t == "c" || t == "z")) && !(is_trmm(r) && a == "ldb"))
            print "    const int64_t " a "_ = " a ";"
        else if (!is_operand(a) && !is_int(a) && is_input(a, r))
            print "    const void *" name_of(a) "_ = sc_um_scalar(&call, " slot++ ", " name_of(a) ", " \
                (name_of(a) == "param" ? 5 : 1) " * sizeof *" name_of(a) ");"
    }
    if (is_trmm(r)) print "    const int64_t ldc_ = ldc;"
    print "\n    sc_um_require(&call, " checks(r, t) ");"
    routine_call(r, t)
    if (result != "-") print "        sc_um_result(&call, result, &value, sizeof value);"
    print "    }\n    return call.status;\n}\n"
}

# --- for tests/um_blas.c: every function with all of its letters, compared with the host's routine

function check_values(reference, r, t, wide,   i, a, l, v, slot) {
    l = ""; slot = 2
    for (i = 1; i <= nargs; i++) {
        a = arg[i]; v = name_of(a)
        if (is_letter(a)) v = reference ? "&" letters_of(a) "[" a "]" : "(" enum_of(a) ")" a
        else if (is_int(a)) v = reference ? (is_trmm(r) && a == "ldb" ? "&ldc" : "&" a) : a
        else if (is_operand(a))
            v = (reference ? "host." : "um.") (is_trmm(r) && reference && v == "B" ? "C" : v == "P" ? "A" : v)
        else v = "(void *)" (reference ? "host" : "um") ".scalar[" (v == "alpha" ? 0 : v == "beta" ? 1 : slot++) "]"
        l = join(l, v)
    }
    if (reference) return l
    if (is_trmm(r)) l = l ", um.C, ldc"
    return result == "-" ? l : l ", (void *)um.scalar[RESULT]"
}
function letters_of(a) {
    return "\"" (a ~ /^trans/ ? "NTC" : a == "side" ? "LR" : a == "uplo" ? "LU" : "NU") "\""
}
function host_params(   i, l) {
    l = ""
    for (i = 1; i <= nargs; i++)
        l = join(l, is_letter(arg[i]) ? "const char *" : is_int(arg[i]) ? "const int *" : "void *")
    return l
}
function storage(r) { return r ~ /^.t[bp]/ ? toupper(substr(r, 3, 1)) : "F" }
function check(r, t, wide,   i, a, f, ret, closing) {
    f = cublas_name(r, wide)
    print "static void check_" f "(void)\n{"
    closing = 0
    for (i = 1; i <= nargs; i++) {
        a = arg[i]
        if (!is_letter(a)) continue
        print "    for (int " a " = 0; " a " < " (a ~ /^trans/ ? 3 : 2) "; " a "++) {"; closing++
        if (rows ~ /!syrk/ && a ~ /^trans/ && (t == "c" || t == "z")) print "    if (" a " == CUBLAS_OP_C) continue;"
        if (rows ~ /!herk/ && a ~ /^trans/) print "    if (" a " == CUBLAS_OP_T) continue;"
    }
    print "    begin(SC_" toupper(t) ", '" storage(r) "', " (has["uplo"] ? "uplo" : "0") ");"
    print "    cublasStatus_t status = " f "(handle, " check_values(0, r, t, wide) ");"
    ret = result == "-" ? "void" : result == "I" ? "int" : result == "R" ? real_of(t) : type_of(t)
    if (is_trmm(r)) print "    copy_b_to_c(SC_" toupper(t) ");"
    a = "((" ret " (*)(" host_params() "))reference(\"" reference_of(r) "_\"))(" check_values(1, r, t, wide) ")"
    if (ret == "void") print "    " a ";"
    else {
        print "    " (result == "I" && wide ? "int64_t" : ret) " value = " a ";\n"
        print "    memcpy(host.scalar[RESULT], &value, sizeof value);"
    }
    print "    end(\"" f "\", status, " (result == "I" ? (wide ? 8 : 4) : 0) ");"
    for (i = 0; i < closing; i++) printf "}"
    print "\n}"
    table = table "    {\"" f "\", check_" f "},\n"
}
function reference_of(r) { sub(/gemm3m$/, "gemm", r); return r }

BEGIN {
    if (what == "checks") print "/* Generated from blas/veneers/routines.tab by cuda-um/generate.awk: for tests/um_blas.c */"
    if (what == "functions") {
        print "/* Generated from blas/veneers/routines.tab by cuda-um/generate.awk: the cuBLAS functions that are mapped. */"
        print "#include \"cuda-um/blas.h\"\n"
    }
}
{
    for (g = 1; g <= routines; g++) {
        if (is_left_out(routine[g])) continue
        for (wide = 0; wide <= (has["n"] ? 1 : 0); wide++) {
            if (what == "functions") one(routine[g], type[g], wide)
            else if (what == "exports") print cublas_name(routine[g], wide)
            else check(routine[g], type[g], wide)
        }
    }
}
END {
    if (what == "checks")
        print "static const struct {\n    const char *name;\n    void (*check)(void);\n} checks[] = {\n" table "};"
}
# SPDX-License-Identifier: BSD-2-Clause
