#!/bin/sh
# The Fortran module semcache/tasks.f90: the types agree with the C header, and its program runs.
. "$top_srcdir/tests/tap.sh"
need "$library"
command -v gfortran > /dev/null || { echo '1..0 # SKIP no Fortran compiler'; exit 0; }
folder=$(cd "$(dirname "$library")" && pwd)

gfortran -std=f2018 -Wall -Wextra -Werror -J"$scratch" -o "$scratch/tasks_f" \
    "$top_srcdir/include/semcache/tasks.f90" "$top_srcdir/tests/tasks_f.f90" -L"$folder" -lsemcache \
    -Wl,-rpath,"$folder" > "$scratch/said" 2>&1
verdict $? 'compiles as Fortran 2018' "$(cat "$scratch/said")"
for where in "$device" none; do
    "$tool" run --device "$where" --offload always --check "$scratch/tasks_f" > "$scratch/said" 2>&1
    verdict $? "right on $where" "$(cat "$scratch/said")"
done

end
# SPDX-License-Identifier: BSD-2-Clause
