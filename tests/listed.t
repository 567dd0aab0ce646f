#!/bin/sh
# Every test in tests/ is run: a program by check_PROGRAMS, a script by TESTS. A target's own preprocessor flags hold in
# every configuration that has the target.
. "$top_srcdir/tests/tap.sh"
cd "$top_srcdir/tests" || exit 99
for test in *.t; do
    grep -rq --include='*.mk' "tests/$test\>" ..
    verdict $? "$test is listed"
done
for source in *.c; do
    grep -rq --include='*.mk' "tests/$source\>" ..
    verdict $? "$source is listed"
done
# Flags that only a condition defines replace AM_CPPFLAGS by nothing where the condition is false.
conditions()
{
    awk '
    /^if / { open[++depth] = $0; next }
    /^else/ { open[depth] = open[depth] " not"; next }
    /^endif/ { depth--; next }
    match($1, /_(SOURCES|CPPFLAGS)$/) && $2 == "=" {
        target = substr($1, 1, RSTART - 1)
        kind = substr($1, RSTART + 1)
        all = ""
        for (i = 1; i <= depth; i++)
            all = all open[i] ";"
        if (kind == "SOURCES") {
            sources[target] = all
            known[target] = 1
        } else {
            flags[target] = all
        }
    }
    END {
        for (target in flags)
            if (known[target] && index(sources[target], flags[target]) != 1)
                print target ": " flags[target]
    }' "$@"
}
# Word splitting is wanted: the files' names have no spaces.
# shellcheck disable=SC2046
found=$(conditions $(find .. -name '*.mk' ! -path '*/build*/*'))
report "$found" 'no target has flags under a condition that the target itself does not have'
planted=$(printf 'p_SOURCES = p.c\nif HAVE_NVCC\np_CPPFLAGS = -DX\nendif\n' | conditions)
test "$planted" = 'p: if HAVE_NVCC;'
verdict $? 'flags under a condition of their own are found'
end
# SPDX-License-Identifier: BSD-2-Clause
