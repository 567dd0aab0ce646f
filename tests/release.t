#!/bin/sh
# Of a release: one version everywhere, documents and manual pages without errors, and nothing left out of either.
. "$top_srcdir/tests/tap.sh"
need "$tool"
cd "$top_srcdir" || exit 99

version=$(sed -n 's/^AC_INIT(\[semcache\], \[\(.*\)\])$/\1/p' configure.ac)
report "$([ "$(awk '$2 ~ /^SEMCACHE_VERSION_/ { v = v "." $3 } END { print substr(v, 2) }' \
    include/semcache/semcache.h)" = "$version" ] || echo "$version")" 'the header has the version of configure.ac'
report "$([ "$("$tool" --version)" = "semcache $version" ] || "$tool" --version)" 'and the command'
report "$(head -1 debian/changelog | grep -F "($version)" > /dev/null || head -1 debian/changelog)" 'and the packages'
report "$(grep "^$version\( \|\$\)" NEWS > /dev/null || echo "$version")" 'NEWS tells of it'

# Every document is distributed and installed.
sed -n '/^nobase_dist_doc_DATA =/,/[^\\]$/p' "$top_builddir/Makefile" | tr -s ' \t\\' '\n' > "$scratch/installed"
report "$(for file in *.md NEWS doc/*.md doc/paper/* examples/*; do
    [ "$file" = examples/local.mk ] || grep -qxF -e "$file" "$scratch/installed" || echo "$file"
done)" 'every document and example is installed'
report "$(for file in debian/*; do
    [ -d "$file" ] || grep -q "[ =[:space:]]$file\( \|\$\)" debian/local.mk || [ "$file" = debian/local.mk ] ||
        case $file in *.debhelper | *.substvars | *.log | debian/files | debian/*-stamp) ;; *) echo "$file" ;; esac
done)" 'every file of debian/ is distributed'

# Commands in text, one a line; LIBDIR is that of the packages.
alternatives() {
    sed 's/`[.;,]/`\n/g' "$1" | sed -e ':a' -e '/\\$/N; s/\\\n//; ta' | grep -o 'update-alternatives --[^`]*' |
        tr -s ' ' | sed 's|LIBDIR|/usr/lib/x86_64-linux-gnu|g; s/ *$//' | sort
}
alternatives debian/libsemcache0.README.Debian > "$scratch/debian"
report "$(alternatives doc/install.md | diff - "$scratch/debian" 2>&1
    [ "$(wc -l < "$scratch/debian")" -eq 4 ] || echo 'not four commands')" \
    'README.Debian and doc/install.md choose a BLAS by the same commands'

# The manual pages.
three=$top_builddir/libsemcache/semcache.3
for page in tools/semcache.1 doc/semcache.7 doc/semcache-trace.5 "$three"; do
    if command -v man > /dev/null; then
        report "$(LC_ALL=C.UTF-8 MANWIDTH=100 man --warnings -l -Tutf8 -Z "$page" 2>&1 > /dev/null)" \
            "$(basename "$page"): man has no warning"
    else
        skip 'no man'
    fi
done
for section in NAME SYNOPSIS DESCRIPTION OPTIONS ENVIRONMENT FILES 'EXIT STATUS' EXAMPLES 'SEE ALSO'; do
    grep -qx ".SH $section" tools/semcache.1 || echo "$section"
done > "$scratch/sections"
report "$(cat "$scratch/sections")" 'semcache.1 has the usual sections'
sed 's/\\-/-/g; s/\\f[BIRP]//g; s/  */ /g' "$three" > "$scratch/three"
report "$(cat include/semcache/semcache.h include/semcache/tasks.h |
    awk '/^SEMCACHE_API/, /;$/ { sub(/^SEMCACHE_API /, ""); print }' | sed 's/  */ /g' |
    while IFS= read -r line; do grep -qxF -e "$line" "$scratch/three" || echo "$line"; done)" \
    'semcache.3 has every function of the headers'
report "$(grep -o 'semcache_[A-Za-z_]*(' include/semcache/directives.h | sort -u |
    while IFS= read -r name; do grep -qF -e "$name" "$scratch/three" || echo "$name"; done)" \
    'and the names of the paper'
report "$([ "$(cat include/semcache/semcache.h include/semcache/tasks.h | grep -c '^enum semcache_.* {')" -eq \
    "$(grep -c '^enum semcache_.* {' "$scratch/three")" ] || echo differs)" 'and every enumeration'
sed 's/\\-/-/g; s/\\f[BIRP]//g' tools/semcache.1 > "$scratch/one"
commands_of() { "$tool" completion "$@" '' | grep -v '^-'; }
for command in $(commands_of) $(commands_of trace | sed 's/^/trace:/'); do
    words=$(echo "$command" | tr : ' ')
    grep -q "^\.B semcache $words\>" "$scratch/one" || echo "semcache $words"
    # shellcheck disable=SC2086
    for option in $("$tool" completion $words -- | sed 's/=$//' | grep -v -e '--help' -e '--usage' -e '--version'); do
        grep -q -e "$option\>" "$scratch/one" || echo "semcache $words $option"
    done
done > "$scratch/missing"
report "$(cat "$scratch/missing")" 'semcache.1 has every command and every option'
for command in $(commands_of) $(commands_of trace | sed 's/^/trace:/'); do
    # shellcheck disable=SC2046
    "$tool" completion $(echo "$command" | tr : ' ') -- | sed 's/=$//'
done | sort -u > "$scratch/accepted"
report "$(grep -o -e '--[a-z][a-z0-9-]*' "$scratch/one" | sort -u | comm -23 - "$scratch/accepted")" \
    'and no other option'
end
# SPDX-License-Identifier: BSD-2-Clause
