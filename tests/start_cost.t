#!/bin/sh
# The start of a process that makes no call costs at most 600000 instructions (0.15 ms): every command of a shell under
# semcache run pays them.
. "$top_srcdir/tests/callgrind.sh"
start() {
    env "$@" valgrind --tool=callgrind --callgrind-out-file=/dev/null /bin/true 2>&1 |
        sed -n 's/,//g; s/.*Collected *: *//p'
}
alone=$(start A=)
[ -n "$alone" ] || { echo '1..0 # SKIP callgrind cannot run /bin/true'; exit 0; }
for devices in none auto emu:h200x8:1; do
    ours=$(start LD_PRELOAD="$library" SEMCACHE_DEVICE=$devices)
    more=$((${ours:-0} - alone))
    [ $more -gt 0 ] && [ $more -lt 600000 ]
    verdict $? "devices $devices: $more instructions more than $alone" ''
done
end
# SPDX-License-Identifier: BSD-2-Clause
