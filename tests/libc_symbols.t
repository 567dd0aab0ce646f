#!/bin/sh
# Every function of the installed C library, and every system call, must be classified by its use of memory passed to
# it: in host/syscalls.tab, interposed by other files, or in tests/libc_symbols.list.
. "$top_srcdir/tests/tap.sh"
need "$library"
command -v nm > /dev/null || skip_all 'no nm'

libc=$(LC_ALL=C ldd "$library" | awk '/libc\.so\.6/ { print $3 }')
table=$top_srcdir/host/syscalls.tab
list=$top_srcdir/tests/libc_symbols.list
LC_ALL=C
export LC_ALL

# The words of the sections whose titles match, or do not match.
words() {
    awk -v title="$1" -v want="$2" '/^#/ { next } /^\[/ { on = ($0 ~ title) == want; next } on' "$list" |
        tr ' ' '\n' | grep . | sort
}

nm -D --defined-only "$library" | sed 's/.* //; s/@.*//' | sort -u > "$scratch/interposed"
nm -D --defined-only "$libc" | awk '$2 ~ /[TWi]/ && $3 !~ /@GLIBC_PRIVATE/ { sub(/@.*/, "", $3); print $3 }' |
    sort -u > "$scratch/libc"
words '^\[(system calls|no trial)' 0 > "$scratch/listed"
report "$(uniq -d "$scratch/listed")" 'no function is listed twice'
report "$(sort -u "$scratch/interposed" "$scratch/listed" | comm -23 "$scratch/libc" -)" \
    "each of the $(wc -l < "$scratch/libc") functions of $libc is known"
report "$(awk -f "$top_srcdir/host/syscalls.awk" -v what=exports "$table" | sort | uniq -d)" \
    'no function is twice in the table'
report "$(awk -f "$top_srcdir/host/syscalls.awk" -v what=exports "$table" | sort | comm -12 - "$scratch/listed")" \
    'what is in the table is not listed as harmless'

# System calls by number.
header=$(echo '#include <asm/unistd_64.h>' | ${CC:-cc} -M -E -x c - 2> /dev/null | tr ' \\' '\n\n' |
    grep 'unistd_64\.h$')
if [ -r "$header" ]; then
    sed -n 's/^#define __NR_\([a-z0-9_]*\).*/\1/p' "$header" | sort > "$scratch/numbers"
    awk -F ' *[|] *' '/^[^#=]/ { print $2 }' "$table" | tr ' ' '\n' | sed -n 's/^@//p' | sort > "$scratch/numbered"
    report "$(uniq -d "$scratch/numbered")" 'no system call is twice in the table'
    report "$(words '^\[system calls' 1 | sort -u - "$scratch/numbered" | comm -23 "$scratch/numbers" -)" \
        "each of the $(wc -l < "$scratch/numbers") system calls is known"
else
    skip 'no list of system calls'
    skip 'no list of system calls'
fi

# Each row of functions has a trial, or its functions are listed as having no trial.
awk -F ' *[|] *' '
    /^=/ { tried = 1; next }
    /^[^#]/ && NF { if (!tried) print names; tried = 0; names = $2 }
    END { if (!tried) print names }' "$table" | tr ' ' '\n' | grep -v '^@' | sed 's/^[.]//' | grep . |
    sort > "$scratch/untried"
report "$(words '^\[no trial' 1 | comm -3 "$scratch/untried" -)" 'each has a trial, or is listed as having none'

end
# SPDX-License-Identifier: BSD-2-Clause
