#!/bin/sh
# Every source file of a checkout, and of a release, names its licence in one line, in the words of the SPDX project.
. "$top_srcdir/tests/tap.sh"
cd "$top_srcdir" || exit 99
id='SPDX-License-Identifier: BSD-2-Clause'

# Documents, data, pictures and inputs of tests are not sources.
if git ls-files --error-unmatch tests/spdx.t > /dev/null 2>&1; then
    git ls-files
else # a release, which may lie in an ignored folder of a checkout
    find . \( -name build -o -name _build -o -name _inst -o -name autom4te.cache \) -prune \
        -o -type f -print | sed 's|^\./||'
fi > "$scratch/files"
c='\.\(c\|h\|cu\|cuh\|inc\|f90\|java\)$' script='\.\(sh\|t\|pl\|py\|awk\|fish\|gnuplot\)$'
grep -e "$c" -e "$script" -e '\.\(mk\|ac\|am\|in\|tab\|supp\|[137]\)$' -e '/CMakeLists\.txt$' -e '/run-one$' \
    -e '/completion/' -e '^debian/\(rules\|.*\.prerm\)$' -e '^\.ci/run$' "$scratch/files" |
    grep -v -e '^build-aux/' -e '^m4/' -e '^aclocal\.m4$' -e '^config\.h\.in$' -e 'Makefile\.in$' > "$scratch/sources"
report "$([ "$(wc -l < "$scratch/sources")" -gt 500 ] || wc -l < "$scratch/sources")" 'there are sources'
report "$(tr '\n' '\0' < "$scratch/sources" | xargs -0 grep -L -F -e "$id")" 'every source file names its licence'
report "$(tr '\n' '\0' < "$scratch/sources" | xargs -0 grep -c 'SPDX-License-Identifier' | grep -v ':[01]$' |
    grep -v '^tests/spdx\.t:')" 'and none twice'
report "$(tr '\n' '\0' < "$scratch/sources" | xargs -0 grep -h 'SPDX-License-Identifier' | grep -v -F -e "$id" |
    grep -v 'grep')" 'all of them the licence of COPYING'
report "$(head -1 COPYING | grep -q 'BSD 2-Clause' || head -1 COPYING)" 'which is that one'
end
# SPDX-License-Identifier: BSD-2-Clause
