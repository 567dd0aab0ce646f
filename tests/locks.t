#!/bin/sh
# doc/locks.md has a row for each rank of base/locks.h, in the order of the ranks, with the file that has the lock.
. "$top_srcdir/tests/tap.sh"
cd "$top_srcdir" || exit 99

# "SC_RANK_X file": from the enum's comments; a rank without a comment of its own has the file of the one before.
awk '/^enum sc_rank/ { inside = 1; next } /SC_RANKS$/ { inside = 0 }
     inside && match($0, /SC_RANK_[A-Z_]+/) {
         rank = substr($0, RSTART, RLENGTH)
         if (match($0, /\/\* [a-z_\/]+\.c/))
             file = substr($0, RSTART + 3, RLENGTH - 3)
         print rank, file
     }' base/locks.h > "$scratch/ranks"
# The rows of the page: | `SC_RANK_X` | `file` | ...
sed -n 's/^| `\(SC_RANK_[A-Z_]*\)` | `\([^`]*\)` |.*/\1 \2/p' doc/locks.md > "$scratch/rows"
ok 'some ranks are found' test -s "$scratch/ranks"
report "$(diff "$scratch/ranks" "$scratch/rows")" 'the rows of doc/locks.md are the ranks of base/locks.h, in order'

# Each lock lies in the file that is named.
report "$(while read -r rank file; do
    grep -q "$rank" "$file" || echo "$rank is not in $file"
done < "$scratch/ranks")" 'each lock is in the file that the enum names'

# Signal handlers wait for every lock but one (doc/locks.md, "Signals").
grep -rlE 'sc_(try_)?lock_bare\(' $(folders) --include='*.[ch]' | grep -v '^base/locks\.h$' > "$scratch/bare"
report "$(echo host/span.c | diff - "$scratch/bare")" 'one lock is taken with signals open'

# No lock of ours is outside of the order, but for the rows that the page has for such locks.
sed -n 's/^| unranked | `\([^`]*\)` |.*/\1/p' doc/locks.md | sort > "$scratch/unranked"
pattern='PTHREAD_(MUTEX|RWLOCK)_INITIALIZER|pthread_(mutex|rwlock)_init|pthread_(mutex|rwlock)_t [a-z_]+;'
grep -rlE "$pattern" $(folders cuda-um) --include='*.[ch]' | grep -v '^base/locks\.h$' | sort > "$scratch/mutexes"
report "$(diff "$scratch/unranked" "$scratch/mutexes")" 'mutexes without a rank are listed there'
end
# SPDX-License-Identifier: BSD-2-Clause
