#!/bin/sh
# The variables of autotuner/ are these: who adds one says here how it depends on the settings (rule A15).  What is
# remembered of calls is asked by tests/autotuner_policy.
. "$top_srcdir/tests/tap.sh"
need "$top_builddir/autotuner/.libs/libcore_la-decide.o"

# Object, symbol.  Remembered, the settings in its key:
cat >"$scratch/known" <<'END'
decide slots_
devices plans
readers habits
readers versions
trials entries
END
# Does not depend on settings: locks, counters, the measurements, what EXPLAIN prints, time spent, settings of tests;
# constants with addresses in them.
cat >>"$scratch/known" <<'END'
decide distrust_
decide program_
decide spent_
host_rates means
host_rates sc_host_rates_expected
host_rates timing
predict host_flops
database_file sc_database_set_names
database_file statements
devices plans_busy
explain count
explain dropped
explain entries
explain exchanged
explain last
explain lock
explain sc_explain_on
explain sent
joules sc_joules_folder
schedule strategies
start current
start sc_autotuner_budget
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
