# Makes C of blas/routines.tab (its head describes the columns).  POSIX awk.
#   awk -v what=prototypes|tables|veneers|exports|checks|doc -f generate.awk routines.tab
#
# A Fortran veneer is declared without the hidden string lengths, because C callers do not pass them: declared, the
# compiler might use their stack slots, which such a caller does not own.  A small call is a jump to the host routine,
# so that lengths, if they are there, are passed on as they are; a large one passes the lengths itself: all are 1.

function fail(text) { print "routines.tab:" FNR ": " text > "/dev/stderr"; failed = 1; exit 1 }

function real_of(t) { return t == "s" || t == "c" ? "float" : "double" }
function scalar_of(t) { return t == "s" || t == "d" ? real_of(t) : real_of(t) " _Complex" }
function pointed_of(t) { return t == "s" || t == "d" ? real_of(t) : "void" }
function complex(t) { return t == "c" || t == "z" }

function is_letter(a) { return a ~ /^(side|uplo|trans|transa|transb|diag)$/ }
function is_int(a) { return a ~ /^(n|m|k|kl|ku|lda|ldb|ldc|incx|incy)$/ }
function is_scalar(a) { return a ~ /^[TR]:/ }
function is_address(a) { return a ~ /^&[TR]:/ }
function is_operand(a) { return a ~ /^[ABCPXY]:[ruwb]\(/ }
function tail(a) { return substr(a, index(a, ":") + 1) }
function field(a) { return a == "trans" ? "transa" : a }
function name_of(a) { return is_operand(a) ? substr(a, 1, 1) : is_scalar(a) || is_address(a) ? tail(a) : a }

# The type of what a scalar or address argument holds.
function held(a, t) { return a ~ /^&?R:/ ? real_of(t) : pointed_of(t) }
function param_f(a, t,   c) {
    if (is_letter(a)) return "const char *" a
    if (is_int(a)) return "const sc_blas_int *" a
    if (is_operand(a)) { c = a ~ /:r/ ? "const " : ""; return c pointed_of(t) " *" name_of(a) }
    if (is_address(a)) return held(a, t) " *" name_of(a)
    return "const " held(a, t) " *" name_of(a)
}
function param_c(a, t,   c) {
    if (is_letter(a)) return "int " a
    if (is_int(a)) return "sc_blas_int " a
    if (is_operand(a)) { c = a ~ /:r/ ? "const " : ""; return c pointed_of(t) " *" name_of(a) }
    if (is_address(a)) return held(a, t) " *" name_of(a)
    if (held(a, t) == "void") return "const void *" name_of(a)
    return held(a, t) " " name_of(a)
}
function join(list, more) { return list == "" ? more : list ", " more }
function params_f(t,   i, l) { l = ""; for (i = 1; i <= nargs; i++) l = join(l, param_f(arg[i], t)); return l }
function names_f(   i, l) { l = ""; for (i = 1; i <= nargs; i++) l = join(l, name_of(arg[i])); return l }
function params_c(t,   i, l) {
    l = level > 1 ? "int order" : ""
    for (i = 1; i <= nargs; i++) l = join(l, param_c(arg[i], t))
    return result == "T" && complex(t) ? join(l, "void *result") : l
}
function names_c(t,   i, l) {
    l = level > 1 ? "order" : ""
    for (i = 1; i <= nargs; i++) l = join(l, name_of(arg[i]))
    return result == "T" && complex(t) ? join(l, "result") : l
}
function lengths(with,   i, l) { l = ""; for (i = 1; i <= nargs; i++) if (is_letter(arg[i])) l = l ", " with; return l }

function returns_f(t) {
    if (result == "T" || result == "R") return result == "T" ? scalar_of(t) : real_of(t)
    return result == "-" ? "void" : result == "D" ? "double" : "sc_blas_int"
}
function returns_c(t) {
    return result == "I" ? "size_t" : result == "T" && complex(t) ? "void" : returns_f(t)
}
function cblas_name(r, t) { return "cblas_" r (result == "T" && complex(t) ? "_sub" : "") }

# "if (small)": the product of sizes against the threshold of the level.  s: "*" for Fortran's arguments.
function small(s,   f, n, i, l) {
    if (work == "0") return "1"
    n = split(work, f, "*"); l = level
    for (i = 1; i <= n; i++)
        l = l ", " (f[i] != "o" ? s f[i] : s == "*" ? "sc_blas_is_left(*side) ? *m : *n" : "side == 141 ? m : n")
    return "sc_blas_small" n "(" l ")"
}

function member(a, t, s, cblas,   f, k, v) {
    f = field(name_of(a))
    if (is_letter(a)) {
        k = f ~ /^trans/ ? "trans" : f
        return "." f " = " (cblas ? "sc_cblas_" k "(" a ")" : "sc_blas_letter(*" a ")")
    }
    if (is_int(a)) return "." f " = " s a
    if (is_operand(a)) return "." (f == "P" ? "a" : tolower(f)) " = (void *)" f
    if (f != "alpha" && f != "beta") return ""
    if (held(a, t) != "void") return "." f " = {" s f "}"
    v = "((const " real_of(t) " *)" f ")"
    return "." f " = {" v "[0], " v "[1]}"
}
function marshal(t, s, cblas,   i, m) {
    print "    struct sc_blas_call call = {"
    print "        .routine = " id ", .type = SC_" toupper(t) ", .order = " \
        (cblas ? level > 1 ? "sc_cblas_order(order)" : "SC_BLAS_COLUMNS" : "SC_BLAS_FORTRAN") ","
    for (i = 1; i <= nargs; i++)
        if ((m = member(arg[i], t, s, cblas)) != "") print "        " m ","
    print "    };"
}
# What a veneer returns of call.result when the devices have done it.
function done(t, cblas,   v) {
    v = result == "I" ? "i" : result == "D" ? "d" : result == "R" ? (real_of(t) == "float" ? "s" : "d") : t
    if (result == "-") return "return;"
    if (cblas && result == "T" && complex(t)) return "{ *(" scalar_of(t) " *)result = call.result." v "; return; }"
    if (result != "I") return "return call.result." v ";"
    return cblas ? "return call.result.i > 0 ? (size_t)call.result.i - 1 : 0;" : "return (sc_blas_int)call.result.i;"
}
# Statements that call fn and return what it does.
function answer(ret, fn, names) {
    return ret == "void" ? "        " fn "(" names ");\n        return;" : "        return " fn "(" names ");"
}
# One veneer: `kind` F77 or CBLAS.
function veneer(kind, fname, ret, params, names, t, s, longer,   cblas, jump, fn, star, call) {
    cblas = kind == "CBLAS"; star = cblas ? "" : "*"
    fn = "((fn_" fname ")sc_blas_host[SC_BLAS_" kind "][" id "])"
    jump = answer(ret, fn, names)
    print "typedef " ret " (*fn_" fname ")(" params ");"
    print "static " ret " stub_" fname "(" params ")\n{"
    print "    fn_" fname " fn = (fn_" fname ")sc_blas_resolve(" id ", SC_BLAS_" kind ", (sc_blas_fn)stub_" fname ");\n"
    print ret == "void" ? "    if (fn)\n        fn(" names ");\n}" : "    return fn ? fn(" names ") : 0;\n}"
    if (work != "0") {
        print "static __attribute__((noinline, cold)) " ret " large_" fname "(" params ")\n{"
        print "    if (!sc_blas_counts) {\n        sc_blas_counts_new();"
        print answer(ret, fname, names) "\n    }"
        print "    if (sc_inside()) {\n" jump "\n    }"
        marshal(t, star, cblas)
        print "    enum sc_blas_next next = sc_blas_large(&call);\n"
        print "    if (next == SC_BLAS_DONE)\n        " done(t, cblas)
        print "    sc_blas_count(" id ");"
        print "    if (next == SC_BLAS_PLAIN) {\n" jump "\n    }"
        print "    sc_blas_enter(" id ");"
        call = fn "(" names ")"
        if (longer != "") {
            print "    typedef " ret " (*with_lengths)(" params lengths("size_t") ");"
            call = "((with_lengths)sc_blas_host[SC_BLAS_" kind "][" id "])(" names lengths("(size_t)1") ")"
        }
        print ret == "void" ? "    " call ";" : "    " ret " value = " call ";"
        print "    sc_blas_leave();" (ret == "void" ? "" : "\n    return value;") "\n}"
    }
    print ret " " fname "(" params ")\n{"
    if (work == "0") {
        print "    sc_blas_count(" id ");"
        print ret == "void" ? "    " fn "(" names ");\n}\n" : "    return " fn "(" names ");\n}\n"
        return
    }
    print "    uint64_t *counts = sc_blas_counts;\n"
    print "    if (__builtin_expect(counts && " small(star) ", 1)) {\n        sc_blas_count_on(counts, " id ");"
    print jump "\n    }\n    " (ret == "void" ? "" : "return ") "large_" fname "(" names ");\n}\n"
}

# The CBLAS routine made of the Fortran one.
function via(fname, ret, t,   i, l, a, f, call) {
    print "static " ret " via_" fname "(" params_c(t) ")\n{"
    marshal(t, "", 1)
    for (i = 1; i <= nargs; i++) {
        a = arg[i]; f = field(name_of(a))
        if (is_address(a)) l = join(l, f)
        else if (is_operand(a)) l = join(l, "call." (f == "P" ? "a" : tolower(f)))
        else if (is_scalar(a)) l = join(l, f == "alpha" || f == "beta" ? "(const void *)&typed_" f : "&" f)
        else l = join(l, "&call." f)
    }
    print "    typedef " returns_f(t) " (*fn)(" params_f(t) lengths("size_t") ");"
    l = l lengths("(size_t)1")
    call = "((fn)sc_blas_host[SC_BLAS_F77][call.routine])(" l ")"
    if (level > 1) {
        print "    struct sc_blas_conj conj;\n"
        print "    if (!sc_blas_conj_begin(&call, &conj))\n        return;"
    }
    for (i = 1; i <= nargs; i++)
        if (is_scalar(arg[i]) && arg[i] ~ /:(alpha|beta)$/)
            print "    const union sc_blas_scalar typed_" tail(arg[i]) \
                " = sc_blas_typed(call.type, call." tail(arg[i]) ");"
    if (result == "T" && complex(t)) print "    *(" scalar_of(t) " *)result = " call ";"
    else if (result == "I") print "    sc_blas_int found = " call ";\n\n    return found > 0 ? (size_t)found - 1 : 0;"
    else print "    " (ret == "void" ? "" : "return ") call ";"
    if (level > 1) print "    sc_blas_conj_end(&conj);"
    print "}\n"
}

function convert(   w, n, i, p) {
    print "static void columns_" family "(struct sc_blas_call *call)\n{"
    n = split(rows, w, ",")
    for (i = 1; i <= n; i++) {
        if (w[i] == "conj") print "    call->conj = true;"
        else if (w[i] == "alpha*") print "    call->alpha[1] = -call->alpha[1];"
        else if (w[i] == "!uplo") print "    sc_rows_flip(&call->uplo, 'U', 'L');"
        else if (w[i] == "!side") print "    sc_rows_flip(&call->side, 'L', 'R');"
        else if (w[i] == "!trans") print "    sc_rows_trans(call);"
        else if (w[i] == "!syrk") print "    sc_rows_syrk(call);"
        else if (w[i] == "!herk") print "    sc_rows_flip(&call->transa, 'N', 'C');"
        else if (split(w[i], p, "~") == 2) {
            if (p[1] ~ /^trans/) print "    sc_rows_swap_letters(&call->" p[1] ", &call->" p[2] ");"
            else if (p[1] ~ /^[abxy]$/) {
                print "    sc_rows_swap_pointers(&call->" p[1] ", &call->" p[2] ");"
                print "    sc_rows_swap(&call->" (p[1] == "a" ? "lda, &call->ldb" : "incx, &call->incy") ");"
            } else print "    sc_rows_swap(&call->" p[1] ", &call->" p[2] ");"
        } else fail("unknown conversion " w[i])
    }
    print "}"
}
function access_of(a) {
    a = substr(a, 3, 1)
    return a == "r" ? "SC_READ" : a == "w" ? "SC_WRITE" : a == "u" ? "SC_RDWR" : "sc_blas_beta_access(call)"
}
function letters(   i, l) { for (i = 1; i <= nargs; i++) if (is_operand(arg[i])) l = l name_of(arg[i]); return l }
function shapes(   i, o, a, v, sh, ints) {
    print "static int operands_" family "(const struct sc_blas_call *call, struct sc_blas_operand *operands)\n{"
    split("m n k kl ku", ints, " ")
    for (i = 1; i <= 5; i++)
        if (has[ints[i]]) print "    const int64_t " ints[i] " = call->" ints[i] ";"
    print ""
    o = 0
    for (i = 1; i <= nargs; i++) {
        a = arg[i]
        if (!is_operand(a)) continue
        sh = substr(a, 5, length(a) - 5); gsub(/,/, ", ", sh); gsub(/[+*\/]/, " & ", sh)
        v = tolower(name_of(a))
        printf "    operands[%d] = sc_blas_%s_operand(call, call->%s, %s, %s, %s);\n", o++, a ~ /^[ABC]/ ? "matrix" : "vector",
            v == "p" ? "a" : v, sh, v == "p" ? "1" : "call->" (v ~ /[abc]/ ? "ld" : "inc") v, access_of(a)
    }
    print "    return " o ";\n}\n"
}

# For tests/blas_veneers_all.c: the routine called through `fn` with every combination of its letters.
function check_value(a, t, cblas,   v) {
    v = name_of(a)
    if (is_letter(a)) return cblas ? v : "&" v
    if (is_int(a)) return (cblas ? "" : "&") "size." v
    if (is_operand(a)) return "(void *)data." v
    if (is_address(a)) return "(void *)data.scalar[" scalars++ "]"
    if (held(a, t) == "void" || !cblas) return "(void *)data." real_of(t) "_" (v == "beta" ? "beta" : "alpha")
    return "data." real_of(t) "_" (v == "beta" ? "beta" : "alpha") "[0]"
}
function check_loop(a, cblas,   set, f, v) {
    f = a ~ /^trans/ ? "trans" : a
    set = cblas ? "cblas_" f : "fortran_" f
    print "    for (int i_" a " = 0; i_" a " < (int)(sizeof " set " / sizeof *" set "); i_" a "++) {"
    print "    " (cblas ? "int " : "const char ") a " = " set "[i_" a "];"
}
function check(fname, ret, params, t, cblas,   i, l, loops) {
    print "static void check_" fname "(sc_blas_fn routine)\n{\n    typedef " ret " (*fn)(" params ");"
    if (cblas && level > 1) { print "    for (int order = 101; order <= 102; order++) {"; loops++ }
    scalars = 0
    l = cblas && level > 1 ? "order" : ""
    for (i = 1; i <= nargs; i++) {
        if (is_letter(arg[i])) { check_loop(arg[i], cblas); loops++ }
        l = join(l, check_value(arg[i], t, cblas))
    }
    if (cblas && result == "T" && complex(t)) l = join(l, "(void *)data.result")
    print "    begin();"
    if (ret == "void") print "    ((fn)routine)(" l ");"
    else print "    " ret " value = ((fn)routine)(" l ");\n    memcpy(data.result, &value, sizeof value);"
    print "    end();"
    for (i = 0; i < loops; i++) printf "}"
    print "\n}"
    return sprintf("    {\"%s\", (sc_blas_fn)%s, check_%s, %d, SC_BLAS_%s, SC_%s},\n", fname, fname, fname, id,
        cblas ? "CBLAS" : "F77", toupper(t))
}

function begin_file(text) { print "/* Generated from blas/routines.tab by blas/generate.awk: " text " */" }
BEGIN {
    id = 0
    if (what == "prototypes") {
        begin_file("the BLAS that semcache provides.")
        print "#ifndef SC_BLAS_PROTOTYPES_H\n#define SC_BLAS_PROTOTYPES_H\n\n#include \"blas/blas_int.h\"\n"
        print "#pragma GCC visibility push(default)"
    } else if (what == "tables") {
        begin_file("conversions, shapes, rows.")
        print "#include \"blas/blas_int.h\"\n"
        print "#define NT(p, q) (call->transa == 'N' ? (p) : (q))"
        print "#define NB(p, q) (call->transb == 'N' ? (p) : (q))"
        print "#define LR(p, q) (call->side == 'L' ? (p) : (q))\n"
        table = "const struct sc_blas_row sc_blas_rows[] = {\n    {.name = \"(none)\"},\n"
    } else if (what == "veneers") {
        begin_file("the veneers.")
        print "#include \"blas/prototypes.h\"\n"
    } else if (what == "doc") {
        print "# BLAS routines\n\nGenerated from `blas/routines.tab`.  Fortran names end in `_`; each has a CBLAS form."
        print "*Offloaded* routines run on the devices when that pays; the others bring their operands home and run"
        print "on the host BLAS.\n"
        print "| routine | level | offloaded as |\n| --- | --- | --- |"
    }
}
/^[ \t]*(#|$)/ { next }
{
    level = $2; result = $3; op = $4; work = $5; rows = $6; nargs = NF - 6; real_alpha = 0
    split("", has)
    for (i = 7; i <= NF; i++) {
        arg[i - 6] = $i; has[$i] = 1
        if (!is_letter($i) && !is_int($i) && !is_scalar($i) && !is_address($i) && !is_operand($i))
            fail("unknown argument " $i)
        if ($i == "R:alpha") real_alpha = 1
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
    if (what == "tables" && work != "0") {
        if (rows != "-") convert()
        shapes()
    }
    for (g = 1; g <= routines; g++) emit(routine[g], type[g])
}
function emit(r, t,   f, c) {
    id++
    f = r "_"; c = cblas_name(r, t)
    if (what == "exports") print f "\n" c
    else if (what == "prototypes") {
        print returns_f(t) " " f "(" params_f(t) ");"
        print returns_c(t) " " c "(" params_c(t) ");"
    } else if (what == "tables") {
        table = table "    {.name = \"" r "\", .fortran = \"" f "\", .cblas = \"" c "\", .level = " level \
            ", .op = " (op == "-" ? "-1" : "SC_OP_" op) ", .type = SC_" toupper(t) \
            (op == "SCAL" && real_alpha && complex(t) ? ", .scale_real = true" : "") \
            (rows != "-" ? ", .columns = columns_" family : "") \
            (work != "0" ? ", .letters = \"" letters() "\", .operands = operands_" family : "") "},\n"
    } else if (what == "veneers") {
        print "/* " r " */"
        veneer("F77", f, returns_f(t), params_f(t), names_f(), t, "*", lengths("x"))
        veneer("CBLAS", c, returns_c(t), params_c(t), names_c(t), t, "", "")
        via(c, returns_c(t), t)
        stubs_f = stubs_f "        [" id "] = (sc_blas_fn)stub_" f ",\n"
        stubs_c = stubs_c "        [" id "] = (sc_blas_fn)stub_" c ",\n"
        vias = vias "    [" id "] = (sc_blas_fn)via_" c ",\n"
    } else if (what == "checks") {
        checks = checks check(f, returns_f(t), params_f(t), t, 0) check(c, returns_c(t), params_c(t), t, 1)
    } else if (what == "doc")
        print "| `" r "` | " level " | " (op == "-" ? "" : tolower(op)) " |"
}
END {
    if (failed) exit 1
    if (what == "prototypes") {
        print "\nvoid xerbla_(const char *name, const sc_blas_int *info, size_t length);"
        print "void cblas_xerbla(int parameter, const char *routine, const char *form, ...)"
        print "    __attribute__((format(printf, 3, 4)));"
        print "int lsame_(const char *a, const char *b);"
        print "extern int RowMajorStrg, CBLAS_CallFromC;\nextern const int semcache_is_blas;"
        print "#pragma GCC visibility pop\n\n#endif"
    }
    else if (what == "checks") print "static const struct check checks[] = {\n" checks "};"
    else if (what == "tables") print table "};\nconst int sc_blas_routines = " id + 1 ";"
    else if (what == "veneers") {
        print "sc_blas_fn sc_blas_host[SC_BLAS_INTERFACES][SC_TRACE_ROUTINES_MAX] = {"
        print "    [SC_BLAS_F77] = {\n" stubs_f "    },\n    [SC_BLAS_CBLAS] = {\n" stubs_c "    },\n};"
        print "const sc_blas_fn sc_blas_via_fortran[] = {\n" vias "};"
    } else if (what == "exports") {
        print "xerbla_\ncblas_xerbla\nlsame_\nRowMajorStrg\nCBLAS_CallFromC\nsemcache_is_blas"
    }
}
