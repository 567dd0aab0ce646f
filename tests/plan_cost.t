#!/bin/sh
# The cost of a plan by instructions: a repeated question costs less than 3000 (1 us at one instruction per cycle of 3
# GHz), a new one less than 150000 (50 us) on 1 to 8 devices. bench/decide prints the times.
for tool in valgrind callgrind_annotate; do
    command -v $tool > /dev/null || { echo "1..0 # SKIP no $tool"; exit 0; }
done
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
program=${top_builddir:-.}/tests/plan_cost
test -x "${program%/*}/.libs/plan_cost" && program=${program%/*}/.libs/plan_cost
valgrind --tool=callgrind --callgrind-out-file="$dir/out" "$program" > "$dir/log" 2>&1 || {
    sed 's/^/# /' "$dir/log"
    echo "1..0 # SKIP callgrind cannot run it"
    exit 0
}
callgrind_annotate --inclusive=yes --threshold=100 "$dir/out" > "$dir/costs"
count=0
for kind in repeated new; do
    for devices in 1 2 4 8; do
        count=$((count + 1))
        awk -v kind=$kind -v devices=$devices -v number=$count '
            function cost(line) { sub(/^ */, "", line); sub(/ .*/, "", line); gsub(/,/, "", line); return line }
            $0 ~ ":cost_" kind "_" devices "( |$)" { plans = cost($0) / (kind == "new" ? 100 : 1000) }
            END {
                most = kind == "new" ? 150000 : 3000
                good = (plans > 0 && plans < most)
                printf "%sok %d - %d devices, %s plan: %.0f instructions, less than %d\n", good ? "" : "not ", number,
                    devices, kind, plans, most
            }' "$dir/costs"
    done
done
echo "1..$count"
# SPDX-License-Identifier: BSD-2-Clause
