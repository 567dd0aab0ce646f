#!/bin/sh
# Lists the variables of autotuner/. A new variable has to be added here, under its dependence on the settings (rule
# A15). tests/autotuner_policy tests the memories of calls.
. "$top_srcdir/tests/tap.sh"
need "$top_builddir/autotuner/.libs/libcore_la-decide.o"

# Object, symbol. Memories, whose keys contain the settings:
cat >"$scratch/known" <<'END'
decide slots_
plan plans
demand habits
demand versions
trials entries
END
# Independent of the settings: locks, counters, the measurements, the text of EXPLAIN, time spent, settings of tests;
# constants that contain addresses.
cat >>"$scratch/known" <<'END'
opening begun_
opening counted_
decide distrust_
opening predicted_
decide program_
opening spent_
host_rates arithmetic
host_rates means
host_rates sc_host_rates_expected
host_rates announced
machine host_flops
database_file sc_database_set_names
database_file statements
plan plans_busy
plan plans_epoch
explain count
explain dropped
explain entries
explain last
explain lock
explain sc_explain_on
joules sc_joules_folder
schedule strategies
machine current
start sc_autotuner_share
strips sc_strips_fixed
trials busy
trials numbers
END
sort -o "$scratch/known" "$scratch/known"

for object in "$top_builddir"/autotuner/.libs/libcore_la-*.o; do
    name=${object##*/libcore_la-}
    nm "$object" | sed -n "s/^[0-9a-f]* [bBdDC] \([a-z_]*\)\$/${name%.o} \1/p"
done | sort >"$scratch/found"
[ -s "$scratch/found" ]
verdict $? 'there are variables' ''
report "$(comm -13 "$scratch/known" "$scratch/found")" 'no variable that is not known'
report "$(comm -23 "$scratch/known" "$scratch/found")" 'and each of these is there'
end
# SPDX-License-Identifier: BSD-2-Clause
