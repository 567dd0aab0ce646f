#!/bin/sh
# The end of a process whose other thread is in a call: no call enters the BLAS while destructors run, and a destructor
# or a handler of the program may wait for the thread.
. "$top_srcdir/tests/tap.sh"
need "$top_builddir/tests/exit_wait"
SEMCACHE_HOST_BLAS=$top_builddir/tests/.libs/exit_blas.so
export SEMCACHE_HOST_BLAS

run() {
    "$tool" run --device emu:h200x8:1 --offload always "$top_builddir/tests/exit_wait" "$@" \
        > "$scratch/out" 2> "$scratch/err"
    status=$?
}
run
ok 'the process ends while a thread waits' ended 0
ok 'the thread was not in the BLAS when the destructor ran' has out '^waits$'
report "$(grep entered "$scratch/out")" 'nor in the second instance of the devices'
run join
ok 'a handler joins the thread: the process ends' ended 0
ok 'after the join' has out '^joined$'
end
# SPDX-License-Identifier: BSD-2-Clause
