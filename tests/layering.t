#!/bin/sh
# The folders that a folder may include. A folder may always include itself.
. "$top_srcdir/tests/tap.sh"
cd "$top_srcdir" || exit 99

folders='base ops host directory device trace coherence autotuner blas sparse libsemcache cuda-um tools'

allowed() {
    case $1 in
    base) echo ;;
    ops|host|directory) echo base ;;
    device|trace) echo ops base ;;
    coherence) echo directory device host trace ops base ;;
    autotuner) echo device trace ops base ;;
    blas) echo coherence autotuner trace ops base ;;
    sparse) echo coherence autotuner trace ops base semcache ;; # the header of the names that it serves
    cuda-um) echo semcache base ops libsemcache sparse ;;
    libsemcache|tools) echo semcache $folders ;;
    esac
}

include='[[:space:]]*#[[:space:]]*include[[:space:]]*'
sources() { grep -n "$1" -r $folders --include='*.[ch]' --include='*.cu'; }

# file:folder for every quoted include "folder/name.h"
includes() {
    find "$1" -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' | sort | while read -r file; do
        sed -n "s|^$include\"\\([^\"/]*\\)/[^\"]*\".*|\\1|p" "$file" | sort -u | sed "s|^|$file:|"
    done
}

for folder in $folders; do
    [ -d "$folder" ] || continue
    may=" $folder $(allowed "$folder") "
    report "$(includes "$folder" | while IFS=: read -r file target; do
        case $may in *" $target "*) ;; *) echo "$file includes $target/" ;; esac
    done)" "$folder includes what it may"
done

report "$(sources "^$include\"[^\"]*_int\.h\"" |
    while IFS=: read -r file line text; do
        owner=${file%%/*} name=${text#*\"}
        case $name in "$owner"/*) ;; *) echo "$file:$line: $text" ;; esac
    done)" 'inner headers (_int.h) stay in their folder'

report "$(sources "^$include\"\.\./")" 'includes are named from the top'

# The row of a table names the back end; libsemcache-cuda-um is a library's name.
report "$(grep -niE 'cuda|nvidia|nvcc' -r ${folders%cuda-um*} tools include \
    --include='*.[ch]' --include='*.inc' |
    grep -v '^device/cuda/\|^device/backend.h:[0-9]*: *ROW(\|libsemcache-cuda-um')" \
    'a maker of devices is named in the folder of its back end only'

report "$(sources '\<\(secure_\)\{0,1\}getenv[[:space:]]*(' | grep -v '^tools/')" \
    'nobody reads the environment but the table of settings'

report "$(sources '\<\(abort\|_exit\|exit\|printf\|puts\|putchar\)\>[[:space:]]*(' |
    grep -v '^tools/\|SC_HOST_EXPORT\|/\*.*\(exit\|printf\)[[:space:]]*(.*\*/')" \
    'the library neither ends the program nor prints to stdout'

end
