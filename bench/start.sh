#!/bin/sh
# Prints the time of a process's first large call until the result can be read, and the parts of this time.
# From the build tree, after make:
#   sh SRC/bench/start.sh
# START_N (4096) is the order of the product, START_ROUNDS (5) the number of processes of each kind, START_DEVICES the
# device settings (cuda:0).  The medians of the processes are printed.
set -eu

n=${START_N:-4096}
rounds=${START_ROUNDS:-5}
source=$(dirname "$0")
. "$source/common.sh"

# row NAME [VARIABLE=VALUE...] -- DEVICE
row() {
    name=$1
    shift
    : >"$log.all"
    for round in $(seq "$rounds"); do
        keep env "$@" bench/start "$n" 2>/dev/null
        echo "$(figure first_seconds) $(figure second_seconds)" >>"$log.all"
    done
    for field in 1 2; do
        awk -v field=$field '{ print $field }' "$log.all" | sort -n |
            awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
    done | paste -s -d ' ' | awk -v name="$name" '{ printf "%-44s %10.3f %10.3f\n", name, $1, $2 }'
}

printf '%-44s %10s %10s\n' "n=$n, seconds" first second
row 'host alone'
for device in ${START_DEVICES:-cuda:0}; do
    row "$device, no database" SEMCACHE_DATABASE=none tools/semcache run --device "$device"
    row "$device, an empty cache folder" XDG_CACHE_HOME="$log.cache" tools/semcache run --device "$device"
    row "$device, as it is" tools/semcache run --device "$device"
    SEMCACHE_LOG=debug SEMCACHE_DATABASE=none tools/semcache run --device "$device" bench/start "$n" 2>&1 |
        sed -n 's/.*start: /    /p'
done
rm -rf "$log.all" "$log.cache"
[ ! -x bench/cuda_start ] || bench/cuda_start "$n"
# SPDX-License-Identifier: BSD-2-Clause
