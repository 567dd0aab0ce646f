# Common functions of the tables; sourced first, in the build tree:  . "$(dirname "$0")/common.sh"
log=${TMPDIR:-/tmp}/semcache-bench.$$
# Some programs end before the host has worked for half a second, the time at which devices are opened.
export SEMCACHE_OPEN=${SEMCACHE_OPEN:-first}
trap 'rm -f "$log"' EXIT

[ -x tools/semcache ] || { echo "${0##*/}: run it in the build tree, after make" >&2; exit 2; }

# Runs a program; its output is kept in $log and repeated on stderr.
keep() {
    "$@" >"$log" || { echo "${0##*/}: failed: $*" >&2; cat "$log" >&2; exit 1; }
    cat "$log" >&2
}

# figure KEY: the value of KEY=... in the last line with KEY.
figure() { sed -n "s/.*[ ^]$1=\([^ ]*\).*/\1/p" "$log" | tail -n 1; }
# SPDX-License-Identifier: BSD-2-Clause
