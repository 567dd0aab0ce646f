#!/bin/sh
# Tasks and tokens at the edges of a process: tests/tasks_edges.c on emulated devices and without devices.  Then devices
# that fail at an operation: every number is right, or a call or a line says what is lost.
. "$top_srcdir/tests/tap.sh"
program=$top_builddir/tests/tasks_edges
need "$program"

run() { # edge, options of semcache run
    edge=$1
    shift
    timeout 30 "$tool" run "$@" "$program" "$edge" > "$scratch/out" 2> "$scratch/err"
    status=$?
}
for edge in fork exec signals memory cancel; do
    for where in emu:h200x8:2 none; do
        run "$edge" --device $where --offload always --check
        verdict $status "$edge, devices $where" "$(grep -E '^(not ok|Bail)' "$scratch/out"; cat "$scratch/err")"
    done
done

bad=
for kind in alloc copy launch fill mark wait sync; do
    for how in fail lost late; do
        case $how-$kind in late-copy|late-launch|late-fill|fail-*|lost-*) ;; *) continue ;; esac
        for n in 1 4 11; do
            printf '%s\n' 'semcache-machine 1' host '  call 1u' '  sync 1u' 'device 0' '  memory 64M' '  bandwidth 4T' \
                '  launch 4u' '  gemm s 50T' '  gemm d 50T' "  $how $kind $n" 'device 1' '  memory 64M' \
                '  bandwidth 4T' '  launch 4u' '  gemm s 50T' '  gemm d 50T' 'link host <-> 0-1' '  latency 5u' \
                '  bandwidth 50G' > "$scratch/failing.machine"
            run loss --device "emu:$scratch/failing.machine" --offload always --check
            [ $status -eq 0 ] || bad="$bad $how-$kind-$n($status)"
            ! grep -q '^LOST' "$scratch/out" || grep -q 'what only it had of' "$scratch/err" ||
                bad="$bad $how-$kind-$n(silent)"
        done
    done
done
report "$bad" 'a device that fails: numbers are right, or a call or a line says so'
end
# SPDX-License-Identifier: BSD-2-Clause
