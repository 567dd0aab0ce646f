#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Triangular solves: the rows that wait for each other decide.
. "$top_srcdir/tests/tap.sh"
program=$top_builddir/tests/sparse_chain
need "$program"
run() { # title, argument of the program, settings
    title=$1 argument=$2
    shift 2
    "$@" "$program" "$argument" > "$scratch/out" 2>&1
    verdict $? "$title: $(grep -c '^ok' "$scratch/out") tests" "$(grep -v '^ok' "$scratch/out")"
}
run 'on the host' host "$tool" run --device none
run declined host "$tool" run --device emu:h200x8:1 --offload never
run 'one device' always "$tool" run --device emu:h200x8:1 --offload always --check
run 'where it pays' auto env SEMCACHE_OPEN=first "$tool" run --device emu:h200x8:1 --check
end
