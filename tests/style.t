#!/bin/sh
# Style of handwritten text: length of lines, tabs, blanks at ends of lines. Copied and built files are not checked.
. "$top_srcdir/tests/tap.sh"
cd "$top_srcdir" || exit 99

# In a build in the source folder, generated files lie beside the sources; their lines may be longer.
find bootstrap.sh configure.ac Makefile.am include $(folders) -type f | xargs grep -L '^/\* Generated from' |
    grep -v '^blas/veneers/checks\.h$' > "$scratch/all"
code() { grep "$1" "$scratch/all" | sort; }

c='\.\(c\|h\|cu\|cuh\|cc\|cpp\|inc\)$' script='\.\(sh\|t\|pl\|py\|ac\)$\|/run-one$' make='\.\(mk\|am\)$'
awk 'length > 120 { print FILENAME ":" FNR ": " length " columns" }' $(code "$c\|$script\|$make") > "$scratch/long"
report "$(cat "$scratch/long")" 'lines have at most 120 columns'
tab=$(printf '\t')
report "$(grep -n "$tab" $(code "$c\|$script"))" 'no tabs but in make files'
report "$(grep -n "[ $tab]\$" $(code "$c\|$script\|$make\|\.\(md\|tab\|map\|list\)$"))" 'no blanks at ends of lines'
report "$(for file in $(code "$c\|$script\|$make\|\.md$"); do
    [ -z "$(tail -c 1 "$file")" ] || echo "$file"
done)" 'every file ends with a newline'
end
# SPDX-License-Identifier: BSD-2-Clause
