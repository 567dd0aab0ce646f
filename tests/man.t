#!/bin/sh
# The manual pages: semcache(1) has a heading for each command and all options of its help, and every page formats
# without a warning.
. "$top_srcdir/tests/tap.sh"
need "$tool"
page=$top_srcdir/tools/semcache.1
sed 's/\\-/-/g; s/\\f[A-Z]//g' "$page" > "$scratch/page"

for command in $("$tool" completion '' | grep -v -e '^-' -e '^trace$' -e '^completion$') \
    $("$tool" completion trace '' | grep -v '^-' | sed 's/^/trace:/'); do
    words=$(echo "$command" | tr : ' ')
    # shellcheck disable=SC2086
    options=$("$tool" $words --help | grep -o -e '^  *\(-., \)\?--[a-z0-9-]*' | sed 's/.*--/--/' |
        grep -vx -e '--help' -e '--usage' -e '--version')
    report "$(grep -qx ".SS semcache $words" "$scratch/page" || echo "no heading"
        for option in $options; do
            grep -q -e "$option\([^a-z0-9-]\|$\)" "$scratch/page" || echo "no $option"
        done)" "semcache $words: a heading, and every option"
done
report "$(for heading in NAME SYNOPSIS DESCRIPTION OPTIONS ENVIRONMENT FILES 'EXIT STATUS' EXAMPLES 'SEE ALSO'; do
    grep -qx ".SH $heading" "$scratch/page" || echo "$heading"; done)" 'the sections of a manual page'
for file in "$page" "$top_srcdir/doc/semcache.7" "$top_srcdir/doc/semcache-trace.5" \
    "$top_builddir/libsemcache/semcache.3"; do
    if command -v man > /dev/null && command -v groff > /dev/null; then
        report "$(LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l "$file" 2>&1 > "$scratch/text"
            [ -s "$scratch/text" ] || echo 'no text')" "${file##*/} formats without a warning"
    else
        skip "${file##*/}: no man and groff"
    fi
done
end
# SPDX-License-Identifier: BSD-2-Clause
