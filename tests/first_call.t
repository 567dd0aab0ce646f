#!/bin/sh
# Lazy loading: the host BLAS and its threads are loaded by the first BLAS call, never before.
. "$top_srcdir/tests/tap.sh"
need "$top_builddir/tests/first_call"
semcache=$top_builddir/tools/semcache
module=$top_builddir/tests/.libs/first_call_module.so
wheel=$top_builddir/tests/.libs/first_call_wheel.so

for devices in none "$device"; do
    said=$("$semcache" run --device "$devices" "$top_builddir/tests/first_call" none 2>&1)
    test "$said" = 'threads 1, BLAS not mapped, then not mapped, right'
    verdict $? "devices $devices: a program without a call has one thread and no BLAS" "$said"
    said=$("$semcache" run --device "$devices" cat /proc/self/maps 2>&1)
    case $said in *libsemcache*) ;; *) said='/libblas: nothing was preloaded' ;; esac
    said=$(echo "$said" | grep '/[^/]*blas[^/]*$')
    report "$said" "devices $devices: nor has a command"
    for round in 1 2 3 4 5; do
        said=$(timeout 60 "$semcache" run --device "$devices" "$top_builddir/tests/first_call" threads 2>&1)
        test "$said" = 'threads 1, BLAS not mapped, then mapped, right' || break
    done
    verdict $? "devices $devices: eight threads make the first call at once" "$said"
    for round in 1 2 3 4 5; do
        said=$(timeout 60 "$semcache" run --device "$devices" "$top_builddir/tests/first_call" module "$module" 2>&1)
        test "$said" = 'threads 1, BLAS not mapped, then mapped, right' || break
    done
    verdict $? "devices $devices: a constructor makes it while its library is being opened, and another thread" "$said"
done
said=$("$semcache" run --device none "$top_builddir/tests/first_call_own" "$wheel" 2>&1)
test "$said" = 'BLAS not mapped, then mapped, right'
verdict $? "the program's BLAS and LAPACK compute, and the host BLAS what they lack" "$said"
end
# SPDX-License-Identifier: BSD-2-Clause
