#!/bin/sh
# The semcache command: output and exit status.
. "$top_srcdir/tests/tap.sh"
need "$tool"

call() { "$tool" "$@" > "$scratch/out" 2> "$scratch/err"; status=$?; }

call --version
ok 'it knows its version' has out '^semcache [0-9]'
call --help
ok 'it helps' has out 'trace dump FILE'
for command in $("$tool" completion '' | grep -v '^-') $("$tool" completion trace '' | grep -v '^-'); do
    grep -q "\<$command\>" "$scratch/out" || echo "$command"
done > "$scratch/missing"
report "$(cat "$scratch/missing")" 'and names every command'
call
ok 'a missing command is a usage error' ended 2
call walk
ok 'an unknown command too' ended 2
ok 'and is named' has err walk

call run --device none sh -c 'echo "$SEMCACHE_DEVICE $1"; exit 7' name argument --stats
ok 'the status is the program'\''s' ended 7
ok 'settings and arguments arrive' has out '^none argument$'
call run -d none -o never --check -s rel.json -e why sh -c 'echo "$SEMCACHE_OFFLOAD $SEMCACHE_CHECK $SEMCACHE_STATS"'
ok 'all options set their variables, names of files from here' has out "^never 1 $PWD/rel.json\$"
rm -f rel.json
call run
ok 'a missing program is a usage error' ended 2
call run /nonexistent/program
ok 'a program that is not there: 127' ended 127
ok 'in one line' one_line
ok 'with the cause' has err '/nonexistent/program: No such file'
call run "$scratch"
ok 'something that cannot be run: 126' ended 126
call run --device gpu true
ok 'a wrong device: 2' ended 2
ok 'in one line' one_line
ok 'which says what is allowed' has err 'auto, none, cuda'
call run --stats= true
ok 'an empty name of a file: 2' ended 2

call info --device none
ok 'info succeeds' ended 0
ok 'shows the host BLAS' has out '^host BLAS: /'
ok 'the devices' has out 'none: every call runs on the host'
ok 'and every setting' test "$(grep -c '^  SEMCACHE_' "$scratch/out")" -eq \
    "$(grep -c '^| `SEMCACHE_' "$top_srcdir/doc/settings.md")"
if [ ! -e /dev/nvidiactl ]; then
    call info --device auto
    ok 'without a GPU info says why' has out '^  because this machine has no NVIDIA driver$'
fi
call info --device emu:k20x2
ok 'info of an emulated machine succeeds' ended 0
ok 'and shows two devices' has out '^  1: '
call info --device emu:none-such
ok 'info of a machine that is not there fails' ended 1
ok 'in one line' one_line

call info --device gpu
ok 'info of a wrong device: 2' ended 2
ok 'in one line' one_line

XDG_CACHE_HOME=$scratch/cache; export XDG_CACHE_HOME
unset SEMCACHE_DATABASE
OPENBLAS_NUM_THREADS=1; export OPENBLAS_NUM_THREADS
call info --device emu:k40x3 --links --svg "$scratch/links.svg"
ok 'info shows the links of an emulated machine' ended 0
ok 'with their bandwidths' has out '^ *host  *6\.5  *6\.5  *6\.5  *\.$'
ok 'and draws them' grep -q '</svg>' "$scratch/links.svg"
call info --device emu:k40x3:1 --links --svg "$scratch/links.svg"
ok 'a picture of two places is as wide as its heading' grep -q '<svg .* width="3[2-9][0-9]"' "$scratch/links.svg"
call info --device none --links
ok 'without devices there are none' ended 1
ok 'in one line' one_line
call tune --device none
ok 'nor anything to measure' ended 1
ok 'in one line' one_line
call tune --quick --device emu:k40x3:1 --output "$scratch/k40"
ok 'the quick version writes where it is told' ended 0
ok 'a whole file' grep -q '^end [0-9]' "$scratch/k40"
ok 'and nothing to a file that is no terminal' test ! -s "$scratch/err"
if script -qec true /dev/null > /dev/null 2>&1; then
    script -qec "'$tool' tune --quick --device emu:k40x3:1 --output '$scratch/k40'" /dev/null |
        tr '\r' '\n' > "$scratch/out"
    ok 'on a terminal the bar ends full' has out '^\[#*\] \([0-9]*\)/\1 done'
else
    skip 'no script(1) here'
fi
call tune --quick --device emu:k40x3:1
ok 'or to the cache folder' has out "^$scratch/cache/semcache/[0-9a-f]*.database: [0-9]* kernels"
SEMCACHE_DATABASE=$scratch/k40; export SEMCACHE_DATABASE
call info --device emu:k40x3:1 --links
ok 'from where it is read' ended 0
call info --device emu:k40x3:2 --links
ok 'but not for other devices' has err 'measured on another machine'
SEMCACHE_DATABASE=none

call trace dump
ok 'a missing file is a usage error' ended 2
call trace dump "$scratch/none"
ok 'a file that is not there: 1' ended 1
ok 'in one line' one_line
call trace dump "$tool"
ok 'a file that is no trace: 1' ended 1
ok 'says so' has err 'not a semcache trace'

end
# SPDX-License-Identifier: BSD-2-Clause
