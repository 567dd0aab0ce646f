# Makes C of the rows that rows.awk reads.  POSIX awk.
# Usage: awk -v what=prototypes|tables|veneers|exports|checks|replay|doc -f blas/veneers/rows.awk
#            -f blas/veneers/generate.awk ops/operations.tab blas/veneers/routines.tab.
#
# A Fortran veneer is declared without the hidden string lengths, because C callers do not pass lengths.  With lengths
# declared, the compiler might use their stack slots, which such a caller does not own.  A small call is a jump to the
# host routine, so lengths are passed on if present.  A large call passes the lengths itself: each is 1.
#
# Every veneer is made twice: with wide = 0 for names without a 64, and with wide = 1 for names that say 64-bit
# integers.  Integers of names without a 64 have the width of the program's BLAS (blas_int.h, sc_blas_wide).  By
# value, they are declared as whole registers: a veneer passes on the bits of its caller.

function real_of(t) { return t == "s" || t == "c" ? "float" : "double" }
function scalar_of(t) { return t == "s" || t == "d" ? real_of(t) : real_of(t) " _Complex" }
function pointed_of(t) { return t == "s" || t == "d" ? real_of(t) : "void" }
function complex(t) { return t == "c" || t == "z" }

function is_scalar(a) { return a ~ /^[TR]:/ }
function is_address(a) { return a ~ /^&[TR]:/ }
function field(a) { return a == "trans" ? "transa" : a }
function name_of(a) { return is_operand(a) ? substr(a, 1, 1) : is_scalar(a) || is_address(a) ? tail(a) : a }

# Types of integers, in memory and by value.  `caller`: as a program would declare them.
function int_ref() { return wide ? "int64_t" : "sc_blas_int" }
function int_val() { return wide || !caller ? "int64_t" : "sc_blas_int" }
# A veneer's integer argument as a number; s is "*" for Fortran.
function int_of(a, s) { return wide ? s a : s == "*" ? "sc_blas_int_at(" a ")" : "sc_blas_int_of(" a ")" }

# Names of the routine r of type t, and further spellings of each name.
function f_name(r) { return r (wide ? "_64_" : "_") }
function c_name(r, t) { return cblas_name(r, t) (wide ? "64_" : "") }
function f_others(r,   o) {
    o = wide ? r "_64 scipy_" r "_64_" : r " scipy_" r "_"
    return r ~ /gemmt$/ ? o " " f_name(r "r") " " f_others(r "r") : o # LAPACK 3.12.1 calls it gemmtr
}
function c_others(r, t,   c, o) {
    c = cblas_name(r, t)
    o = (wide ? c "_64 " : "") "scipy_" c_name(r, t)
    return r ~ /gemmt$/ ? o " " c_name(r "r", t) " " c_others(r "r", t) : o
}
function kind_of(cblas) { return "SC_BLAS_" (cblas ? "CBLAS" : "F77") (wide ? "_64" : "") }
# Complex functions return by value or through a hidden first argument: see hidden().
function is_complex_function(t) { return result == "T" && complex(t) }

# Type of the value of a scalar or address argument.
function held(a, t) { return a ~ /^&?R:/ ? real_of(t) : pointed_of(t) }
function param_f(a, t,   c) {
    if (is_letter(a)) return "const char *" a
    if (is_int(a)) return "const " int_ref() " *" a
    if (is_operand(a)) { c = a ~ /:r/ ? "const " : ""; return c pointed_of(t) " *" name_of(a) }
    if (is_address(a)) return held(a, t) " *" name_of(a)
    return "const " held(a, t) " *" name_of(a)
}
function param_c(a, t,   c) {
    if (is_letter(a)) return "int " a
    if (is_int(a)) return int_val() " " a
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
    return result == "-" ? "void" : result == "D" ? "double" : int_val()
}
function returns_c(t) {
    return result == "I" ? "size_t" : result == "T" && complex(t) ? "void" : returns_f(t)
}
function cblas_name(r, t) { return "cblas_" r (result == "T" && complex(t) ? "_sub" : "") }

# Place of an argument when a veneer begins, for assembler: %rdi is place 0.
function register(place) { return substr("rdirsirdxrcxr8 r9 ", 3 * place + 1, place < 4 ? 3 : 2) }
function half(r) { return r ~ /^r[0-9]/ ? r "d" : "e" substr(r, 2) }
function place_of(a, cblas,   i, place) {
    place = cblas && level > 1
    for (i = 1; arg[i] != a; i++) if (!cblas || !is_scalar(arg[i]) || held(arg[i], type_now) == "void") place++
    return place
}
function asm(text) { return "    \"    " text "\\n\"\n" }
# Loads the size a, extended to 64 bits, into the register `to`.  The condition codes stay unchanged.
function load(a, to, cblas,   place, move) {
    place = place_of(a, cblas)
    move = wide ? "movq " : "movslq "
    if (cblas && place >= 6) return asm(move 8 * (place - 5) "(%rsp), " to)
    if (cblas) return asm(move "%" (wide ? register(place) : half(register(place))) ", " to)
    if (place >= 6) return asm("movq " 8 * (place - 5) "(%rsp), " to) asm(move "(" to "), " to)
    return asm(move "(%" register(place) "), " to)
}
# Sets the condition codes: equal if the matrix is on the left side.
function is_left(cblas,   place) {
    place = register(place_of("side", cblas))
    if (cblas) return asm("cmpl $141, %" half(place))
    return asm("movzbl (%" place "), %eax") asm("orl $32, %eax") asm("cmpb $'l', %al")
}
# Computes the product of sizes in %r10, and jumps to large_NAME if the product is not below the threshold or
# overflows 64 bits.  The product of two 32-bit sizes cannot overflow.
function look(fname, cblas,   f, n, i, code) {
    if (work == "0") return ""
    n = split(work, f, "*")
    code = load(f[1], "%r10", cblas)
    for (i = 2; i <= n; i++) {
        if (f[i] != "o") code = code load(f[i], "%r11", cblas)
        else {
            code = code load("m", "%r11", cblas) is_left(cblas) load("n", "%rax", cblas)
            code = code asm("cmovneq %rax, %r11")
        }
        code = code asm("imulq %r11, %r10") (wide || i > 2 ? asm("jo large_" fname) : "")
    }
    return code "    SC_GATE_SMALL(" fname ", " level ")\n"
}

function member(a, t, s, cblas,   f, k, v) {
    f = field(name_of(a))
    if (is_letter(a)) {
        k = f ~ /^trans/ ? "trans" : f
        return "." f " = " (cblas ? "sc_cblas_" k "(" a ")" : "sc_blas_letter(*" a ")")
    }
    if (is_int(a)) return "." f " = " int_of(a, s)
    if (is_operand(a)) return "." (f == "P" ? "a" : tolower(f)) " = (void *)" f
    if (f == "param") return ".param = param"
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
# A veneer's return statement after a call on the devices, with the value of call.result.
function done(t, cblas,   v) {
    v = result == "I" ? "i" : result == "D" ? "d" : result == "R" ? (real_of(t) == "float" ? "s" : "d") : t
    if (result == "-") return "return;"
    if (op == "DSDOT" && result == "T") return "return (float)(call.alpha[0] + call.result.d);" # sdsdot
    if (cblas && result == "T" && complex(t)) return "{ *(" scalar_of(t) " *)result = call.result." v "; return; }"
    if (result != "I") return "return call.result." v ";"
    return cblas ? "return call.result.i > 0 ? (size_t)call.result.i - 1 : 0;" : "return call.result.i;"
}
# Statements that call fn and return the value.
function answer(ret, fn, names) {
    return ret == "void" ? "        " fn "(" names ");\n        return;" : "        return " fn "(" names ");"
}
# A veneer.
function veneer(cblas, fname, ret, params, names, t, longer,   kind, jump, fn, star, call) {
    kind = kind_of(cblas); star = cblas ? "" : "*"
    fn = "((fn_" fname ")sc_blas_host[" kind "][" id "])"
    jump = answer(ret, fn, names)
    print "typedef " ret " (*fn_" fname ")(" params ");"
    print "static __attribute__((cold)) " ret " stub_" fname "(" params ")\n{"
    print "    fn_" fname " fn;\n\n    sc_blas_called_from(__builtin_return_address(0));"
    print "    fn = (fn_" fname ")sc_blas_resolve(" id ", " kind ");"
    print "    " (ret == "void" ? "" : "return ") "fn(" names ");\n}"
    print ret " gate_" fname "(" params ") __attribute__((visibility(\"hidden\")));"
    print "static __attribute__((noinline, cold, used)) " ret " large_" fname "(" params ")\n{"
    if (work == "0") {
        print "    sc_blas_counts_new();"
        print answer(ret, "gate_" fname, names) "\n}"
    } else {
        print "    sc_blas_called_from(__builtin_return_address(0));"
        print "    if (!sc_blas_counts) {\n        sc_blas_first(" id ", " kind ");"
        print answer(ret, "gate_" fname, names) "\n    }"
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
            call = "((with_lengths)sc_blas_host[" kind "][" id "])(" names lengths("(size_t)1") ")"
        }
        print (ret == "void" ? "    " call ";" : "    " ret " value = " call ";")
        print "    sc_blas_leave();" (ret == "void" ? "" : "\n    return value;") "\n}"
    }
    type_now = t
    print "SC_GATE(" fname ",\n" look(fname, cblas) "    SC_GATE_HOST(" fname ", " 2 * wide + cblas ", " id "));"
    if (is_complex_function(t) && !cblas) hidden(fname, ret, params, names)
    else print "SC_GATE_NAME(" fname ", gate_" fname ");"
}

# A complex function of Fortran in both forms: with five arguments, returning its value, or with six arguments, where
# the first argument is the address of the value.  Also wraps a host function of the second form as a function of the
# first form.
function hidden(fname, ret, params, names,   pointer) {
    pointer = "typedef void (*hidden)(" ret " *value, " params ");"
    print "static " ret " of_hidden_" fname "(" params ")\n{\n    " pointer "\n    " ret " value = 0;\n"
    print "    ((hidden)sc_blas_hidden[" wide "][" id "])(&value, " names ");\n    return value;\n}"
    print "static " ret " to_hidden_" fname "(" ret " *value, " params ")"
    print "{\n    return *value = gate_" fname "(" names ");\n}"
    print ret " " fname "(" six_pointers ")\n{"
    print "    return sc_blas_g77 ? to_hidden_" fname "((void *)(uintptr_t)a, b, c, d, e, f) : gate_" fname "(a, b, c, d, e);\n}\n"
    of_hidden[wide] = of_hidden[wide] "        [" id "] = (sc_blas_fn)of_hidden_" fname ",\n"
}

# Further spellings of a name, as symbols of the same function.
function aliases(fname, others,   n, i, name) {
    n = split(others, name, " ")
    for (i = 1; i <= n; i++) print "SC_GATE_NAME(" name[i] ", " fname ");"
}

# --- 64-bit calls for a host BLAS with 32-bit integers

# Parameters of the host's Fortran routine, and its argument a when a vector is passed in parts.
function host_params(t,   l, w) {
    w = wide; wide = 0; l = params_f(t) lengths("size_t"); wide = w
    return l
}
function host_ret(ret) { return result == "I" ? "sc_blas_int" : ret }
function part_of(a, t) {
    if (is_operand(a))
        return "sc_blas_part(" name_of(a) ", sizeof(" scalar_of(t) "), *n, done, n_32, *inc" tolower(name_of(a)) ")"
    if (a == "T:alpha" && result == "T") return "&value"
    return is_int(a) ? "&" a "_32" : name_of(a)
}
# A call whose integers do not fit: passed to the routine that the program would have used, else, at level 1, done
# part by part.  With an increment that does not fit, a part is a single element.
function unfit(fname, r, t, ret) {
    print "static __attribute__((noinline, cold)) " ret " unfit_" fname "(" params_f(t) ")\n{"
    print "    typedef " ret " (*wide)(" params_f(t) lengths("size_t") ");"
    print "    const wide other = (wide)sc_blas_of_program(" id ", " kind_of(0) ");\n"
    if (ret != "void") print "    if (other)\n        return other(" names_f() ");"
    else print "    if (other) {\n        other(" names_f() lengths("(size_t)1") ");\n        return;\n    }"
    if (level == 1) split_host(r, t, ret)
    else narrowed(t)
}
# Levels 2 and 3: by the host, if an equivalent call with 32-bit integers exists.
function narrowed(t,   i, a, f, l) {
    marshal(t, "*", 0)
    print "\n    if (!sc_blas_call_narrow(&call)) {\n        sc_blas_unfit(&call);\n        return;\n    }"
    print "    typedef void (*fn)(" host_params(t) ");"
    for (i = 1; i <= nargs; i++) {
        a = arg[i]; f = name_of(a)
        if (is_int(a)) print "    const sc_blas_int " a "_32 = (sc_blas_int)call." a ";"
        l = join(l, is_int(a) ? "&" a "_32" : is_operand(a) ? "call." (f == "P" ? "a" : tolower(f)) : f)
    }
    print "    ((fn)sc_blas_host[SC_BLAS_F77][" id "])(" l lengths("(size_t)1") ");\n}"
}
function split_host(r, t, ret,   i, l, a, fn) {
    fn = "((fn)sc_blas_host[SC_BLAS_F77][" id "])"
    print "    typedef " host_ret(ret) " (*fn)(" host_params(t) ");"
    for (i = 1; i <= nargs; i++) {
        a = arg[i]
        if (is_int(a) && a != "n") print "    const sc_blas_int " a "_32 = sc_blas_unit(*" a ");"
        l = join(l, part_of(a, t))
    }
    print "    const int64_t most = " step_fits() " ? sc_blas_host_counts : 1;"
    if (ret != "void") print "    " ret " value = " (has["T:alpha"] ? "*alpha" : "0") ";"
    if (result == "I") print "    const char *best = NULL;"
    print "\n    for (int64_t done = 0; done < *n;) {"
    print "        const sc_blas_int n_32 = (sc_blas_int)sc_blas_least(*n - done, most);"
    if (result == "I") {
        print "        const char *part = sc_blas_part(X, sizeof(" scalar_of(t) "), *n, done, n_32, *incx);"
        print "        sc_blas_int found = " fn "(&n_32, (const void *)part, &incx_32);\n"
        print "        if (found < 1)\n            return 0;"
        print "        part = sc_blas_part(part, sizeof(" scalar_of(t) "), n_32, found - 1, 1, *incx);"
        print "        if (!best || sc_blas_second_of_pair((sc_blas_fn)" fn ", best, part, sizeof(" scalar_of(t) ")))"
        print "            best = part, value = done + found;"
    } else if (ret == "void") print "        " fn "(" l ");"
    else if (r ~ /nrm2/) print "        value = (" ret ")sc_blas_hypot(value, " fn "(" l "));"
    else print "        value " (l ~ /value/ ? "" : "+") "= " fn "(" l ");"
    print "        done += n_32;\n    }" (ret == "void" ? "" : "\n    return value;") "\n}"
}
# The Fortran or CBLAS routine made of the host's with 32-bit integers.  Integers that fit need no conversion: the
# host reads the lower half of the argument.
function narrow(cblas, fname, t, ret, params, names,   i, fits, kind, star) {
    kind = "SC_BLAS_" (cblas ? "CBLAS" : "F77"); star = cblas ? "" : "*"
    print "static " ret " narrow_" fname "(" params ")\n{"
    print "    typedef " (cblas ? ret : host_ret(ret)) " (*fn)(" params ");"
    for (i = 1; i <= nargs; i++)
        if (is_int(arg[i])) fits = fits (fits ? " && " : "") "sc_blas_fits(" star arg[i] ")"
    if (fits) {
        if (level == 1) fits = fits " && " star "n <= sc_blas_host_counts"
        print "\n    if (__builtin_expect(!(" fits "), 0)) {"
        print "        sc_blas_called_from(__builtin_return_address(0));"
        if (cblas) {
            print "        const sc_blas_fn other = sc_blas_of_program(" id ", " kind_of(1) ");\n"
            print "        if (other) {\n    " answer(ret, "((" ret " (*)(" params "))other)", names) "\n        }"
            print answer(ret, "via_" fname, names)
        }
        else print answer(ret, "unfit_" fname, names)
        print "    }"
    }
    print "    " (ret == "void" ? "" : "return ") "((fn)sc_blas_host[" kind "][" id "])(" names ");\n}\n"
}
function step_fits(   i, l) {
    for (i = 1; i <= nargs; i++) if (arg[i] ~ /^inc/) l = l (l ? " && " : "") "sc_blas_fits(*" arg[i] ")"
    return l
}

# The CBLAS routine made of the Fortran routine.
function via(fname, ret, t,   i, l, a, f, call, ints) {
    print "static __attribute__((cold)) " ret " via_" fname "(" params_c(t) ")\n{"
    marshal(t, "", 1)
    for (i = 1; i <= nargs; i++) {
        a = arg[i]; f = field(name_of(a))
        if (is_address(a)) l = join(l, f)
        else if (is_operand(a)) l = join(l, "call." (f == "P" ? "a" : tolower(f)))
        else if (is_scalar(a)) l = join(l, f == "alpha" || f == "beta" ? "(const void *)&typed_" f : "&" f)
        else if (wide || !is_int(a)) l = join(l, "&call." f)
        else {
            l = join(l, "&" f "_32")
            ints = ints "    const sc_blas_int " f "_32 = (sc_blas_int)call." f ";\n"
        }
    }
    print "    typedef " returns_f(t) " (*fn)(" params_f(t) lengths("size_t") ");"
    l = l lengths("(size_t)1")
    call = "((fn)sc_blas_host[" kind_of(0) "][call.routine])(" l ")"
    if (level > 1) {
        print "    struct sc_blas_conj conj;\n"
        print "    if (!sc_blas_conj_begin(&call, &conj))\n        return;"
    }
    printf "%s", ints
    for (i = 1; i <= nargs; i++)
        if (is_scalar(arg[i]) && arg[i] ~ /:(alpha|beta)$/)
            print "    const union sc_blas_scalar typed_" tail(arg[i]) \
                " = sc_blas_typed(call.type, call." tail(arg[i]) ");"
    if (result == "T" && complex(t)) print "    *(" scalar_of(t) " *)result = " call ";"
    else if (result == "I") print "    int64_t found = " call ";\n\n    return found > 0 ? (size_t)found - 1 : 0;"
    else print "    " (ret == "void" ? "" : "return ") call ";"
    if (level > 1) print "    sc_blas_conj_end(&conj);"
    print "}\n"
}

# The Fortran routine that needs no library.
function compute(fname, r, t) {
    print "static __attribute__((cold)) " returns_f(t) " computed_" fname "(" params_f(t) ")\n{"
    if (op == "-") print "    sc_blas_" r "(" names_f() ");\n}\n"
    else {
        marshal(t, "*", 0)
        print "\n    sc_blas_compute(&call);" (result == "-" ? "" : "\n    " done(t, 0)) "\n}\n"
    }
    computed[wide] = computed[wide] entry("computed_" fname)
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
function arguments(   i, l) { l = ""; for (i = 1; i <= nargs; i++) l = l (l == "" ? "" : " ") name_of(arg[i]); return l }
# For tests/blas_veneers_all.c: the routine called through `fn` with every combination of its letters.
function check_value(a, t, cblas,   v) {
    v = name_of(a)
    if (is_letter(a)) return cblas ? v : "&" v
    if (is_int(a)) return (cblas ? "" : "&") (wide ? "size_64." : "size.") v
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
    return sprintf("    {\"%s\", (sc_blas_fn)%s, check_%s, %d, %s, SC_%s, \"%s\"},\n", fname, fname, fname, id,
        kind_of(cblas), toupper(t), work)
}

function pairs(name, one, other) {
    print "const sc_blas_fn " name "[2][SC_TRACE_ROUTINES_MAX] = {\n    {\n" one "    },\n    {\n" other "    },\n};"
}
# For blas/verify/replay.c: calls the routine at `fn` as `call` says.
function replay_value(a, t, cblas,   f, real) {
    f = field(name_of(a)); real = real_of(t) == "float" ? "s" : "d"
    if (is_letter(a)) return cblas ? "code_" (f ~ /^trans/ ? "trans" : f) "(call->" f ")" : "&call->" f
    if (is_int(a)) return (cblas ? "" : "&") "call->" f
    if (is_operand(a)) return "call->" (f == "P" ? "a" : tolower(f))
    if (is_address(a)) return "(void *)(uintptr_t)call->param"
    return held(a, t) == "void" || !cblas ? "(const void *)&" f : f "." real
}
# Destination of a function's value.  A host with 32-bit integers sets half of an index.
function kept(ret, t) {
    if (ret == "void") return ""
    if (result == "I") return "call->result.i = (int32_t)"
    return "call->result." (ret == "double" ? "d" : ret == "float" ? "s" : t) " = "
}
function replay(fname, ret, params, t, cblas,   i, f, list, type) {
    type = ret " (*)(" params (cblas ? "" : lengths("size_t")) ")"
    print "static void again_" fname "(sc_blas_fn fn, struct sc_blas_call *call)\n{"
    for (i = 1; i <= nargs; i++) {
        if (!is_scalar(arg[i])) continue
        f = name_of(arg[i])
        if (f == "alpha" || f == "beta")
            print "    const union sc_blas_scalar " f " = sc_blas_typed(call->type, call->" f ");"
    }
    list = cblas && level > 1 ? "code_order(call->order)" : ""
    for (i = 1; i <= nargs; i++) list = join(list, replay_value(arg[i], t, cblas))
    if (cblas && result == "T" && complex(t)) list = join(list, "&call->result")
    print "    " kept(ret, t) "((" type ")fn)(" list (cblas ? "" : lengths("(size_t)1")) ");\n}"
}

function begin_file(text) { print "/* Generated from blas/veneers/routines.tab by blas/veneers/generate.awk: " text " */" }
BEGIN {
    id = wide = caller = 0
    six_pointers = "const void *a, const void *b, const void *c, const void *d, const void *e, const void *f"
    if (what == "prototypes") {
        begin_file("the BLAS that semcache provides.")
        print "#ifndef SC_BLAS_PROTOTYPES_H\n#define SC_BLAS_PROTOTYPES_H\n\n#include \"blas/blas_int.h\"\n"
        print "#pragma GCC visibility push(default)"
    } else if (what == "tables") {
        begin_file("conversions, rows.")
        print "#include \"blas/blas_int.h\"\n"
        table = "const struct sc_blas_row sc_blas_rows[] = {\n    {.name = \"(none)\"},\n"
    } else if (what == "veneers") {
        begin_file("the veneers.")
        print "#include \"blas/veneers/gate.h\"\n#include \"blas/veneers/loops.h\"\n#include \"blas/veneers/prototypes.h\"\n"
        print "_Static_assert(SC_BLAS_F77 == 0 && SC_BLAS_CBLAS == 1 && SC_BLAS_F77_64 == 2 && SC_BLAS_CBLAS_64 == 3,"
        print "               \"the gates have numbers\");\n"
    } else if (what == "replay") {
        begin_file("every routine, called as a record says.")
    } else if (what == "doc") {
        print "# BLAS and LAPACK routines\n\n## BLAS\n\nGenerated from `blas/veneers/routines.tab`.  Fortran names end in `_`; each has a CBLAS form."
        print "*Offloaded* routines run on the devices when that pays; the others bring their operands home and run"
        print "on the host BLAS.\n"
        print "Batches of products, `?gemm_batch` and `?gemm_batch_strided`, have the arguments of MKL and of OpenBLAS"
        print "0.3.27. A group with equally distant operands is one call; the products of other groups are calls of gemm.\n"
        print "| routine | level | offloaded as |\n| --- | --- | --- |"
    }
}
{
    real_alpha = "R:alpha" in has
    if (what == "tables" && work != "0" && rows != "-") convert()
    for (g = 1; g <= routines; g++) emit(routine[g], type[g])
}
function listed(name, others) { gsub(/ /, "\n", others); print name "\n" others }
function emit(r, t) {
    id++
    if (what == "tables") {
        table = table "    {.name = \"" r "\", .fortran = \"" r "_\", .cblas = \"" cblas_name(r, t) "\", .level = " level \
            ", .op = " (op == "-" ? "-1" : "SC_OP_" op) ", .type = SC_" toupper(t) \
            ", .arguments = \"" arguments() "\"" (op == "SCAL" && real_alpha && complex(t) ? ", .scale_real = true" : "") \
            (rows != "-" ? ", .columns = columns_" family : "") \
            "},\n"
        return
    }
    if (what == "doc") {
        print "| `" r "`" (r ~ /gemmt$/ ? ", `" r "r`" : "") " | " level " | " (op == "-" ? "" : tolower(op)) " |"
        return
    }
    if (what == "replay") {
        if (work != "0") emit_replay(r, t)
        return
    }
    for (wide = 0; wide <= 1; wide++) emit_spelled(r, t, f_name(r), c_name(r, t))
}
# Uses the names that say 64 bits, which mean the same in every process.  Complex functions may differ between
# processes, so only their CBLAS form is used.
function emit_replay(r, t,   f, c) {
    wide = 1
    f = f_name(r); c = c_name(r, t)
    if (is_complex_function(t)) f = c
    else replay(f, returns_f(t), params_f(t), t, 0)
    replay(c, returns_c(t), params_c(t), t, 1)
    again = again "    {" id ", \"" f "\", \"" c "\", again_" f ", again_" c "},\n"
}
function entry(name) { return "        [" id "] = (sc_blas_fn)" name ",\n" }
function emit_spelled(r, t, f, c) {
    if (what == "exports") {
        listed(f, f_others(r)); listed(c, c_others(r, t))
    } else if (what == "prototypes") {
        print returns_f(t) " " f "(" (is_complex_function(t) ? six_pointers : params_f(t)) ");"
        print returns_c(t) " " c "(" params_c(t) ");"
    } else if (what == "veneers") {
        print "/* " r " */"
        veneer(0, f, returns_f(t), params_f(t), names_f(), t, lengths("x"))
        veneer(1, c, returns_c(t), params_c(t), names_c(t), t, "")
        aliases(f, f_others(r)); aliases(c, c_others(r, t))
        via(c, returns_c(t), t)
        compute(f, r, t)
        vias[wide] = vias[wide] entry("via_" c)
        if (wide) {
            if (work != "0") unfit(f, r, t, returns_f(t))
            narrow(0, f, t, returns_f(t), params_f(t), names_f())
            narrow(1, c, t, returns_c(t), params_c(t), names_c(t))
            narrow_f = narrow_f entry("narrow_" f)
            narrow_c = narrow_c entry("narrow_" c)
        }
        stubs[kind_of(0)] = stubs[kind_of(0)] entry("stub_" f)
        stubs[kind_of(1)] = stubs[kind_of(1)] entry("stub_" c)
    } else if (what == "checks") {
        caller = 1
        checks = checks check(f, returns_f(t), params_f(t), t, 0) check(c, returns_c(t), params_c(t), t, 1)
    }
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
    else if (what == "replay") print "static const struct routine routines[] = {\n" again "};"
    else if (what == "checks") print "static const struct check checks[] = {\n" checks "};"
    else if (what == "tables") print table "};\nconst int sc_blas_routines = " id + 1 ";"
    else if (what == "veneers") {
        print "sc_blas_fn sc_blas_host[SC_BLAS_INTERFACES][SC_TRACE_ROUTINES_MAX] = {"
        for (wide = 0; wide <= 1; wide++)
            for (c = 0; c <= 1; c++) print "    [" kind_of(c) "] = {\n" stubs[kind_of(c)] "    },"
        print "};"
        pairs("sc_blas_via_fortran", vias[0], vias[1])
        pairs("sc_blas_of_hidden", of_hidden[0], of_hidden[1])
        pairs("sc_blas_narrow", narrow_f, narrow_c)
        pairs("sc_blas_computed", computed[0], computed[1])
    } else if (what == "exports") {
        print "xerbla_\ncblas_xerbla\nlsame_\nRowMajorStrg\nCBLAS_CallFromC\nsemcache_is_blas"
    }
}
# SPDX-License-Identifier: BSD-2-Clause
