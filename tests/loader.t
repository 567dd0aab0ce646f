#!/bin/sh
# Lock order with the dynamic loader (doc/locks.md). Asserts that no thread waits for the loader while it holds a lock
# of the library, or waits for a thread that a constructor needs. A deadly signal must end a program that waits in a
# call.
. "$top_srcdir/tests/tap.sh"
program=$top_builddir/tests/loader constructor=$top_builddir/tests/.libs/constructor.so
need "$tool"
need "$program"
need "$constructor"

# mode of the constructor, times, environment and options, --, further actions of the program
opens() {
    mode=$1 times=$2
    shift 2
    settings=
    while [ "$1" != -- ]; do settings="$settings $1"; shift; done
    shift
    env CONSTRUCTOR=$mode SEMCACHE_CHECK=1 $settings timeout -k 5 100 "$tool" run "$program" "$constructor" "$times" \
        "$@" > "$scratch/out" 2> "$scratch/err"
    status=$?
}
well() { [ "$status" -eq 0 ] && [ "$(cat "$scratch/out")" = "done" ] && [ ! -s "$scratch/err" ]; }

# A module that needs the loader's lock some time after its opening has begun.
module="SEMCACHE_DEVICE=cuda SEMCACHE_MODULE_PATH=$top_builddir/tests/.libs FAKE_MODULE=loads"
done_without_devices() { # one line: there are none
    [ "$status" -eq 0 ] && [ "$(cat "$scratch/out")" = "done" ] && ! grep -qv 'no CUDA devices' "$scratch/err"
}
for offload in auto always; do
    opens large 1 $module SEMCACHE_OFFLOAD=$offload SEMCACHE_OPEN=first -- call
    ok "$offload: a constructor calls while another thread opens the devices" done_without_devices
    opens large 1 $module SEMCACHE_OFFLOAD=$offload SEMCACHE_OPEN=first --
    ok "$offload: a constructor opens them" done_without_devices
done
opens thread 1 $module SEMCACHE_OFFLOAD=auto SEMCACHE_OPEN=background -- after
ok 'a constructor waits for a thread of its own that has them opened in the background' done_without_devices
opens fork 1 $module SEMCACHE_OFFLOAD=always SEMCACHE_OPEN=first -- call
ok 'a constructor forks while they are being opened' done_without_devices
opens exit 1 $module SEMCACHE_OFFLOAD=always SEMCACHE_OPEN=first -- call
ok 'a constructor ends the program then' ended 7

for offload in auto always; do
    for open in first background; do
        opens small 30 SEMCACHE_DEVICE=$device SEMCACHE_OFFLOAD=$offload SEMCACHE_OPEN=$open -- call
        ok "$offload, $open: libraries come and go, and their constructors call, while another thread does" well
    done
done
opens small 10 SEMCACHE_DEVICE=$device SEMCACHE_OFFLOAD=always SEMCACHE_TRACK=mprotect -- call
ok 'static data is followed by closing pages' well

# --- signals ---------------------------------------------------------------------------------------------------------

# signal, how the module opens, mode of the constructor, action of the program
ends() {
    env SEMCACHE_DEVICE=cuda SEMCACHE_MODULE_PATH="$top_builddir/tests/.libs" FAKE_MODULE="$2" SEMCACHE_OPEN=first \
        SEMCACHE_OFFLOAD=always CONSTRUCTOR="$3" LD_PRELOAD="$library" \
        "$program" "$constructor" 1 "$4" > "$scratch/out" 2> "$scratch/err" &
    pid=$!
    until grep -q begins "$scratch/out"; do sleep 0.1; done
    sleep 0.5
    kill -"$1" $pid
    for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        kill -0 $pid 2> /dev/null || break
        sleep 0.5
    done
    kill -KILL $pid 2> /dev/null
    wait $pid
    status=$?
}
ends TERM hangs small wait
ok 'SIGTERM ends a program whose driver does not answer' ended 143
ends HUP hangs small wait
ok 'so does SIGHUP' ended 129
ends TERM loads thread say
ok "SIGTERM ends a program whose constructor waits for its own thread's first call" ended 143

# --- the rule --------------------------------------------------------------------------------------------------------

calls='dl(open|mopen|sym|vsym|addr1?|close|info|_iterate_phdr)|getaddrinfo|iconv_open'
report "$(cd "$top_srcdir" && grep -nE "\<($calls)[[:space:]]*\\(" -r $(folders libsemcache) --include='*.[ch]' \
    --include='*.cu' |
    grep -v '^base/loader\.[ch]:\|^device/cuda/\(driver\|identity\|solver_library\)\.c:\|^blas/verify/replay\.c:' |
    grep -v '/\*.*(\|^libsemcache/rebind\.c:.*dlinfo')" \
    'the loader is called in one file, and by the module for CUDA when it is opened'

end
# SPDX-License-Identifier: BSD-2-Clause
