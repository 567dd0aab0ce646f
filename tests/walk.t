#!/bin/sh
# The walk of one dgemm through the library: the .c files with code that the calling thread runs between the call and
# its return, by callgrind. A device runs the call; `first` uploads the operands, `again` finds the operands resident.
# Files of device/ are not counted, since the emulated device stands in the place of others. The product itself is not
# computed: valgrind would take long. The bounds may fall, and never rise.
. "$top_srcdir/tests/callgrind.sh"
need "$library"
SEMCACHE_DEVICE=emu:h200x8:1 SEMCACHE_OPEN=first SEMCACHE_DATABASE=none OPENBLAS_NUM_THREADS=1
SEMCACHE_MACHINES=$top_srcdir/device/emu/machines
export SEMCACHE_DEVICE SEMCACHE_OPEN SEMCACHE_DATABASE SEMCACHE_MACHINES OPENBLAS_NUM_THREADS
null=$top_builddir/bench/.libs/null_blas.so
[ ! -e "$null" ] || { SEMCACHE_HOST_BLAS=$null; export SEMCACHE_HOST_BLAS; }

# Files by their names from the top of the source, one a line.
folders='base|ops|host|directory|trace|coherence|autotuner|blas|libsemcache'
files() {
    sed -n 's/^f[lie]=//p' "$scratch/callgrind" | sed -nE "s,.*/(($folders)/[a-z/]*[a-z0-9_]+\.c)$,\1,p" | sort -u
}

walk=$top_srcdir/doc/walk.md

# Prints the files and functions of a walk's table, a step a line.
steps() { sed -nE 's/^\| [0-9]+ \| `([^`]*)` \| `([^`]*)` \|.*/\1 \2/p' "$1"; }

# Prints the percentage of the instructions of the library's .c files that the files of the walk execute; writes the
# remaining files, by instructions.
share_of_walk() {
    callgrind_annotate --threshold=100 --show-percs=no "$scratch/callgrind" | grep -v '=>' |
        sed -nE "s,^ *([0-9\,]+) .*[ /](($folders)/[a-z/]*[a-z0-9_]+\.c):.*,\1 \2,p" | tr -d , \
        > "$scratch/instructions"
    steps "$walk" | awk 'NR == FNR { told[$1] = 1; next }
        { all += $1 } $2 in told { ours += $1; next } { rest[$2] += $1 }
        END { for (f in rest) print rest[f], f > rest_file; print int(100 * ours / all) }' \
        rest_file="$scratch/rest" - "$scratch/instructions"
}

for way in first again; do
    case $way in first) most=68 ;; *) most=60 ;; esac
    count_instructions walk "--toggle-collect=walk_$way" --compress-strings=no
    files > "$scratch/$way"
    found=$(wc -l < "$scratch/$way")
    [ "$found" -gt 0 ] || { skip "$way: no names of files in this build"; continue; }
    [ "$found" -gt 20 ] && [ "$found" -le $most ]
    verdict $? "$way: $found files, at most $most" "$(cat "$scratch/$way")"
    case $way in first) least=90 ;; *) least=80 ;; esac
    told=$(share_of_walk)
    [ "$told" -ge $least ]
    verdict $? "$way: the files of doc/walk.md execute $told % of the instructions, at least $least" \
        "$(cat "$scratch/rest")"
done

# doc/walk.md: each row's function is in the row's file.
steps "$walk" > "$scratch/steps"
wrong=
while read -r file function; do
    grep -qE "(^|[ *])(define )?$function\\(" "$top_srcdir/$file" || wrong="$wrong $file:$function"
done < "$scratch/steps"
number=$(wc -l < "$scratch/steps")
[ "$number" -gt 20 ] && [ "$number" -le 30 ] && [ -z "$wrong" ]
verdict $? "doc/walk.md: $number files, at most 30, with the functions named" "$wrong"
end
# SPDX-License-Identifier: BSD-2-Clause
