#!/bin/sh
# Which folder may include which: the rule that keeps the parts apart.  A folder always includes itself.
cd "$top_srcdir" || exit 99

folders='base host directory device trace coherence autotuner blas sparse libsemcache tools'

allowed() {
    case $1 in
    base) echo ;;
    host|directory|device|trace) echo base ;;
    coherence) echo directory device host trace base ;;
    autotuner) echo device trace base ;;
    blas|sparse) echo coherence autotuner trace base ;;
    libsemcache|tools) echo semcache $folders ;;
    esac
}

# file:folder that it includes, for quoted includes of the form "folder/name.h"
includes() {
    find "$1" -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' | sort | while read -r file; do
        sed -n 's|^[[:space:]]*#[[:space:]]*include[[:space:]]*"\([^"/]*\)/[^"]*".*|\1|p' "$file" | sort -u | sed "s|^|$file:|"
    done
}

count=0 failed=0
report() { # what was found wrong (nothing: well), title
    count=$((count + 1))
    if [ -z "$1" ]; then
        echo "ok $count - $2"
    else
        echo "not ok $count - $2"
        echo "$1" | sed 's/^/# /'
        failed=1
    fi
}

for folder in $folders; do
    [ -d "$folder" ] || continue
    may=" $folder $(allowed "$folder") "
    report "$(includes "$folder" | while IFS=: read -r file target; do
        case $may in *" $target "*) ;; *) echo "$file includes $target/" ;; esac
    done)" "$folder includes what it may"
done

report "$(grep -n '^[[:space:]]*#[[:space:]]*include[[:space:]]*"[^"]*_int\.h"' -r $folders --include='*.[ch]' --include='*.cu' |
    while IFS=: read -r file line text; do
        owner=${file%%/*} name=${text#*\"}
        case $name in "$owner"/*) ;; *) echo "$file:$line: $text" ;; esac
    done)" 'inner headers (_int.h) stay in their folder'

report "$(grep -n '^[[:space:]]*#[[:space:]]*include[[:space:]]*"\.\./' -r $folders --include='*.[ch]' --include='*.cu')" \
    'includes are named from the top'

report "$(grep -n '\<\(secure_\)\{0,1\}getenv[[:space:]]*(' -r $folders --include='*.[ch]' --include='*.cu' |
    grep -v '^tools/')" 'nobody reads the environment but the table of settings'

report "$(grep -nw '\(abort\|_exit\|exit\|printf\|puts\|putchar\)[[:space:]]*(' -r base host directory device trace coherence \
    autotuner blas sparse libsemcache --include='*.[ch]' --include='*.cu' |
    grep -v 'SC_HOST_EXPORT\|/\*.*\(exit\|printf\)[[:space:]]*(.*\*/')" 'the library neither ends the program nor prints to stdout'

echo "1..$count"
exit $failed
