#!/bin/sh
# Gathered dot products that a signal handler leaves by a jump, and that an exit meets.
. "$top_srcdir/tests/tap.sh"
program=$top_builddir/tests/dots
need "$tool"
need "$program"
run() {
    timeout 60 "$tool" run --device "$device" --offload always "$program" "$@" > "$scratch/out" 2> "$scratch/err"
    status=$?
}
run jump
report "$(grep -v '^ok\|^1\.\.2$' "$scratch/out")$(cat "$scratch/err")" 'a signal handler leaves the call by siglongjmp'
ok 'and the program goes on' ended 0
failures=
for microseconds in 0 3000 7000 11000; do
    run exit $microseconds
    [ "$status" -eq 0 ] && [ ! -s "$scratch/err" ] || failures="$failures $microseconds: $(said)"
done
report "$failures" 'exits beside four threads that compute'
end
# SPDX-License-Identifier: BSD-2-Clause
