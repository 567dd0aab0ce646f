#!/bin/sh
# Ends of processes: the results fetched before the end, the files written at the end and by which process, no hangs.
. "$top_srcdir/tests/tap.sh"
program=$top_builddir/tests/life
need "$tool"
need "$program"

run() { # options and program
    timeout 600 "$tool" run -d "$device" -o always "$@" > "$scratch/out" 2> "$scratch/err"
    status=$?
}
printed() { [ "$(cat "$scratch/out")" = "$1" ]; }
quiet() { [ ! -s "$scratch/err" ]; }
file_absent() { [ ! -e "$scratch/$1" ]; }

run -s "$scratch/s" -t "$scratch/t" "$program"
ok 'a plain end' ended 0
ok 'is quiet' quiet
ok 'writes statistics' has s '"dgemm": {"offloaded": 1, "host": 0}'
ok 'with nothing brought home that nobody looked at' has s '"d2h": 0,'
"$tool" trace dump "$scratch/t" > "$scratch/dump" 2>&1
ok 'and a trace, closed in good order' sh -c \
    "grep -q ' call ' '$scratch/dump' && ! grep -q 'without closing' '$scratch/dump'"

run -s - "$program"
ok 'statistics on the standard error' has err '"offloaded": 1'
run -s - "$program" idle
ok 'but not of a process without calls' quiet

run -c "$program" late
ok 'a handler that runs after semcache has ended finds its result' printed 'late right'

run -c -s "$scratch/s" -t "$scratch/t" "$program" fork
ok 'after a fork, parent and child have the result, and both go on' printed 'child right
child computes
status 0
parent right
parent right'
ok 'the statistics are the parent'\''s' has s '"dgemm": {"offloaded": 2,'
"$tool" trace dump "$scratch/t" > "$scratch/dump" 2>&1
ok 'so is the trace' sh -c \
    "[ \$(grep -c ' call ' '$scratch/dump') -eq 2 ] && ! grep -q 'without closing' '$scratch/dump'"
run -s "$scratch/s.%p" "$program" forkfirst
ok 'a fork before the first call: both compute' printed 'child right
parent right'
ok 'and with %p both have statistics' sh -c "[ \$(cat '$scratch'/s.* | grep -c '\"dgemm\"') -eq 2 ]"

run -s "$scratch/s" sh -c "'$program'; true; ls > /dev/null"
ok 'a script leaves the statistics of its program' has s '"dgemm"'
run -s "$scratch/s" "$program" idle
ok 'an old file is not left for new statistics' sh -c "! grep -q dgemm '$scratch/s'"

run "$program" threads
ok 'the program ends while threads look at what is coming home' ended 0
for offload in always auto; do
    env SEMCACHE_OPEN=first timeout -k 5 100 "$tool" run -d "$device" -o $offload -s "$scratch/s" "$program" remain \
        > "$scratch/out" 2> "$scratch/err"
    status=$?
    ok "$offload: the main thread ends first: the process ends with the program's last thread" ended 0
    ok 'which has found right results' printed 'remaining right
remaining right
remaining right'
    ok 'without a line' quiet
    ok 'and the statistics are written' has s '"dgemm"'
done
failed=0
for delay in 1000 5000 10000 20000 40000; do
    OPENBLAS_NUM_THREADS=1 run "$program" freeing $delay
    grep -q semcache "$scratch/err" && failed=$((failed + 1))
done
ok 'the program ends while threads free what is coming home' [ $failed = 0 ]
run "$program" alarm
ok 'a timer'\''s handler uses the arrays in the middle of calls' said 'alarms right
after them right'
run "$program" signal
ok 'a signal handler ends the program in the middle of calls' ended 3
run -s "$scratch/q" "$program" quick
ok '_exit ends it at once' ended 4
ok 'without statistics' file_absent q

SEMCACHE_OPEN=background # by a thread of its own
export SEMCACHE_OPEN
calls=300
[ "${device#emu}" != "$device" ] || calls=6000 # a driver takes its time
run -o auto -s "$scratch/s" "$program" loop $calls
ok 'devices that are opened meanwhile are used when they are there' has s '"dgemm": {"offloaded": [1-9]'
ok 'with right results' printed 'loop right'
run -o auto -s "$scratch/s" "$program" remainloop $calls
ok 'also after the end of the main thread' has s '"dgemm": {"offloaded": [1-9]'
run -o auto -s "$scratch/s" "$program" late
ok 'a program that ends while they are opened' printed 'late right'
run -o auto "$program" fork
ok 'one that forks then: parent and child have the result, and both go on' printed 'child right
child computes
status 0
parent right
parent right'
run -o auto "$program" threads
ok 'one whose threads go on while it ends' ended 0
for end in late exit fork other; do
    [ $end != other ] || export SEMCACHE_OPEN=first # the other thread opens the devices itself
    timeout 60 env SEMCACHE_DEVICE=cuda FAKE_MODULE=slow SEMCACHE_MODULE_PATH="$top_builddir/tests/.libs" \
        LD_PRELOAD="$top_builddir/.libs/libsemcache.so" "$program" $end > "$scratch/out" 2> "$scratch/err"
    status=$?
    case $end in late) kind='the end of main' ;; exit) kind='exit by another thread' ;;
    other) kind='the end of main beside a first call' ;; *) kind='a fork' ;; esac
    ok "$kind waits until a driver that is being opened is open" sh -c "! grep -v ^semcache '$scratch/err'"
done
unset SEMCACHE_OPEN

echo precious > "$scratch/target"
ln -s "$scratch/target" "$scratch/link"
run -s "$scratch/link" "$program"
ok 'statistics are not written through a link' has target precious
ok 'which is said in one line' one_line
run -s "$scratch/absent/s" "$program"
ok 'a folder that is not there is one line, and the program ends well' [ "$status/$(wc -l < "$scratch/err")" = 0/1 ]

timeout 600 env SEMCACHE_DEVICE=emu:none-such LD_PRELOAD="$top_builddir/.libs/libsemcache.so" \
    "$program" late > "$scratch/out" 2> "$scratch/err"
status=$?
ok 'a machine that is not there: the host computes' printed 'late right'
ok 'and one line says so' one_line

end
# SPDX-License-Identifier: BSD-2-Clause
