#!/bin/sh
# semcache/tasks.hpp: the header compiles as C++11, 17 and 20 without a warning, and its program runs.
. "$top_srcdir/tests/tap.sh"
need "$library"
command -v c++ > /dev/null || { echo '1..0 # SKIP no C++ compiler'; exit 0; }
folder=$(dirname "$library")

for standard in 11 17 20; do
    c++ -std=c++$standard -Wall -Wextra -Werror -pedantic -I"$top_srcdir/include" -o "$scratch/tasks_cpp" \
        "$top_srcdir/tests/tasks_cpp.cpp" -L"$folder" -lsemcache -Wl,-rpath,"$folder" > "$scratch/said" 2>&1
    verdict $? "compiles as C++$standard" "$(cat "$scratch/said")"
done
case $device in cuda*) device=emu:h200x8:1 ;; esac # the program's kernels are functions of the host
for where in "$device" none; do
    "$tool" run --device "$where" --offload always --check "$scratch/tasks_cpp" > "$scratch/said" 2>&1
    verdict $? "right on $where" "$(cat "$scratch/said")"
done

end
# SPDX-License-Identifier: BSD-2-Clause
