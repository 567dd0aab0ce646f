#!/bin/sh
# The core with its emulated devices under valgrind's memcheck: nothing is read that was not written or is not there.
# Once with the arrays in the arena, where faults bring them home (valgrind has to keep the registers exact for that),
# and (make check-long) with valgrind's own malloc, under which every array is outside of it.
. "$top_srcdir/tests/tap.sh"
need "$top_builddir/tests/coherence_threads"
valgrind --version > /dev/null 2>&1 || { echo '1..0 # SKIP no valgrind'; exit 0; }
case $device in emu*) ;; *) echo '1..0 # SKIP no device under valgrind'; exit 0 ;; esac
check() { # title, options
    title=$1
    shift
    SEMCACHE_TEST_STEPS=8 valgrind --error-exitcode=9 --vex-iropt-register-updates=allregs-at-mem-access "$@" \
        "$top_builddir/tests/coherence_threads" > "$scratch/out" 2>&1
    found=$?
    verdict $((found == 9)) "memcheck has nothing to report, $title" "$(grep -A12 -E '(Invalid|uninit)' "$scratch/out")"
    verdict $found "and the test goes well under it, $title" "$(tail -n 30 "$scratch/out")"
}
check 'with the arena' --soname-synonyms=somalloc=nouserintercepts
[ -z "$SEMCACHE_TEST_LONG" ] || check 'without'
end
