#!/bin/sh
# The folders that a folder may include. A folder may always include itself.
. "$top_srcdir/tests/tap.sh"
cd "$top_srcdir" || exit 99

folders=$(folders adapters)

# "folder may...": the rows of the table in doc/architecture.md.  never `x`: not x.
awk -F'|' '/^## Who may include whom/ { on = 1; next } /^## / { on = 0 }
    on && /^\| `[a-z-]+\/`/ {
        may = $4
        sub(/never.*/, "", may)
        if (may ~ /^ all *$/)
            may = "`all`"
        gsub(/\/[a-z.]*/, "", may)
        n = split(may, part, "`")
        may = ""
        for (i = 2; i <= n; i += 2)
            may = may " " part[i]
        m = split($2, part, "`")
        for (i = 2; i <= m; i += 2) {
            sub(/\//, "", part[i])
            print part[i] may
        }
    }' doc/architecture.md | sed "s/ all\$/ semcache $(echo $folders)/" > "$scratch/allowed"
allowed() { sed -n "s/^$1 //p" "$scratch/allowed"; }
report "$(for folder in $folders; do grep -q "^$folder\( \|\$\)" "$scratch/allowed" || echo "$folder"; done)" \
    'the table of doc/architecture.md has a row for each folder'

include='[[:space:]]*#[[:space:]]*include[[:space:]]*'
sources() { grep -n "$1" -r $folders --include='*.[ch]' --include='*.cu'; }

# file:folder for every quoted include "folder/name.h"
includes() {
    find "$1" -name '*.[ch]' -o -name '*.cc' -o -name '*.cu' -o -name '*.cuh' | sort | while read -r file; do
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

# The table of headers in doc/architecture.md: "header folder", a line for each folder that may include the header.
awk -F'|' '/^\| `[a-z-]+\/[a-z_\/]+\.h` \|/ {
    gsub(/[` ]/, "", $2); gsub(/`/, "", $4)
    count = split($4, users, " ")
    for (i = 1; i <= count; i++)
        print $2, users[i]
}' doc/architecture.md | sort > "$scratch/listed"

# The same of the sources: what they include of other folders, but for base/ and the public interface.
for folder in $folders; do
    find "$folder" -name '*.[ch]' -o -name '*.cc' -o -name '*.cu' -o -name '*.cuh' |
        xargs sed -n "s|^$include\"\([^\"/]*/[^\"]*\)\".*|\1 $folder|p"
done | grep -v '^base/\|^semcache/\|^tests/' | awk '{ split($1, path, "/"); if (path[1] != $2) print }' |
    sort -u > "$scratch/included"
report "$(comm -13 "$scratch/listed" "$scratch/included")" 'headers for others are listed in doc/architecture.md'
report "$(comm -23 "$scratch/listed" "$scratch/included")" 'what is listed there is included'

# Files that include a header of coherence/ and use no function, struct or enum that the header declares.
# coherence/task.h brings the kernels of device/device.h with it.
declared() {
    sed -n 's/^\(struct\|enum\) \(sc_[a-z0-9_]*\) {.*/\2/p; s/^[a-z].*[ *]\(sc_[a-z0-9_]*\)(.*/\1/p' "$@"
}
for header in access call derived devices faults task view; do
    declared coherence/$header.h $([ $header != task ] || echo device/device.h) > "$scratch/names"
    grep -rl "^$include\"coherence/$header\.h\"" blas sparse tasks autotuner libsemcache cuda-um tools |
    while read -r file; do
        grep -qwFf "$scratch/names" "$file" || echo "$file includes coherence/$header.h"
    done
done > "$scratch/useless"
report "$(cat "$scratch/useless")" 'what is included of coherence/ is used'

report "$(sources "^$include\"[^\"]*_int\.h\"" |
    while IFS=: read -r file line text; do
        owner=${file%%/*} name=${text#*\"}
        case $name in "$owner"/*) ;; *) echo "$file:$line: $text" ;; esac
    done)" 'inner headers (_int.h) stay in their folder'

report "$(sources "^$include\"\.\./")" 'includes are named from the top'

# The row of a table names the back end; libsemcache-cuda-um is a library's name.
report "$(grep -niE 'cuda|nvidia|nvcc' -r $(folders libsemcache) tools adapters include \
    --include='*.[ch]' --include='*.inc' |
    grep -v '^device/cuda/\|^device/backend.h:[0-9]*: *ROW(\|libsemcache-cuda-um')" \
    'a maker of devices is named in the folder of its back end only'

report "$(sources '\<\(secure_\)\{0,1\}getenv[[:space:]]*(' | grep -v '^tools/')" \
    'nobody reads the environment but the table of settings'

report "$(sources '\<\(abort\|_exit\|exit\|printf\|puts\|putchar\)\>[[:space:]]*(' |
    grep -v '^tools/\|SC_HOST_EXPORT\|/\*.*\(exit\|printf\)[[:space:]]*(.*\*/')" \
    'the library neither ends the program nor prints to stdout'

report "$(grep -nE '^#define.*[0-9]e(9|1[0-9])\>' -r autotuner blas coherence sparse tasks --include='*.[ch]' |
    grep -v '^autotuner/machine\.[ch]:')" 'rates that replace measurements are in autotuner/machine.h or machine.c'

end
# SPDX-License-Identifier: BSD-2-Clause
