#!/bin/sh
# The core with its emulated devices, and programs with the library preloaded, under valgrind's memcheck. Asserts that
# no unwritten or unmapped memory is read. The arrays lie in the arena, where faults fetch them (valgrind has to keep
# the registers exact at faults). In make check-long also with valgrind's own malloc, which places every array outside
# of the arena.
. "$top_srcdir/tests/tap.sh"
need "$top_builddir/tests/coherence_threads"
valgrind --version > /dev/null 2>&1 || { echo '1..0 # SKIP no valgrind'; exit 0; }
case $device in emu*) ;; *) echo '1..0 # SKIP no device under valgrind'; exit 0 ;; esac
OPENBLAS_NUM_THREADS=1 SEMCACHE_TEST_STEPS=8
export OPENBLAS_NUM_THREADS SEMCACHE_TEST_STEPS
check() { # title, program and arguments
    title=$1
    shift
    valgrind --error-exitcode=9 --trace-children=yes --vex-iropt-register-updates=allregs-at-mem-access $mallocs "$@" \
        > "$scratch/out" 2>&1
    found=$?
    verdict $((found == 9)) "memcheck has nothing to report, $title" "$(grep -A12 -E '(Invalid|uninit)' "$scratch/out")"
    verdict $found "and it goes well under it, $title" "$(tail -n 30 "$scratch/out")"
}
preloaded() { # title, example, arguments
    title=$1 name=$2
    shift 2
    [ -x "$top_builddir/examples/$name" ] || { skip "examples/$name was not built"; return; }
    check "$name $*, preloaded, $title" "$tool" run --device "$device" --offload always --check --stats \
        "$scratch/stats" "$top_builddir/examples/$name" "$@"
    grep -q '"offloaded": [1-9]' "$scratch/stats"
    verdict $? 'its calls ran on devices' "$(cat "$scratch/stats")"
}
mallocs=--soname-synonyms=somalloc=nouserintercepts
check 'with the arena' "$top_builddir/tests/coherence_threads"
preloaded 'with the arena' abac 200
if [ -n "$SEMCACHE_TEST_LONG" ]; then
    preloaded 'with the arena' jacobi 300
    preloaded 'with the arena' cg_sparse 1000 20
    preloaded 'with the arena' gmres 1000 20
    mallocs=
    check 'without' "$top_builddir/tests/coherence_threads"
    preloaded 'without' abac 200
fi
end
# SPDX-License-Identifier: BSD-2-Clause
