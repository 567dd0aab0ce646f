#!/bin/sh
# The command: what it prints, and how it ends.
tool=$top_builddir/tools/semcache
[ -x "$tool" ] || { echo '1..0 # SKIP tools/semcache was not built'; exit 0; }
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
count=0 failed=0

call() { "$tool" "$@" > "$scratch/out" 2> "$scratch/err"; status=$?; }
ok() { # title, then a command that must succeed
    title=$1
    shift
    count=$((count + 1))
    if "$@"; then
        echo "ok $count - $title"
    else
        echo "not ok $count - $title"
        sed 's/^/# out: /' "$scratch/out" | head -20
        sed 's/^/# err: /' "$scratch/err" | head -20
        failed=1
    fi
}
ended() { [ "$status" -eq "$1" ]; }
out_has() { grep -q -e "$1" "$scratch/out"; }
err_has() { grep -q -e "$1" "$scratch/err"; }
one_line() { [ "$(wc -l < "$scratch/err")" -eq 1 ]; }

call --version
ok 'it knows its version' out_has '^semcache [0-9]'
call --help
ok 'it helps' out_has 'trace dump FILE'
call
ok 'a missing command is a usage error' ended 2
call walk
ok 'an unknown command too' ended 2
ok 'and is named' err_has walk

call run --device none sh -c 'echo "$SEMCACHE_DEVICE $1"; exit 7' name argument --stats
ok 'the status is the program'\''s' ended 7
ok 'settings and arguments arrive' out_has '^none argument$'
call run -d none -o never --check -s rel.json sh -c 'echo "$SEMCACHE_OFFLOAD $SEMCACHE_CHECK $SEMCACHE_STATS"'
ok 'all options set their variables, names of files from here' out_has "^never 1 $PWD/rel.json\$"
rm -f rel.json
call run
ok 'a missing program is a usage error' ended 2
call run /nonexistent/program
ok 'a program that is not there: 127' ended 127
ok 'in one line' one_line
ok 'with the cause' err_has '/nonexistent/program: No such file'
call run "$scratch"
ok 'something that cannot be run: 126' ended 126
call run --device gpu true
ok 'a wrong device: 2' ended 2
ok 'in one line' one_line
ok 'which says what is allowed' err_has 'auto, none, cuda'
call run --stats= true
ok 'an empty name of a file: 2' ended 2

call info --device none
ok 'info succeeds' ended 0
ok 'shows the host BLAS' out_has '^host BLAS: /'
ok 'the devices' out_has 'none: every call runs on the host'
ok 'and every setting' test "$(grep -c '^  SEMCACHE_' "$scratch/out")" -eq "$(grep -c '^| `SEMCACHE_' "$top_srcdir/doc/settings.md")"
call info --device emu:k20x2
ok 'info of an emulated machine succeeds' ended 0
ok 'and shows two devices' out_has '^  1: '
call info --device emu:none-such
ok 'info of a machine that is not there fails' ended 1
ok 'in one line' one_line

call info --device gpu
ok 'info of a wrong device: 2' ended 2
ok 'in one line' one_line

call trace dump
ok 'a missing file is a usage error' ended 2
call trace dump "$scratch/none"
ok 'a file that is not there: 1' ended 1
ok 'in one line' one_line
call trace dump "$tool"
ok 'a file that is no trace: 1' ended 1
ok 'says so' err_has 'not a semcache trace'

echo "1..$count"
exit $failed
