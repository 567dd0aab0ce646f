# Makes C of host/syscalls.tab.  -v what=calls: host/libc_calls.h.  what=exports: the names that the library exports,
# one a line.  what=trials: tests/trials.h.
BEGIN { FS = " *[|] *" }
/^#/ || /^ *$/ { next }

/^=/ {
    if (what == "trials")
        trial(substr($0, 2))
    next
}

{
    rows++
    result = $1
    count = split($3, parameters, / *, */)
    arguments = casts = ""
    for (i = 1; i <= count; i++) {
        name = type = parameters[i]
        sub(/.*[ *]/, "", name)
        type = substr(type, 1, length(type) - length(name))
        arguments = arguments (i > 1 ? ", " : "") name
        casts = casts ", (" type ")a[" i - 1 "]"
    }
    after = NF > 4 ? $5 : ""
    if (what == "calls")
        touches = touches sprintf("TOUCH(%d, (%s), %s)\n", rows, $3, $4)
    names = split($2, name_of, " ")
    for (n = 1; n <= names; n++)
        put(name_of[n])
}

function put(name)
{
    if (name ~ /^@/) {
        name = substr(name, 2)
        if (what == "calls")
            raw = raw sprintf("#ifdef SYS_%s\nSYSTEM_CALL(SYS_%s, touch_%d(use%s))\n#endif\n", name, name, rows, casts)
        return
    }
    if (what == "exports" && name !~ /^[.]/)
        print name
    if (what != "calls")
        return
    kind = (result == "void" ? "VOID" : after != "" ? "CALL_THEN" : "CALL")
    link = name ~ /^[.]/ ? "INNER" : "OUTER"
    sub(/^[.]/, "", name)
    functions = functions sprintf("%s(%s, %s, %s, (%s), (%s), %d%s)\n", kind, link, result, name, $3,
                                  arguments, rows, after != "" ? ", " after : "")
    found = found sprintf("NAME(%s)\n", name)
}

function trial(text,    n, volatile)
{
    volatile = sub(/^~/, "", text)
    if (result == "void")
        sub(/CALL\(/, "CALL_VOID(", text)
    printf "static void trial_%d(void *function, char *P)\n{\n    typedef %s called(%s);\n\n   %s\n}\n", ++tried, result,
        types(), text
    for (n = 1; n <= names; n++)
        if (name_of[n] !~ /^@/) {
            sub(/^[.]/, "", name_of[n])
            list = list sprintf("    {\"%s\", trial_%d, %d},\n", name_of[n], tried, volatile)
        }
}

# Types for a trial's call, in which every pointer is given as P + n.
function types(    i, text, type)
{
    for (i = 1; i <= count; i++) {
        type = parameters[i]
        sub(/[^ *]*$/, "", type)
        text = text (i > 1 ? ", " : "") (type ~ /[*]/ ? "void *" : type)
    }
    return text
}

END {
    if (what == "calls")
        printf "#ifdef NAME\n%s#endif\n#ifdef TOUCH\n%s#endif\n#ifdef CALL\n%s#endif\n#ifdef SYSTEM_CALL\n%s#endif\n",
            found, touches, functions, raw
    if (what == "trials")
        printf "static const struct trial trials[] = {\n%s};\n", list
}
# SPDX-License-Identifier: BSD-2-Clause
