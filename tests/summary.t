#!/bin/sh
# The summary at exit. Asserts the line or the table on stderr in each case, with the reason if no call was offloaded,
# and that stdout stays the program's.
. "$top_srcdir/tests/tap.sh"
program=$top_builddir/tests/dies
need "$tool"
need "$program"

call() { "$tool" run "$@" > "$scratch/out" 2> "$scratch/err"; status=$?; }
says() {
    ok "$1" has err "$2"
    ok "$1: one line" one_line
    ok "$1: nothing else on stdout" test "$(wc -l < "$scratch/out")" -eq 1
}

call --summary=line -d emu:h200x8:2 -o always "$program" ending 20
moved='[0-9.]* MB moved (call by call: [0-9.]* MB), [0-9]* faults'
says 'offloaded' "^semcache: dies: 20 of 20 BLAS calls on 2 devices; $moved\$"
call --summary=line -d emu:h200x8:2 -o never "$program" ending 20
says 'never' '^semcache: dies: 20 BLAS calls, all on the host: SEMCACHE_OFFLOAD=never$'
call --summary=line -d none "$program" ending 1
says 'no devices asked for' '^semcache: dies: 1 BLAS call, all on the host: SEMCACHE_DEVICE=none$'
if [ ! -e /dev/nvidiactl ]; then
    call --summary=line -d auto "$program" ending 20
    says 'no driver' ': this machine has no NVIDIA driver$'
fi
call --summary=line -d emu:none-such "$program" ending 20
ok 'devices that cannot be opened' has err '20 BLAS calls, all on the host: no device could be opened'
call --summary=line -d emu:h200x8:2 "$program" ending 20 4
says 'small calls' '20 BLAS calls, all on the host: they are too small for devices$'
SEMCACHE_OPEN=auto call --summary=line -d cuda "$program" ending 20
says 'a short program' 'all on the host: 0\.[0-9] s of large calls; a call after 0\.5 s opens the devices$'
call --summary=line -d emu:h200x8:2 true
ok 'a program without calls says nothing' test ! -s "$scratch/err"
call --summary=off -d emu:h200x8:2 -o always "$program" ending 20
ok 'nor does one that is told so' test ! -s "$scratch/err"
call -d emu:h200x8:2 -o always "$program" ending 20
ok 'nor one without a terminal' test ! -s "$scratch/err"

if script -qec true /dev/null > /dev/null 2>&1; then
    script -qec "'$tool' run -d emu:h200x8:2 -o always '$program' ending 20" /dev/null > "$scratch/err" 2>&1
    ok 'on a terminal a line is said' has err '20 of 20 BLAS calls on 2 devices'
else
    skip 'no script(1) here'
fi

call --summary -d emu:h200x8:2 -o always "$program" ending 20
ok 'the table has the devices' has err '^  devices  *2 x NVIDIA H200'
ok 'the calls' has err '^    dgemm  *20  *0$'
ok 'what moved, against copies in each call' has err '^  to devices  *[0-9.]* [kM]B   (call by call: .* times as much)$'
ok 'faults' has err '^  page faults  *[0-9]* read, [0-9]* write$'
ok 'and fits 80 columns' test -z "$(awk 'length > 80' "$scratch/err")"
# The figures of the calls end under their headings, of names of any length: those of batches have 19 letters.
aligned() {
    awk '/^  calls / { devices = index($0, "on devices") + 10; host = length($0); next }
        host && !/^    / { exit !(rows && !wrong) }
        host && $3 ~ /^[0-9]+$/ {
            rows++
            wrong += length($0) != host || substr($0, devices - 1, 2) !~ /^[0-9] $/
        }' "$1"
}
need "$top_builddir/tests/batch"
call --summary -d emu:h200x8:2 -o always "$top_builddir/tests/batch"
ok 'a long name is in the table' has err '^    [sdcz]gemm_batch_strided  *[1-9]'
ok 'and the columns are aligned' aligned "$scratch/err"
call --summary -d emu:h200x8:2 -o never "$program" ending 20
ok 'the table says why the host' has err '^  why the host  *SEMCACHE_OFFLOAD=never$'

own=$top_builddir/tests/linked_own
if [ -n "${SEMCACHE_TEST_ASAN:-}" ]; then
    skip 'a program linked with AddressSanitizer has its malloc before ours'
elif [ -x "$own" ]; then
    SEMCACHE_SUMMARY=line "$own" > "$scratch/out" 2> "$scratch/err"
    ok 'a BLAS in the program itself' has err 'dgemm_ and the like are in the program: link -lsemcache first$'
fi
end
# SPDX-License-Identifier: BSD-2-Clause
