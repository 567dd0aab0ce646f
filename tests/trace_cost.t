#!/bin/sh
# The cost of a trace, in instructions: a note of an allocation, the place of a call, an event, and the reading of an
# event among those of 16 threads.  Rule T18 of trace/README.md.
. "$top_srcdir/tests/callgrind.sh"
TRACE_COST_FILE=$scratch/trace
export TRACE_COST_FILE
count_instructions trace_cost

# costs FUNCTION NUMBER MOST WHAT: the cost of one of a number.
costs() {
    each=$(($(instructions_in "$1") / $2))
    [ $each -gt 0 ] && [ $each -le "$3" ]
    verdict $? "$4: $each instructions, at most $3" ''
}
costs cost_notes 1000 1500 'a note of an allocation, 10 functions deep'
costs cost_places 1000 1500 'the place of a call, 10 functions deep'
costs cost_events 1000 250 'an event'
events=$(sed -n 's/^events //p' "$scratch/log")
costs cost_read "${events:-1}" 200 "one of $events events of 16 threads is read"

# The line of Python, of a process without a call of the BLAS.
python=$(command -v /usr/bin/python3 || command -v python3)
if [ -n "$python" ] && [ -n "$library" ]; then
    printf 'for i in range(%d):\n    bytearray(100000)\n' 10 > "$scratch/few.py"
    printf 'for i in range(%d):\n    bytearray(100000)\n' 1010 > "$scratch/many.py"
    for script in few many; do
        LD_PRELOAD=$library SEMCACHE_DEVICE=emu:h200x8:1 SEMCACHE_TRACE=$scratch/$script.trace valgrind \
            --tool=callgrind --callgrind-out-file="$scratch/callgrind" "$python" "$scratch/$script.py" \
            > "$scratch/log" 2>&1
        callgrind_annotate --inclusive=yes --threshold=100 "$scratch/callgrind" > "$scratch/costs"
        eval "$script=\$(instructions_in sc_trace_allocated) reads_of_$script=\$(instructions_in process_vm_readv)"
    done
    each=$(((many - few) / 1000))
    [ "$few" -gt 0 ] && [ $each -gt 0 ] && [ $each -le 670 ]
    verdict $? "a note of an allocation by Python: $each instructions, at most 670" "$(tail -n 5 "$scratch/log")"
    # shellcheck disable=SC2154 # set above
    [ "$reads_of_few" -gt 0 ] && [ "$reads_of_many" -eq "$reads_of_few" ]
    verdict $? "reads by the kernel: none for a thousand notes more ($reads_of_few, $reads_of_many instructions)" ''
else
    skip 'no python3'
fi
end
# SPDX-License-Identifier: BSD-2-Clause
