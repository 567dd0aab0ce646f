#!/bin/sh
# Every test in tests/ is run: a program by check_PROGRAMS, a script by TESTS.
cd "$top_srcdir/tests" || exit 99
count=0 failed=0
report() {
    count=$((count + 1))
    if [ "$1" -eq 0 ]; then echo "ok $count - $2"; else echo "not ok $count - $2"; failed=1; fi
}
for test in *.t; do
    grep -rq --include='*.mk' "tests/$test\>" ..
    report $? "$test is listed"
done
for source in *.c; do
    grep -rq --include='*.mk' "tests/$source\>" ..
    report $? "$source is listed"
done
echo "1..$count"
exit $failed
